/// @file Programs of plans whose stages are there twice: messages of both ways, work, parameters, and what the copies
/// of a stage exchange.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "../dualpipe_fixture.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

constexpr std::uint64_t kSeeds = 200;

Program program_of(const Case& c) { return build_program(c.workload, c.plan, c.stack, layout_of(c.plan)); }

/// The toy dense model of 4 layers on 2 stages of 2 replicas, 4 micro-batches.
Case toy(models::OptimizerSharding optimizer) {
    Case c{workload("toy-dense"), plan("toy-pp2-dp2"), stack("auspex")};
    c.plan.schedule = models::ScheduleKind::kDualPipe;
    c.plan.virtual_stages = 2, c.plan.micro_batches = 4;
    c.plan.optimizer = optimizer;
    c.plan = resolve_plan(c.plan, c.workload, 0);
    return c;
}

const Operation& exchange_of(const Program& program, OpKind kind, int stage) {
    for (const Operation& op :
         program.operations_of(program.blocks[program.roles[static_cast<std::size_t>(stage)].order.back().block])) {
        if (op.kind == kind) {
            return op;
        }
    }
    throw std::out_of_range("the stage exchanges nothing");
}

TEST(DualPipe, programs_of_random_plans_are_complete_and_wait_for_nothing_for_ever) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        EXPECT_NO_THROW(check_program(program_of(dualpipe_case(seed)))) << "seed " << seed;
    }
}

// Over each boundary but the one between the two ways pass m / 2 messages forward and as many back.
TEST(DualPipe, sends_half_of_the_micro_batches_each_way) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Case c = dualpipe_case(seed);
        const Program program = program_of(c);
        const int pp = c.plan.pp, m = c.plan.micro_batches;
        std::map<std::pair<OpKind, int>, std::vector<int>> sent;
        for (const Role& role : program.roles) {
            for (const BlockUse& use : role.order) {
                for (const Operation& op : program.operations_of(program.blocks[use.block])) {
                    if (op.comm == CommKind::kSend && op.message >= 0) {
                        sent[{op.kind, op.message}].push_back(use.micro_batch);
                    }
                }
            }
        }
        EXPECT_EQ(sent.size(), static_cast<std::size_t>(2 * 2 * (pp - 1)));
        for (auto& [of, micro_batches] : sent) {
            EXPECT_NE(of.second, pp - 1);
            std::ranges::sort(micro_batches);
            const int first = of.second < pp ? 0 : m / 2;
            ASSERT_EQ(micro_batches.size(), static_cast<std::size_t>(m / 2));
            EXPECT_EQ(micro_batches.front(), first);
            EXPECT_EQ(micro_batches.back(), first + m / 2 - 1);
        }
    }
}

// Useful FLOP of all passes of all stages are those of the same model, grid and batch with 1f1b.
TEST(DualPipe, does_the_work_of_1f1b) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Case c = dualpipe_case(seed);
        const auto flop_of = [](const Program& program) {
            double flop = 0;
            for (const Role& role : program.roles) {
                flop += totals_of(program, role).useful_flop;
            }
            return flop;
        };
        const double found = flop_of(program_of(c));
        c.plan.schedule = models::ScheduleKind::k1f1b, c.plan.virtual_stages = 1;
        EXPECT_NEAR(found, flop_of(program_of(c)), 1e-9 * found) << "seed " << seed;
    }
}

// A rank holds what it and its mirror update; over all stages the model is updated once.
TEST(DualPipe, holds_two_stages_and_updates_one) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        Case c = dualpipe_case(seed);
        double updated = 0;
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            const StageParameters all = stage_parameters(c.workload, c.plan, stage),
                                  own = updated_parameters(c.workload, c.plan, stage),
                                  others = updated_parameters(c.workload, c.plan, c.plan.pp - 1 - stage);
            EXPECT_NEAR(all.dense, own.dense + others.dense, 1e-9 * all.dense);
            EXPECT_NEAR(all.experts, own.experts + others.experts, 1e-9 * all.experts);
            updated += own.dense + own.experts;
        }
        models::Plan once = c.plan;
        once.schedule = models::ScheduleKind::kZbv;  // both ends on one rank as well
        once.stage_layers.clear();
        double expected = 0;
        for (int stage = 0; stage < once.pp; ++stage) {
            const StageParameters p = stage_parameters(c.workload, once, stage);
            expected += p.dense + p.experts;
        }
        EXPECT_NEAR(updated, expected, 1e-9 * updated) << "seed " << seed;
    }
}

