/// @file What an executor takes from a program beside times: what communications carry, sums that tp splits, the check
/// of gradients, and parameters that come out whole.
#include <gtest/gtest.h>

#include <cmath>

#include "../plan_fixture.hpp"
#include "schedule/inspection/text.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Built {
    models::Workload workload;
    models::Plan plan;
    Program program;
    Built(const models::Workload& model, const models::Plan& p, const models::Stack& software)
        : workload(model),
          plan(resolve_plan(p, model, 0)),
          program(build_program(workload, plan, software, layout_of(plan))) {}

    [[nodiscard]] std::span<const Operation> optimizer_block(std::size_t stage = 0) const {
        return program.operations_of(program.blocks[program.roles[stage].order.back().block]);
    }
    [[nodiscard]] double kernel_bytes(const Operation& op) const {
        double sum = 0;
        for (const models::Kernel& kernel : program.kernels_of(op)) {
            sum += kernel.bytes * kernel.repeat;
        }
        return sum;
    }
    [[nodiscard]] std::vector<const Operation*> all(Carries carries) const {
        std::vector<const Operation*> found;
        for (const Operation& op : program.operations) {
            if (op.carries == carries) {
                found.push_back(&op);
            }
        }
        return found;
    }
};

/// toy-moe has 4 layers, H = 64, 4 heads of 16, N = 8, K = 2, vocabulary 512; t = 64 tokens, bf16.
models::Plan toy(int tp, bool sequence_parallel = false) {
    models::Plan p = plan("toy-ep2-dp2");
    p.tp = tp, p.sequence_parallel = sequence_parallel;
    p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
    return p;
}

TEST(Norms, rms_norms_have_passes_of_their_own) {
    // Forward each pass reads and writes t H a bytes; backwards a norm of several has as many again by the ratio.
    const double t = 64, h = 64, a = 2;
    models::Stack software = stack("optimus");
    software.kernels.norm = 2, software.kernels.rms_norm = 9;
    models::Workload model = workload("toy-moe");
    for (const auto& [kind, passes] : {std::pair{models::NormKind::kRms, 9.0}, {models::NormKind::kLayer, 2.0}}) {
        model.norm = kind;
        const Built b(model, toy(1), software);
        int norms = 0;
        for (const Operation& op : b.program.operations) {
            if (op.kind == OpKind::kAttentionNorm || op.kind == OpKind::kFinalNorm) {
                const bool is_forward = op.phase == Phase::kForward, is_final = op.kind == OpKind::kFinalNorm;
                const double backward = is_final ? 1.5 : software.backward_launch_ratio;
                EXPECT_DOUBLE_EQ(b.kernel_bytes(op), passes * 2 * t * h * a * (is_forward ? 1 : backward));
                ++norms;
            }
        }
        EXPECT_GT(norms, 4);
    }
}

TEST(QkNorm, where_tp_splits_the_width_sums_of_each_token_meet_before_the_norm) {
    // Forward and recompute read t (q + kv) a bytes, backward values and gradients; two fp32 sums a token meet.
    const double t = 64, normed = 2 * 64, a = 2;
    for (const int tp : {1, 2, 4}) {
        models::Plan p = toy(tp);
        p.recompute.attention = true;
        const Built b(workload("toy-moe"), p, stack("optimus"));
        int norms = 0, sums = 0;
        const std::vector<Operation>& ops = b.program.operations;
        for (std::size_t i = 2; i < ops.size(); ++i) {
            norms += ops[i].kind == OpKind::kQkNorm ? 1 : 0;
            if (ops[i].kind != OpKind::kQkNorm || tp == 1) {
                continue;
            }
            const Operation &made = ops[i - 2], &met = ops[i - 1];
            ++sums;
            EXPECT_EQ(made.kind, OpKind::kQkNormSums);
            EXPECT_EQ(made.phase, ops[i].phase);
            EXPECT_DOUBLE_EQ(b.kernel_bytes(made), (made.phase == Phase::kBackwardInput ? 2 : 1) * t * normed / tp * a);
            EXPECT_EQ(met.kind, OpKind::kTpAllReduce);
            EXPECT_EQ(met.comm, CommKind::kAllReduce);
            EXPECT_EQ(met.group, models::GroupKind::kTp);
            EXPECT_EQ(met.stream, Stream::kTp);
            EXPECT_EQ(met.carries, Carries::kQkNormSums);
            EXPECT_DOUBLE_EQ(met.bytes, t * 2 * 4);
        }
        EXPECT_EQ(norms, 4 * 3) << "layers x (forward, recompute, backward)";
        EXPECT_EQ(b.all(Carries::kQkNormSums).size(), static_cast<std::size_t>(sums));
    }
}

