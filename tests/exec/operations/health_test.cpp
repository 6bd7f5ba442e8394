/// @file Numbers that are not finite: the step stops before weights change, and names the ranks where they came from.
#include "exec/operations/health.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "../exec_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

models::Training lively_training() {
    models::Training t;
    t.learning_rate = 0.1, t.warmup_steps = 0, t.clip = 1;
    t.initial_deviation = 0.3;
    return t;
}

template <class V>
std::vector<std::byte> bytes_of(const Buffer<V>& buffer) {
    const auto bytes = std::as_bytes(buffer.span());
    return {bytes.begin(), bytes.end()};
}

/// The ranks that the failure of a step names. It must be thrown on every rank, and leave all weights as they were.
template <class P>
std::vector<int> failed_ranks(const RunInputs& run, const std::function<void(TestRank<P>&)>& change) {
    std::atomic<int> failures = 0;
    std::vector<int> ranks;
    run_in_process(run.layout, [&](Communicator& communicator) {
        TestRank<P> test(run, communicator);
        change(test);
        const Weights<P>& weights = test.rank.weights;
        const std::vector<std::byte> dense = bytes_of(weights.dense), experts = bytes_of(weights.experts);
        try {
            test.step();
            ADD_FAILURE() << "expected a SoftFailure";
        } catch (const SoftFailure& failure) {
            EXPECT_EQ(failure.step, 0);
            ++failures;
            if (communicator.world_rank() == 0) {
                ranks = failure.ranks;
            }
        }
        EXPECT_EQ(bytes_of(weights.dense), dense);
        EXPECT_EQ(bytes_of(weights.experts), experts);
        communicator.barrier(models::GroupKind::kWorld);  // nobody leaves while others still look
    });
    EXPECT_EQ(failures, run.layout.tiles);
    return ranks;
}

/// A NaN in a dense weight of one rank.
template <class P>
std::function<void(TestRank<P>&)> poison_weight(int rank, std::size_t LayerSlots::*slot, std::size_t layer) {
    return [=](TestRank<P>& test) {
        if (test.rank.coordinates.rank == rank) {
            test.rank.weights.dense[test.rank.table.layers[layer].*slot] = stored<typename P::Value>(NAN);
        }
    };
}

TEST(SoftFailures, are_found_on_one_rank_and_on_replicas) {
    for (const int dp : {1, 2}) {
        models::Plan plan = single_plan();
        plan.dp = dp;
        const auto poison = [dp](TestRank<Fp32>& test) {
            if (test.rank.coordinates.rank == dp - 1) {
                test.rank.weights.dense[test.rank.table.final_norm] = NAN;
            }
        };
        EXPECT_EQ(failed_ranks<Fp32>(run_inputs(dense_model(), plan, lively_training()), poison),
                  std::vector<int>{dp - 1});
    }
    EXPECT_EQ(std::string(SoftFailure(3, {1, 2}).what()),
              "step 3: loss or gradients are not finite, first on ranks 1, 2");
    EXPECT_EQ(std::string(SoftFailure(3, {}).what()),
              "step 3: the sum of the ranks' gradients, or its norm, is not finite");
}