// toy-dense, hidden h, 4 layers: stage 0 has the embedding V h and two layers L, stage 1 two layers, the final norm h
// and the head V h. Gradients of stage 1's copy leave stage 0: (2 L + h + V h) g, a half with two shards of dp;
// parameters that stage 0 updates follow: (V h + 2 L) a.
TEST(DualPipe, exchanges_sums_of_the_other_copy_and_then_parameters_of_its_own) {
    for (const auto& [optimizer, shards] : {std::pair{models::OptimizerSharding::kReplicated, 1},
                                            {models::OptimizerSharding::kSharded, 2},
                                            {models::OptimizerSharding::kEpAware, 2}}) {
        const Case c = toy(optimizer);
        const Program program = program_of(c);
        const double h = c.workload.hidden_size, table = static_cast<double>(c.workload.vocab_size) * h;
        const double layer = layer_parameters(c.workload, c.plan, 1).dense;
        const double first = table + 2 * layer, last = 2 * layer + h + table;
        const double g = c.plan.gradient_bytes / shards, a = c.plan.weight_bytes / shards;
        const auto expect = [&](OpKind kind, int stage, double bytes) {
            const Operation& op = exchange_of(program, kind, stage);
            EXPECT_EQ(op.group, models::GroupKind::kMirrorStage);
            EXPECT_NEAR(op.bytes, bytes, 4) << to_string(kind) << " " << stage;
        };
        expect(OpKind::kMirrorGradientExchange, 0, last * g);
        expect(OpKind::kMirrorGradientExchange, 1, first * g);
        expect(OpKind::kMirrorParameterExchange, 0, first * a);
        expect(OpKind::kMirrorParameterExchange, 1, last * a);
    }
}

// Weights and gradients of two stages, states (8 bytes a parameter in fp32) of one.
TEST(DualPipe, has_weights_and_gradients_of_two_stages_in_memory_and_states_of_one) {
    const Case c = toy(models::OptimizerSharding::kReplicated);
    const Program program = program_of(c);
    for (int stage = 0; stage < 2; ++stage) {
        const models::Layout layout = layout_of(c.plan);
        const RankMemory memory =
            rank_memory(c.workload, c.plan, c.stack, layout, program, layout.rank(stage, 0), nullptr);
        const double own = updated_parameters(c.workload, c.plan, stage).dense,
                     others = updated_parameters(c.workload, c.plan, 1 - stage).dense;
        const auto fixed = [&](MemoryLabel label) {
            return static_cast<double>(memory.fixed[static_cast<std::size_t>(label)]);
        };
        EXPECT_EQ(fixed(MemoryLabel::kWeights), (own + others) * c.plan.weight_bytes);
        EXPECT_GE(fixed(MemoryLabel::kGradients), (own + others) * c.plan.gradient_bytes);
        EXPECT_EQ(fixed(MemoryLabel::kMoments), own * 8);
    }
}

TEST(DualPipe, refuses_what_sums_gradients_more_than_once_a_step_and_odd_numbers) {
    const auto fault = [](const auto& change) -> std::string {
        Case c = toy(models::OptimizerSharding::kSharded);
        c.plan.dp = 0, c.plan.file = "p.json";
        change(c.plan);
        try {
            static_cast<void>(resolve_plan(c.plan, c.workload, 0));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const auto expect = [&](const auto& change, const std::string& part) {
        const std::string found = fault(change);
        EXPECT_NE(found.find(part), std::string::npos) << found << "\nlacks: " << part;
    };
    expect([](models::Plan& p) { p.optimizer = models::OptimizerSharding::kFsdp; },
           "$.optimizer: found \"fsdp\" with schedule \"dualpipe\"");
    expect([](models::Plan& p) { p.optimizer = models::OptimizerSharding::kZero2; }, "expected \"replicated\"");
    expect([](models::Plan& p) { p.optimizer = models::OptimizerSharding::kEpAware, p.shard_replicas = 2; },
           "$.shard_replicas: found 2 with schedule \"dualpipe\"");
    expect([](models::Plan& p) { p.post_validation = true; }, "$.post_validation: found true");
    expect([](models::Plan& p) { p.micro_batches = 5; }, "$.micro_batches: found 5; expected an even number");
    expect([](models::Plan& p) { p.micro_batches = 2; }, "$.micro_batches: found 2; expected at least 4");
    expect([](models::Plan& p) { p.pp = 3; }, "$.pp: found 3; expected an even number");
    expect([](models::Plan& p) { p.virtual_stages = 1; }, "$.virtual_stages: found 1");
    expect([](models::Plan& p) { p.pp = 6, p.micro_batches = 12; }, "4 layers, fewer than pp 6");
    expect(
        [](models::Plan& p) {
            p.stages = models::StageDeal::kList, p.stage_layers = {1, 1, 1, 1};
        },
        "$.stages: found layers of 4 stages; expected pp = 2");
}

}  // namespace
}  // namespace auspex::schedule