TEST(QkNorm, needs_no_sums_over_tp_in_models_without_it_and_for_latents_which_every_rank_has_whole) {
    for (const auto& [name, model] : {std::pair{"toy-tp2-dp2", "toy-dense"}, std::pair{"deepseek-v3", "deepseek-v3"}}) {
        models::Plan p = plan(name);
        p.tp = p.etp = 2;
        const Built b(workload(model), p, stack("optimus"));
        EXPECT_TRUE(b.all(Carries::kQkNormSums).empty()) << name;
        for (const Operation& op : b.program.operations) {
            EXPECT_NE(op.kind, OpKind::kQkNormSums) << name;
        }
    }
}

TEST(Carries, a_saved_input_is_gathered_once_more_for_each_half_that_is_not_recomputed) {
    // Attention's half in each of 4 layers; that of experts where no rank has the gathered tokens, as with all-to-all.
    for (const bool sent : {false, true}) {
        for (const bool recompute : {false, true}) {
            models::Plan p = toy(2, true);
            p.dispatch = sent ? models::Dispatch::kAllToAll : models::Dispatch::kAllGatherReduceScatter;
            p.recompute.attention = p.recompute.expert = recompute;
            const Built b(workload("toy-moe"), p, stack("optimus"));
            const auto saved = b.all(Carries::kSavedInput);
            EXPECT_EQ(saved.size(), recompute ? 0U : sent ? 8U : 4U);
            for (const Operation* op : saved) {
                EXPECT_EQ(op->kind, OpKind::kTpAllGather);
                EXPECT_EQ(op->phase, Phase::kBackwardInput);
                EXPECT_DOUBLE_EQ(op->bytes, 64.0 * 64 * 2);
            }
        }
    }
    EXPECT_TRUE(Built(workload("toy-moe"), toy(2), stack("optimus")).all(Carries::kSavedInput).empty());
}

TEST(Carries, the_loss_of_each_token_meets_over_tp_in_three_parts) {
    // 64 tokens, three numbers each (greatest, sum of exponentials, the logit of the target) in 4 bytes.
    const Built b(workload("toy-moe"), toy(2), stack("optimus"));
    const auto parts = b.all(Carries::kSoftmaxParts);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts.front()->kind, OpKind::kTpAllReduce);
    EXPECT_EQ((parts.front() - 1)->kind, OpKind::kCrossEntropy);
    EXPECT_DOUBLE_EQ(parts.front()->bytes, 64 * 3 * 4);
    EXPECT_TRUE(Built(workload("toy-moe"), toy(1), stack("optimus")).all(Carries::kSoftmaxParts).empty());
}

TEST(Carries, is_said_by_the_text_only_where_the_kind_does_not_tell) {
    const std::string text = program_text(Built(workload("toy-moe"), toy(2, true), stack("auspex")).program);
    for (const char* what : {"saved_input", "qk_norm_sums", "softmax_parts", "loss", "health"}) {
        EXPECT_NE(text.find(std::string(" carries=") + what), std::string::npos) << what;
    }
    EXPECT_EQ(text.find("running_value"), std::string::npos);
    EXPECT_NE(text.find("qk_norm_sums.backward_input layer=3 bytes="), std::string::npos);
    EXPECT_NE(text.find("comm=all_reduce group=world bytes=12 carries=loss"), std::string::npos);
}

