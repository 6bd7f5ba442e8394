/// @file Sums of gradients beside backward passes: the same gradients to the bit, begun and not waited for, seen in
/// spans; and what becomes of them when a rank ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "layout_plans.hpp"
#include "schedule/bindings/beside.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

/// The trainer's stack with buckets of this size: 1 byte makes one of every unit.
models::Stack stack_with_buckets(double bytes) {
    models::Stack stack = trainer_stack();
    stack.bucket_bytes = bytes;
    return stack;
}

models::Plan overlapped(models::Plan plan) {
    plan.overlap_dp = true;
    return plan;
}

/// Elements are summed in rank order, in double, whichever bucket they are in.
void expect_the_flat_step(const models::Workload& workload, const models::Plan& plan) {
    const StepResult flat = one_step<Fp32>(run_inputs(workload, plan));
    for (const double bucket : {1.0, 900.0, 1e6}) {
        const StepResult found =
            one_step<Fp32>(run_inputs(workload, overlapped(plan), still_training(), stack_with_buckets(bucket)));
        EXPECT_EQ(found.loss.cross_entropy, flat.loss.cross_entropy);
        EXPECT_EQ(found.gradients, flat.gradients) << "buckets of " << bucket << " bytes";
    }
}

std::vector<models::OptimizerSharding> optimizers() {
    return {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
            models::OptimizerSharding::kEpAware};
}

TEST(OverlappedReduction, gives_the_gradients_of_sums_behind_the_passes) {
    for (const models::OptimizerSharding optimizer : optimizers()) {
        models::Plan plan = single_plan();
        plan.dp = 2;
        plan.optimizer = optimizer;
        expect_the_flat_step(deep(dense_model()), plan);
        plan.ep = 2;
        expect_the_flat_step(deep(mixture_model()), recomputed(plan));
        plan.tp = plan.etp = 2;
        plan.sequence_parallel = true;
        expect_the_flat_step(deep(mixture_model()), plan);
    }
}

TEST(OverlappedReduction, in_every_order_of_passes) {
    models::Workload w = deep(mixture_model());
    w.first_dense_layers = 1, w.intermediate_size = 12;
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        plan.dp = 2;
        plan.optimizer = models::OptimizerSharding::kSharded;
        expect_the_flat_step(w, plan);
        plan.tp = plan.etp = 2;
        plan.sequence_parallel = true;
        expect_the_flat_step(w, recomputed(plan));
    }
}

TEST(OverlappedReduction, of_a_table_that_embeds_and_predicts) {
    models::Workload w = deep(dense_model());
    w.tied_embeddings = true;
    models::Plan plan = single_plan();
    plan.dp = 2;
    expect_the_flat_step(w, plan);
    // Both ends of the model on one rank; with dualpipe on two, each with a half of the batch.
    for (const models::ScheduleKind schedule : {models::ScheduleKind::kZbv, models::ScheduleKind::kDualPipe}) {
        plan = pipeline_plan(schedule);
        plan.dp = 2;
        plan.optimizer = models::OptimizerSharding::kSharded;
        expect_the_flat_step(w, plan);
    }
}

/// Learned positions lie beside the table and are in its bucket, on the first of one stage and of two.
TEST(OverlappedReduction, of_learned_positions) {
    models::Workload w = deep(gpt_model());
    models::Plan plan = single_plan();
    plan.dp = 2;
    plan.optimizer = models::OptimizerSharding::kSharded;
    expect_the_flat_step(w, plan);
    w.tied_embeddings = false;
    plan = pipeline_plan(models::ScheduleKind::k1f1b);
    plan.dp = 2;
    expect_the_flat_step(w, plan);
}

