/// @file Kernel calls of the trainer's operations against the program's own kernels, and against what is known of
/// single operations.
#include "schedule/kernel_calls/kernel_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "../plan_fixture.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// A plan that the trainer runs, over the grid's own ranks.
struct Made {
    Case c;
    models::Layout layout;
    Program program;

    Made(const std::string& model, const models::Plan& drawn) : c{workload(model), {}, stack("auspex")} {
        c.plan = resolve_plan(drawn, c.workload, 0);
        layout = rank_grid(c.plan, tiles_of(c.plan));
        program = build_program(c.workload, c.plan, c.stack, layout);
    }
    /// The calls behind what walking to an operation takes, which comes first everywhere.
    [[nodiscard]] OperationCalls calls(int stage, const Operation& op) const {
        OperationCalls all = kernel_calls(c.workload, c.plan, c.stack, layout, stage, op);
        EXPECT_TRUE(!all.before.empty() && all.before.front().kernel == models::CpuKernel::kOperation)
            << to_string(op.kind);
        all.before.erase(all.before.begin());
        return all;
    }
    /// Calls visit(stage, operation, its calls) once for every operation of every block that a stage uses.
    template <typename Visit>
    void for_each(const Visit& visit) const {
        for (const Role& role : program.roles) {
            std::set<std::uint32_t> seen;
            for (const BlockUse& use : role.order) {
                if (!seen.insert(use.block).second) {
                    continue;
                }
                for (const Operation& op : program.operations_of(program.blocks[use.block])) {
                    visit(role.stage, op, calls(role.stage, op));
                }
            }
        }
    }
};

models::Plan plain_plan() {
    models::Plan p = plan("toy-dp4");
    p.dp = 1;
    return p;
}

models::Plan moe_plan(models::Dispatch dispatch, models::ExpertKernels kernels, int ep) {
    models::Plan p = plain_plan();
    p.ep = ep, p.dispatch = dispatch, p.expert_kernels = kernels;
    return p;
}