TEST(SummedOverTp, router_always_norms_of_slices_and_latents_with_their_norms) {
    // Toy: 4 layers of a router H N; with slices 2 norms of H each, and H once more in front of the head.
    const models::Workload model = workload("toy-moe");
    for (const int tp : {1, 2, 4}) {
        for (const bool sliced : {false, true}) {
            const Built b(model, toy(tp, sliced), stack("optimus"));
            const double norms = sliced ? 4 * 2 * 64 + 64 : 0;
            EXPECT_DOUBLE_EQ(stage_parameters(model, b.plan, 0).summed_over_tp, tp > 1 ? 4 * 64 * 8 + norms : 0);
        }
    }
    const models::Workload latent = workload("deepseek-v3");
    models::Plan p = plan("deepseek-v3");
    p.tp = p.etp = 2;
    const double ranks = latent.q_rank + latent.kv_rank, h = latent.hidden_size;
    const double down = (ranks + latent.rope_head_size) * h + ranks;
    EXPECT_DOUBLE_EQ(layer_parameters(latent, p, 0).summed_over_tp, down) << "a dense layer has no router";
    EXPECT_DOUBLE_EQ(layer_parameters(latent, p, 60).summed_over_tp, down + h * latent.num_experts);
}

TEST(SummedOverTp, one_all_reduce_before_all_other_reductions) {
    const models::Workload model = workload("toy-moe");
    for (const auto sharding : {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
                                models::OptimizerSharding::kEpAware}) {
        models::Plan p = toy(2, true);
        p.optimizer = sharding, p.gradient_bytes = 4;
        const Built b(model, p, stack("optimus"));
        int sums = 0, others = 0;
        for (const Operation& op : b.optimizer_block()) {
            if (op.kind == OpKind::kGradientTpAllReduce) {
                ++sums;
                EXPECT_EQ(others, 0);
                EXPECT_EQ(op.comm, CommKind::kAllReduce);
                EXPECT_EQ(op.group, models::GroupKind::kTp);
                EXPECT_EQ(op.stream, Stream::kDp);
                EXPECT_DOUBLE_EQ(op.bytes, 4 * stage_parameters(model, b.plan, 0).summed_over_tp);
            }
            others += op.kind == OpKind::kGradientReduceDense || op.kind == OpKind::kGradientReduceExperts ||
                              op.kind == OpKind::kGradientEpAllReduce || op.kind == OpKind::kGradientNorm
                          ? 1
                          : 0;
        }
        EXPECT_EQ(sums, 1);
        EXPECT_GT(others, 1);
    }
}

TEST(SummedOverTp, beside_the_backward_pass_buckets_and_fsdp_have_their_share) {
    // Once in a step, with fsdp in each of the 2 micro-batches.
    const models::Workload model = workload("toy-moe");
    for (const bool fsdp : {false, true}) {
        models::Plan p = toy(2, true);
        p.overlap_dp = !fsdp;
        p.optimizer = fsdp ? models::OptimizerSharding::kFsdp : models::OptimizerSharding::kEpAware;
        models::Stack buckets = overlapping_stack("megatron-deepspeed");
        buckets.bucket_bytes = 1;
        const Built b(model, p, buckets);
        double bytes = 0;
        for (const BlockUse& use : b.program.roles[0].order) {
            for (const Operation& op : b.program.operations_of(b.program.blocks[use.block])) {
                bytes += op.kind == OpKind::kGradientTpAllReduce ? op.bytes : 0;
            }
        }
        const double once = stage_parameters(model, b.plan, 0).summed_over_tp * b.plan.gradient_bytes;
        EXPECT_DOUBLE_EQ(bytes, fsdp ? b.plan.micro_batches * once : once);
    }
}