/// An expert that only one of four ranks holds: all four have its outputs.
TEST(SoftFailures, name_the_rank_of_an_expert) {
    models::Plan plan = single_plan();
    plan.ep = 4;
    for (const models::Dispatch dispatch : {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
        for (const models::ExpertKernels kernels : {models::ExpertKernels::kLoop, models::ExpertKernels::kFused}) {
            plan.dispatch = dispatch, plan.expert_kernels = kernels;
            for (const int rank : {1, 3}) {
                const auto poison = [rank](TestRank<Fp32>& test) {
                    if (test.rank.coordinates.rank == rank) {
                        test.rank.weights.experts[0] = INFINITY;
                    }
                };
                EXPECT_EQ(failed_ranks<Fp32>(run_inputs(mixture_model(), plan, lively_training()), poison),
                          std::vector<int>{rank})
                    << to_string(dispatch) << to_string(kernels);
            }
        }
    }
}

/// From stage 1 the gradients go back to stage 0, and from there to the other replica; from stage 0 the values go to
/// stage 1. In every order of passes.
TEST(SoftFailures, name_the_stage_and_the_replica) {
    for (const models::ScheduleKind schedule :
         {models::ScheduleKind::kGpipe, models::ScheduleKind::k1f1b, models::ScheduleKind::kInterleaved1f1b}) {
        models::Plan plan = single_plan();
        plan.pp = plan.dp = 2, plan.micro_batches = 4;
        plan.schedule = schedule;
        plan.virtual_stages = schedule == models::ScheduleKind::kInterleaved1f1b ? 2 : 1;
        models::Workload w = dense_model();
        w.layers = 4;
        const RunInputs run = run_inputs(w, plan, lively_training());
        for (int rank = 0; rank < run.layout.tiles; ++rank) {
            const auto layer = static_cast<std::size_t>(
                schedule::layers_of(run.workload, run.plan, rank_coordinates(run.layout, rank).stage).first);
            EXPECT_EQ(failed_ranks<Fp32>(run, poison_weight<Fp32>(rank, &LayerSlots::attention_output, layer)),
                      std::vector<int>{rank})
                << to_string(schedule);
        }
    }
}

TEST(SoftFailures, name_the_tensor_parallel_rank_and_the_precision_does_not_matter) {
    models::Plan plan = single_plan();
    plan.tp = plan.etp = plan.pp = 2;
    for (const bool sequence_parallel : {false, true}) {
        plan.sequence_parallel = sequence_parallel;
        for (int rank = 0; rank < 4; ++rank) {
            const auto layer = static_cast<std::size_t>(rank / 2);
            plan.precision = "fp32", plan.weight_bytes = plan.gradient_bytes = 4;
            EXPECT_EQ(failed_ranks<Fp32>(run_inputs(dense_model(), plan, lively_training()),
                                         poison_weight<Fp32>(rank, &LayerSlots::down, layer)),
                      std::vector<int>{rank});
            plan.precision = "bf16", plan.weight_bytes = plan.gradient_bytes = 2;
            EXPECT_EQ(failed_ranks<Bf16Precision>(run_inputs(dense_model(), plan, lively_training()),
                                                  poison_weight<Bf16Precision>(rank, &LayerSlots::qkv, layer)),
                      std::vector<int>{rank});
        }
    }
}

/// A number of a pass that becomes NaN, once, in a later micro-batch.
TEST(SoftFailures, name_the_rank_of_an_activation) {
    models::Plan plan = single_plan();
    plan.ep = plan.pp = plan.tp = plan.etp = 2;
    const RunInputs run = run_inputs(mixture_model(), plan, lively_training());
    for (int rank = 0; rank < run.layout.tiles; ++rank) {
        const auto poison = [rank](TestRank<Fp32>& test) {
            if (test.rank.coordinates.rank == rank) {
                test.rank.after_operation = [&test, outputs = 0](const schedule::Operation& op) mutable {
                    outputs += op.kind == schedule::OpKind::kAttentionOutput && op.phase == schedule::Phase::kForward;
                    if (op.kind == schedule::OpKind::kAttentionOutput && op.phase == schedule::Phase::kForward &&
                        outputs == 2) {
                        test.rank.running.x[0] = NAN;
                    }
                };
            }
        };
        EXPECT_EQ(failed_ranks<Fp32>(run, poison), std::vector<int>{rank});
    }
}

/// Calls change(rank) when the gradients of the step are there.
template <class P>
std::function<void(TestRank<P>&)> with_gradients(const std::function<void(Rank<P>&)>& change) {
    return [change](TestRank<P>& test) {
        test.rank.after_operation = [&test, change](const schedule::Operation& op) {
            if (op.kind == schedule::OpKind::kHostSync) {  // the optimizer's block begins with it
                change(test.rank);
            }
        };
    };
}

/// 3e38 + 3e38 > 3.4e38, in bf16 and fp32.
TEST(SoftFailures, are_found_where_only_the_sum_of_gradients_is_not_finite) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded}) {
        models::Plan plan = single_plan();
        plan.dp = 2, plan.optimizer = optimizer;
        EXPECT_EQ(failed_ranks<Fp32>(run_inputs(dense_model(), plan, lively_training()),
                                     with_gradients<Fp32>([](Rank<Fp32>& r) { r.weights.dense_gradient[1] = 3e38F; })),
                  std::vector<int>{});
        plan.precision = "bf16", plan.weight_bytes = plan.gradient_bytes = 2;
        const auto large = [](Rank<Bf16Precision>& r) { r.weights.dense_gradient[1] = stored<Bf16>(3e38F); };
        EXPECT_EQ(failed_ranks<Bf16Precision>(run_inputs(dense_model(), plan, lively_training()),
                                              with_gradients<Bf16Precision>(large)),
                  std::vector<int>{});
    }
}