/// All ways that the trainer can run the toy models.
std::vector<Made> all_ways() {
    std::vector<Made> ways;
    for (const char* model : {"toy-dense", "toy-moe", "toy-moe-global", "toy-shared", "toy-latent", "toy-gpt",
                              "toy-gpt-moe", "toy-windowed", "toy-deepseek", "toy-capacity"}) {
        const bool dense = workload(model).num_experts == 0;
        for (const models::ExpertKernels kernels :
             {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
            for (const models::Dispatch dispatch :
                 {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
                for (int way = 0; way < 16; ++way) {
                    models::Plan p = moe_plan(dispatch, kernels, !dense && (way & 1) != 0 ? 2 : 1);
                    p.tp = (way & 2) != 0 ? 2 : 1;
                    p.sequence_parallel = (way & 6) == 6;
                    p.recompute.attention = p.recompute.expert = p.recompute.norm = (way & 8) != 0;
                    p.pp = (way & 4) != 0 ? 2 : 1;
                    p.optimizer =
                        (way & 8) != 0 ? models::OptimizerSharding::kEpAware : models::OptimizerSharding::kReplicated;
                    ways.emplace_back(model, p);
                }
            }
        }
    }
    return ways;
}

double product_flop(const models::CpuCall& call) {
    switch (call.kernel) {
        case models::CpuKernel::kGemmForward:
        case models::CpuKernel::kGemmInputGradient:
        case models::CpuKernel::kGemmWeightGradient: return 2 * call.rows * call.columns * call.depth * call.repeat;
        case models::CpuKernel::kExpertsForwardLoop:
        case models::CpuKernel::kExpertsForwardGrouped:
        case models::CpuKernel::kExpertsForwardFused:
        case models::CpuKernel::kExpertsBackwardLoop:
        case models::CpuKernel::kExpertsBackwardGrouped:
        case models::CpuKernel::kExpertsBackwardFused:
        case models::CpuKernel::kExpertsWeightsLoop:
        case models::CpuKernel::kExpertsWeightsGrouped:
            return 3 * 2 * call.rows * call.columns * call.depth * call.repeat;
        default: return 0;
    }
}

const models::CpuCall* find(const std::vector<models::CpuCall>& calls, models::CpuKernel kernel) {
    const auto place = std::ranges::find(calls, kernel, &models::CpuCall::kernel);
    return place == calls.end() ? nullptr : &*place;
}

/// Of all calls of a kernel together.
double columns_of(const std::vector<models::CpuCall>& calls, models::CpuKernel kernel) {
    double columns = 0;
    for (const models::CpuCall& call : calls) {
        columns += call.kernel == kernel ? call.columns * call.repeat : 0;
    }
    return columns;
}

/// The calls of the first operation of a kind and phase.
OperationCalls first_calls(const Made& made, OpKind kind, Phase phase, int stage = 0) {
    OperationCalls result;
    bool found = false;
    made.for_each([&](int of_stage, const Operation& op, const OperationCalls& calls) {
        if (!found && of_stage == stage && op.kind == kind && op.phase == phase) {
            result = calls;
            found = true;
        }
    });
    EXPECT_TRUE(found) << to_string(kind);
    return result;
}

TEST(KernelCalls, products_have_the_flop_of_the_program_s_products_operation_by_operation) {
    for (const Made& made : all_ways()) {
        made.for_each([&](int, const Operation& op, const OperationCalls& calls) {
            double expected = 0, found = 0;
            for (const models::Kernel& kernel : made.program.kernels_of(op)) {
                expected += kernel.type == models::KernelType::kGemm
                                ? 2 * kernel.m * kernel.n * kernel.k * kernel.groups * kernel.repeat
                                : 0;
            }
            for (const models::CpuCall& call : calls.before) {
                found += product_flop(call);
            }
            EXPECT_NEAR(found, expected, 1e-12 * expected) << to_string(op.kind) << " " << to_string(op.phase);
        });
    }
}

TEST(KernelCalls, causal_attention_has_half_of_all_scores_twice_forward_and_as_often_backward) {
    for (const Made& made : all_ways()) {
        made.for_each([&](int, const Operation& op, const OperationCalls& calls) {
            if (op.kind != OpKind::kAttention) {
                return;
            }
            const models::CpuCall& call = calls.before.front();
            const double keys = mean_keys(made.c.workload) / (call.rows / 2.0);  // of those of a causal sequence
            const double forward = 2 * call.groups * call.rows * call.rows * call.depth * keys;
            EXPECT_DOUBLE_EQ(made.program.kernels_of(op).front().flop,
                             forward * (op.phase == Phase::kBackwardInput ? 2 : 1));
        });
    }
}

TEST(KernelCalls, every_operation_that_computes_has_calls_and_their_sizes_are_finite_and_positive) {
    const std::set<OpKind> without{OpKind::kHostSync,
                                   OpKind::kBarrier,
                                   OpKind::kStepHost,
                                   OpKind::kWorldAllReduce,
                                   OpKind::kGradientNormAllReduce,
                                   OpKind::kGradientEpAllReduce,
                                   OpKind::kGradientReduceExperts,
                                   OpKind::kGradientReduceDense,
                                   OpKind::kParameterGatherExperts,
                                   OpKind::kParameterGatherDense};
    for (const Made& made : all_ways()) {
        made.for_each([&](int, const Operation& op, const OperationCalls& calls) {
            const bool sums_counts = op.kind == OpKind::kRouterBiasUpdate && op.comm != CommKind::kNone;  // in place
            EXPECT_EQ(calls.before.empty() && calls.after.empty(), without.contains(op.kind) || sums_counts)
                << to_string(op.kind);
            for (const auto* list : {&calls.before, &calls.after}) {
                for (const models::CpuCall& call : *list) {
                    for (const double size : {call.rows, call.columns, call.depth, call.groups, call.repeat}) {
                        EXPECT_TRUE(std::isfinite(size) && size > 0)
                            << to_string(op.kind) << " " << to_string(call.kernel);
                    }
                    EXPECT_TRUE(std::isfinite(call.cold_bytes) && call.cold_bytes >= 0) << to_string(call.kernel);
                }
            }
            if (op.comm == CommKind::kNone) {
                EXPECT_TRUE(calls.after.empty()) << to_string(op.kind);
            }
        });
    }
}

TEST(KernelCalls, losses_are_counted_forward_and_not_when_recomputed) {
    models::Plan p = moe_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped, 1);
    p.recompute.expert = true;
    const Made made("toy-moe", p);
    const auto forward = first_calls(made, OpKind::kRouterTopK, Phase::kForward);
    const auto again = first_calls(made, OpKind::kRouterTopK, Phase::kRecompute);
    EXPECT_NE(find(forward.before, models::CpuKernel::kRouterLosses), nullptr);
    EXPECT_EQ(find(again.before, models::CpuKernel::kRouterLosses), nullptr);
}

TEST(KernelCalls, a_router_that_is_asked_chooses_and_one_that_is_not_deals_out_an_even_pattern) {
    models::Plan p = moe_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped, 1);
    const auto kernel = [&p](models::RoutingDistribution kind) {
        p.routing.kind = kind;
        return first_calls(Made("toy-moe", p), OpKind::kRouterTopK, Phase::kForward).before.front().kernel;
    };
    EXPECT_EQ(kernel(models::RoutingDistribution::kLearned), models::CpuKernel::kRouterForward);
    EXPECT_EQ(kernel(models::RoutingDistribution::kUniform), models::CpuKernel::kRouterUniform);
}