TEST(StageParameters, of_a_tp_rank_are_whole_numbers_split_and_whole_ones_apart) {
    // (attention, norms of queries and keys, feed-forward, table, head) / tp + norms of the stream + router.
    for (const char* name : {"toy-moe", "toy-dense"}) {
        for (const bool qk_norm : {false, true}) {
            models::Workload model = workload(name);
            model.qk_norm = qk_norm;
            const bool mixture = model.num_experts > 0;
            const double h = 64, table = 512 * h, norms = 2 * h, router = mixture ? h * 8 : 0;
            const double split = 4 * h * h + (qk_norm ? 2 * h : 0) + (mixture ? 0 : 3 * h * 256);
            for (const int tp : {1, 2, 4}) {
                for (const int pp : {1, 2}) {
                    models::Plan p = plan("toy-pp2-dp2");
                    p.tp = p.etp = tp, p.pp = pp, p.ep = mixture ? 2 : 1;
                    double dense = 0;
                    for (int stage = 0; stage < pp; ++stage) {
                        const StageParameters held = stage_parameters(model, p, stage);
                        for (const double number : {held.dense, held.experts, held.summed_over_tp}) {
                            EXPECT_EQ(number, std::floor(number)) << name << " tp " << tp;
                        }
                        EXPECT_EQ(held.experts, mixture ? 4.0 / pp * 8 * 3 * h * 32 / (p.ep * tp) : 0);
                        dense += held.dense;
                    }
                    EXPECT_EQ(dense, (4 * split + 2 * table) / tp + 4 * (norms + router) + h) << name << " tp " << tp;
                }
            }
        }
    }
}

TEST(GradientCheck, comes_before_gradients_meet_and_the_loss_in_its_terms_after_the_update) {
    models::Stack checking = stack("auspex");
    const models::Workload model = workload("toy-moe");
    for (const int barriers : {0, 2}) {
        checking.barriers_per_step = barriers;
        const Built b(model, toy(2), checking);
        std::vector<OpKind> kinds;
        for (const Operation& op : b.optimizer_block()) {
            if (op.kind != OpKind::kHostSync && op.kind != OpKind::kStepHost) {
                kinds.push_back(op.kind);
            }
        }
        std::vector<OpKind> expected{
            OpKind::kGradientCheck,         OpKind::kWorldAllReduce,      OpKind::kGradientTpAllReduce,
            OpKind::kGradientReduceExperts, OpKind::kGradientReduceDense, OpKind::kGradientNorm,
            OpKind::kGradientNormAllReduce, OpKind::kOptimizerUpdate,     OpKind::kParameterGatherExperts,
            OpKind::kParameterGatherDense,  OpKind::kWorldAllReduce};
        if (barriers > 0) {
            expected.insert(expected.begin(), OpKind::kBarrier);
            expected.push_back(OpKind::kBarrier);
        }
        EXPECT_EQ(kinds, expected);
        const StageParameters held = stage_parameters(model, b.plan, 0);
        const auto health = b.all(Carries::kHealth), loss = b.all(Carries::kLoss);
        ASSERT_EQ(health.size(), 1U);
        ASSERT_EQ(loss.size(), 1U);
        EXPECT_EQ((health.front() - 1)->kind, OpKind::kGradientCheck);
        EXPECT_DOUBLE_EQ(b.kernel_bytes(*(health.front() - 1)), (held.dense + held.experts) * b.plan.gradient_bytes);
        EXPECT_DOUBLE_EQ(health.front()->bytes, 4.0 * layout_of(b.plan).tiles);
        EXPECT_DOUBLE_EQ(loss.front()->bytes, 4.0 * 3);
    }
}

TEST(GradientCheck, left_out_the_flags_follow_the_loss_at_the_end) {
    const Built b(workload("toy-moe"), toy(1), stack("optimus"));
    std::vector<Carries> carried;
    for (const Operation& op : b.optimizer_block()) {
        EXPECT_NE(op.kind, OpKind::kGradientCheck);
        if (op.kind == OpKind::kWorldAllReduce) {
            carried.push_back(op.carries);
        }
    }
    EXPECT_EQ(carried, (std::vector{Carries::kLoss, Carries::kHealth}));
    EXPECT_DOUBLE_EQ(b.all(Carries::kLoss).front()->bytes, 4);
}

}  // namespace
}  // namespace auspex::schedule