/// Weights after steps of AdamW are those of the flat plan: shards cut bucket by bucket are updated and gathered whole.
TEST(OverlappedReduction, weights_after_updates_are_the_same) {
    models::Training training = still_training();
    training.learning_rate = 1e-2, training.weight_decay = 0.1, training.clip = 1;
    for (const models::OptimizerSharding optimizer : optimizers()) {
        models::Plan plan = bf16(single_plan());
        plan.dp = plan.ep = 2;
        plan.optimizer = optimizer;
        const auto weights_of = [&](const models::Plan& p, double bucket) {
            const RunInputs run = run_inputs(deep(mixture_model()), p, training, stack_with_buckets(bucket));
            std::map<std::pair<int, int>, std::vector<float>> weights;  // by rank, of dense and experts
            std::mutex mutex;
            run_in_process(run.layout, [&](Communicator& communicator) {
                TestRank<Bf16Precision> test(run, communicator);
                for (test.rank.step = 0; test.rank.step < 3; ++test.rank.step) {
                    test.step();
                }
                const std::scoped_lock lock(mutex);
                for (const auto* array : {&test.rank.weights.dense, &test.rank.weights.experts}) {
                    std::vector<float>& values =
                        weights[{communicator.world_rank(), array == &test.rank.weights.dense ? 0 : 1}];
                    for (const Bf16 value : array->span()) {
                        values.push_back(real(value));
                    }
                }
            });
            return weights;
        };
        const auto flat = weights_of(plan, 1);
        for (const double bucket : {1.0, 700.0}) {
            EXPECT_EQ(weights_of(overlapped(plan), bucket), flat) << to_string(optimizer) << " " << bucket;
        }
    }
}

/// Messages that come while a rank computes bring what those bring that it waits for.
TEST(ExpectedMessages, give_the_gradients_of_messages_that_are_waited_for) {
    for (const models::ScheduleKind schedule : models::kScheduleKinds) {
        SCOPED_TRACE(to_string(schedule));
        models::Plan plan = pipeline_plan(schedule);
        plan.dp = 2;
        const StepResult waited = one_step<Fp32>(run_inputs(deep(mixture_model()), plan));
        plan.overlap_pp = true;
        for (const bool sums : {false, true}) {
            plan.overlap_dp = sums;
            const StepResult found = one_step<Fp32>(run_inputs(deep(mixture_model()), plan));
            EXPECT_EQ(found.gradients, waited.gradients);
            EXPECT_EQ(found.loss.cross_entropy, waited.loss.cross_entropy);
        }
    }
}