TEST(KernelCalls, queries_and_keys_are_summed_inside_their_norm_without_tensor_parallelism) {
    const auto kernels = [](const Made& made, OpKind kind) {
        std::vector<models::CpuKernel> list;
        for (const models::CpuCall& call : first_calls(made, kind, Phase::kForward).before) {
            list.push_back(call.kernel);
        }
        return list;
    };
    // Queries, then keys.
    constexpr models::CpuKernel kSums = models::CpuKernel::kSquareSums, kNorm = models::CpuKernel::kQkNormForward;
    models::Plan p = plain_plan();
    EXPECT_EQ(kernels(Made("toy-moe", p), OpKind::kQkNorm), (std::vector{kSums, kSums, kNorm, kNorm}));
    p.tp = 2;
    const Made split("toy-moe", p);
    EXPECT_EQ(kernels(split, OpKind::kQkNorm), (std::vector{kNorm, kNorm}));
    EXPECT_EQ(kernels(split, OpKind::kQkNormSums), (std::vector{kSums, kSums}));
}

TEST(KernelCalls, rows_sorted_on_arrival_move_twice_those_of_gathered_tokens_once_and_of_one_expert_not_at_all) {
    const auto moves = [](models::Dispatch dispatch, int ep) {
        const Made made("toy-moe", moe_plan(dispatch, models::ExpertKernels::kGrouped, ep));
        const auto calls = first_calls(made, OpKind::kExpertComputation, Phase::kForward).before;
        return std::ranges::count(calls, models::CpuKernel::kGatherRows, &models::CpuCall::kernel);
    };
    EXPECT_EQ(moves(models::Dispatch::kAllToAll, 2), 2);
    EXPECT_EQ(moves(models::Dispatch::kAllGatherReduceScatter, 2), 1);
    EXPECT_EQ(moves(models::Dispatch::kAllToAll, 8), 0);
}

TEST(KernelCalls, experts_move_rows_range_by_range) {
    const auto moved = [](models::ExpertKernels kernels) {
        const Made made("toy-moe", moe_plan(models::Dispatch::kAllGatherReduceScatter, kernels, 2));
        const auto calls = first_calls(made, OpKind::kExpertComputation, Phase::kForward).before;
        const models::CpuCall* const rows = find(calls, models::CpuKernel::kGatherRows);
        return std::pair{rows->repeat, rows->rows};
    };
    EXPECT_EQ(moved(models::ExpertKernels::kGrouped), std::pair(1.0, 128.0));
    EXPECT_EQ(moved(models::ExpertKernels::kLoop), std::pair(4.0, 32.0));
    EXPECT_EQ(moved(models::ExpertKernels::kFused),
              std::pair(4.0, 32.0));  // as long as an expert has no more than kFusedRows
}

TEST(KernelCalls, the_loop_adds_a_tensor_of_all_gathered_tokens_for_each_of_its_experts) {
    const Made made("toy-moe", moe_plan(models::Dispatch::kAllGatherReduceScatter, models::ExpertKernels::kLoop, 2));
    const auto calls = first_calls(made, OpKind::kExpertComputation, Phase::kBackwardInput).before;
    const models::CpuCall* add = find(calls, models::CpuKernel::kAdd);
    ASSERT_NE(add, nullptr);
    EXPECT_EQ(add->repeat, 4);               // N / ep
    EXPECT_EQ(add->columns, 2 * 64.0 * 64);  // ep t h
    const models::CpuCall* sum = find(calls, models::CpuKernel::kSumRows);
    ASSERT_NE(sum, nullptr);
    EXPECT_EQ(sum->rows * sum->depth * sum->repeat, 64 * 2);  // t K rows
}

TEST(KernelCalls, a_message_is_copied_once_before_it_leaves_and_once_after_it_has_come) {
    models::Plan p = plain_plan();
    p.pp = 2;
    for (const char* model : {"toy-dense", "toy-moe-global"}) {
        const Made made(model, p);
        const double bytes = message_bytes(made.c.workload, made.c.plan, made.c.stack, 0);
        const auto sent = first_calls(made, OpKind::kSendForward, Phase::kForward, 0).before;
        const auto received = first_calls(made, OpKind::kReceiveForward, Phase::kForward, 1).after;
        const std::size_t parts = made.c.workload.global_aux_loss ? 2 : 1;  // the value, and logits that travel
        EXPECT_EQ(std::ranges::count(sent, models::CpuKernel::kFiniteCheck, &models::CpuCall::kernel), parts);
        EXPECT_EQ(std::ranges::count(sent, models::CpuKernel::kCopy, &models::CpuCall::kernel), parts);
        EXPECT_EQ(columns_of(sent, models::CpuKernel::kFiniteCheck), bytes / made.c.plan.weight_bytes);
        EXPECT_EQ(columns_of(sent, models::CpuKernel::kCopy), bytes);
        EXPECT_EQ(received.size(), parts);
        EXPECT_EQ(columns_of(received, models::CpuKernel::kCopy), bytes);
    }
}