/// (1e20)^2 is no float, and neither is the sum of two ranks' (1.6e19)^2.
TEST(SoftFailures, are_found_where_the_norm_is_beyond_a_float) {
    models::Plan plan = single_plan();
    const auto of = [](float gradient) {
        return with_gradients<Fp32>([gradient](Rank<Fp32>& r) { r.weights.dense_gradient[1] = gradient; });
    };
    EXPECT_EQ(failed_ranks<Fp32>(run_inputs(dense_model(), plan, lively_training()), of(1e20F)), std::vector<int>{});
    plan.pp = 2;
    EXPECT_EQ(failed_ranks<Fp32>(run_inputs(dense_model(), plan, lively_training()), of(1.6e19F)), std::vector<int>{});
}

TEST(Places, are_in_the_order_of_causes) {
    models::Plan plan = single_plan();
    plan.pp = 2, plan.virtual_stages = 2, plan.micro_batches = 4,
    plan.schedule = models::ScheduleKind::kInterleaved1f1b;
    models::Workload w = dense_model();
    w.layers = 4;
    const RunInputs run = run_inputs(w, plan);
    const auto place = [&](schedule::BlockKind kind, int virtual_stage, int micro_batch, std::size_t operation) {
        for (const schedule::Block& block : run.program.blocks) {
            if (block.kind == kind) {
                const schedule::Operation& op = run.program.operations_of(block)[operation];
                return position_in_step(run.program, run.plan, {op, block, micro_batch, virtual_stage, {}, false});
            }
        }
        return -1;
    };
    const std::vector<std::int32_t> places{
        place(schedule::BlockKind::kForward, 0, 0, 0),  place(schedule::BlockKind::kForward, 0, 0, 1),
        place(schedule::BlockKind::kForward, 3, 0, 0),  place(schedule::BlockKind::kBackward, 3, 0, 0),
        place(schedule::BlockKind::kBackward, 0, 0, 2), place(schedule::BlockKind::kForward, 0, 1, 0)};
    EXPECT_EQ(places.front(), 0);
    EXPECT_TRUE(std::ranges::is_sorted(places));
    EXPECT_EQ(std::ranges::adjacent_find(places), places.end());
    EXPECT_EQ(place(schedule::BlockKind::kForward, 0, 1 << 22, 0), kPositionOfCheck - 1);
}

TEST(Places, come_back_from_a_float) {
    EXPECT_EQ(health_flag(kAllFinite), 0);
    EXPECT_EQ(health_flag(0), 1);
    EXPECT_EQ(static_cast<std::int32_t>(health_flag(kPositionOfCheck)), kPositionOfCheck + 1);
    EXPECT_LT(health_flag(kPositionOfCheck - 1), health_flag(kPositionOfCheck));
    EXPECT_EQ(first_unhealthy(std::vector<float>{0, 7, 0, 3, 3}), (std::vector<int>{3, 4}));
    EXPECT_EQ(first_unhealthy(std::vector<float>{0, 0}), std::vector<int>{});
}

template <class V>
void expect_all_finite_sees_every_element() {
    std::vector<V> values(67, stored<V>(-3e38F));
    EXPECT_TRUE(all_finite(values.size(), values.data()));
    EXPECT_TRUE(all_finite<V>(0, nullptr));
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
        for (V& value : values) {
            const V before = value;
            value = stored<V>(bad);
            EXPECT_FALSE(all_finite(values.size(), values.data()));
            value = before;
        }
    }
}

TEST(AllFinite, sees_every_element) {
    expect_all_finite_sees_every_element<float>();
    expect_all_finite_sees_every_element<double>();
    expect_all_finite_sees_every_element<Bf16>();
}

}  // namespace
}  // namespace auspex::exec