/// Bytes and operations are the program's; a gather of parameters makes a call for each bucket.
TEST(OverlappedReduction, does_what_the_program_says) {
    models::Plan plan = overlapped(split_plan(true));
    plan.ep = plan.dp = 2;
    plan.optimizer = models::OptimizerSharding::kSharded;
    const RunInputs run = run_inputs(deep(mixture_model()), plan, still_training(), stack_with_buckets(1));
    const StepResult result = one_step<Fp32>(run);
    std::vector<OperationCount> expected(static_cast<std::size_t>(schedule::OpKind::kCount));
    int sums_in_passes = 0;
    for (const schedule::BlockUse& use : run.program.roles[0].order) {
        for (const schedule::Operation& op : run.program.operations_of(run.program.blocks[use.block])) {
            expected[static_cast<std::size_t>(op.kind)] += {1, 0, op.bytes};
            sums_in_passes += op.unit >= 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(sums_in_passes, 4 * 4 + 3 + 2);  // the head has no experts, the embedding nothing to sum over tp either
    for (const std::vector<OperationCount>& counts : result.counts) {
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
            EXPECT_EQ(counts[kind].operations, expected[kind].operations)
                << to_string(static_cast<schedule::OpKind>(kind));
            EXPECT_DOUBLE_EQ(counts[kind].bytes, expected[kind].bytes)
                << to_string(static_cast<schedule::OpKind>(kind));
        }
    }
}

/// One layer's bucket after the other.
models::Plan two_replicas() {
    models::Plan plan = overlapped(single_plan());
    plan.dp = 2;
    plan.optimizer = models::OptimizerSharding::kSharded;
    return plan;
}

bool is_first_sum(const schedule::Operation& op) {
    return op.kind == schedule::OpKind::kGradientReduceDense && op.unit == schedule::kUnitOfHead;
}

/// Rank 1 does not get to its first sum before rank 0 has gone through the rest of its last backward pass: rank 0 does
/// not wait for it. Its span reaches from its beginning over all of that.
TEST(OverlappedReduction, a_rank_goes_on_while_another_has_not_come) {
    const RunInputs run = run_inputs(deep(dense_model()), two_replicas(), still_training(), stack_with_buckets(1));
    std::atomic<bool> has_gone_on = false;
    schedule::Timeline timeline = empty_rank_timeline(0);
    const auto is_embedding_gradient = [](const schedule::Operation& op) {
        return op.kind == schedule::OpKind::kEmbedding && op.phase == schedule::Phase::kBackwardWeight;
    };
    run_in_process(run.layout, [&](Communicator& communicator) {
        TestRank<Fp32> test(run, communicator);
        const bool first = communicator.world_rank() == 0;
        bool last_backward = false;
        test.rank.after_operation = [&, first](const schedule::Operation& op) {
            last_backward = last_backward || is_first_sum(op);
            if (first && last_backward && is_embedding_gradient(op)) {
                has_gone_on = true;
            }
            // In front of rank 1's first sum is the gradient of the final norm; each micro-batch has one.
            if (!first && op.kind == schedule::OpKind::kFinalNorm && op.phase == schedule::Phase::kBackwardInput) {
                static thread_local int passes = 0;
                while (++passes == run.plan.micro_batches && !has_gone_on) {
                    passes = run.plan.micro_batches - 1;
                    std::this_thread::yield();
                }
            }
        };
        test.step(first ? &timeline : nullptr);
    });
    const auto name = [](schedule::OpKind kind, schedule::Phase phase) {
        return static_cast<std::uint32_t>(operation_name_index(kind, phase));
    };
    const auto span_named = [&](std::uint32_t wanted, bool last) {
        schedule::Span found{};
        for (const schedule::Span& span : timeline.spans) {
            if (span.name == wanted && (last || found.end == 0)) {
                found = span;
            }
        }
        return found;
    };
    const schedule::Span sum =
        span_named(name(schedule::OpKind::kGradientReduceDense, schedule::Phase::kBackwardInput), false);
    const schedule::Span embedding =
        span_named(name(schedule::OpKind::kEmbedding, schedule::Phase::kBackwardWeight), true);
    EXPECT_EQ(sum.track, static_cast<std::uint32_t>(schedule::Stream::kDp));
    EXPECT_LT(sum.start, embedding.start);
    EXPECT_GE(sum.end, embedding.end);
    Picoseconds free_from = 0;  // of the stream: one after another
    for (const schedule::Span& span : timeline.spans) {
        if (span.track == static_cast<std::uint32_t>(schedule::Stream::kDp)) {
            EXPECT_GE(span.start, free_from);
            free_from = span.end;
        }
    }
}

TEST(OverlappedReduction, a_rank_that_ends_with_a_sum_under_way_ends_the_others) {
    for (const bool throws : {true, false}) {
        const RunInputs run = run_inputs(deep(dense_model()), two_replicas(), still_training(), stack_with_buckets(1));
        std::atomic<int> noticed = 0;
        const auto body = [&](Communicator& communicator) {
            TestRank<Fp32> test(run, communicator);
            if (communicator.world_rank() == 1) {
                test.rank.after_operation = [&](const schedule::Operation& op) {
                    if (is_first_sum(op)) {
                        throw std::runtime_error("rank 1 has had enough");
                    }
                };
            }
            try {
                test.step();
            } catch (const CommunicationError&) {
                ++noticed;
                throw;
            } catch (const std::runtime_error&) {
                if (throws) {
                    throw;
                }  // else it leaves
            }
        };
        if (throws) {
            EXPECT_THROW(run_in_process(run.layout, body), std::runtime_error);
        } else {
            EXPECT_THROW(run_in_process(run.layout, body), CommunicationError);
        }
        EXPECT_EQ(noticed, 1);
    }
}

/// A number that is not finite is found where a rank brings it to a sum, so that the rank is named and not those that
/// share the sum with it.
TEST(OverlappedReduction, names_the_rank_that_brought_a_number_that_is_not_finite) {
    for (int culprit = 0; culprit < 2; ++culprit) {
        const RunInputs run = run_inputs(deep(dense_model()), two_replicas(), still_training(), stack_with_buckets(1));
        const auto body = [&](Communicator& communicator) {
            TestRank<Fp32> test(run, communicator);
            if (communicator.world_rank() == culprit) {
                test.rank.after_operation = [&](const schedule::Operation& op) {
                    if (op.kind == schedule::OpKind::kFinalNorm && op.phase == schedule::Phase::kBackwardInput) {
                        test.rank.weights.dense_gradient[test.rank.table.lm_head] = NAN;
                    }
                };
            }
            try {
                test.step();
                ADD_FAILURE() << "nothing was thrown";
            } catch (const SoftFailure& failure) {
                EXPECT_EQ(failure.ranks, std::vector<int>{culprit});
            }
        };
        run_in_process(run.layout, body);
    }
}

}  // namespace
}  // namespace auspex::exec