TEST(KernelCalls, updates_of_all_ranks_of_a_stage_cover_its_parameters_once) {
    for (const models::OptimizerSharding how :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        models::Plan p = moe_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped, 2);
        p.dp = 2, p.optimizer = how;
        const Made made("toy-moe", p);
        const auto calls = first_calls(made, OpKind::kOptimizerUpdate, Phase::kOptimizer).before;
        const StageParameters all = stage_parameters(made.c.workload, made.c.plan, 0);
        const OptimizerShards shards = optimizer_shards(made.c.plan, made.layout);
        EXPECT_DOUBLE_EQ(calls.front().columns, all.dense / shards.dense + all.experts / shards.experts);
        EXPECT_EQ(calls.front().cold_bytes, 28 * calls.front().columns);
    }
}

TEST(KernelCalls, an_unsharded_update_goes_tensor_by_tensor) {
    // toy-moe, one rank: embedding, final norm and LM head; per layer 4 projections, 4 norms, router, 3 x 8 of experts.
    const Made made("toy-moe", moe_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped, 1));
    const auto calls = first_calls(made, OpKind::kOptimizerUpdate, Phase::kOptimizer).before;
    EXPECT_EQ(calls.front().rows, 3 + made.c.workload.layers * (4 + 4 + 1 + 24));
}

TEST(KernelCalls, gradients_are_cleared_before_a_step_and_looked_at_after_it) {
    models::Plan p = moe_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped, 2);
    const Made made("toy-moe", p);
    const StageParameters all = stage_parameters(made.c.workload, made.c.plan, 0);
    const std::vector<models::CpuCall> cleared = step_start_calls(made.c.workload, made.c.plan, made.layout, 0);
    ASSERT_EQ(cleared.size(), 2U);
    EXPECT_EQ(cleared[0].columns + cleared[1].columns, (all.dense + all.experts) * made.c.plan.gradient_bytes);
    const auto looked = first_calls(made, OpKind::kGradientCheck, Phase::kOptimizer).before;
    EXPECT_EQ(looked[0].columns + looked[1].columns, all.dense + all.experts);
}

TEST(KernelCalls, far_from_products_are_weights_their_gradients_twice_and_what_the_half_keeps) {
    models::Plan p = plain_plan();
    const double weights = 2 * 2.0 * 256 * 64, made = 2 * 64.0 * 512, input = 2 * 64.0 * 64;  // gate and up, bf16
    const auto far_bytes = [&p](Phase phase) {
        return first_calls(Made("toy-dense", p), OpKind::kGateUpProjection, phase).before.front().cold_bytes;
    };
    EXPECT_EQ(far_bytes(Phase::kForward), weights + made);
    EXPECT_EQ(far_bytes(Phase::kBackwardInput), weights);
    EXPECT_EQ(far_bytes(Phase::kBackwardWeight), 2 * weights + input);
    p.recompute.expert = p.recompute.norm = true;
    EXPECT_EQ(far_bytes(Phase::kForward), weights);
    EXPECT_EQ(far_bytes(Phase::kRecompute), weights);
    EXPECT_EQ(far_bytes(Phase::kBackwardWeight), 2 * weights);
}

TEST(KernelCalls, far_bytes_are_some_of_the_bytes_that_a_call_moves) {
    for (const Made& made : all_ways()) {
        double far_weights = 0;
        made.for_each([&](int, const Operation& op, const OperationCalls& calls) {
            for (const auto* list : {&calls.before, &calls.after}) {
                for (const models::CpuCall& call : *list) {
                    far_weights += call.kernel == models::CpuKernel::kGemmForward ? call.cold_bytes : 0;
                    EXPECT_LE(call.cold_bytes, cpu_bytes(call, cpu_precision(made.c.plan)) * (1 + 1e-12))
                        << to_string(op.kind) << " " << to_string(op.phase) << " " << to_string(call.kernel);
                }
            }
        });
        EXPECT_GT(far_weights, 0) << "weights were last touched a pass ago";
    }
}

TEST(CpuPrecisionOfPlan, is_that_of_its_weights) {
    models::Plan p = plain_plan();
    EXPECT_EQ(cpu_precision(p), models::CpuPrecision::kBf16);
    p.precision = "fp32", p.weight_bytes = p.gradient_bytes = 4;
    EXPECT_EQ(cpu_precision(p), models::CpuPrecision::kFp32);
}

}  // namespace
}  // namespace auspex::schedule
