/// @file Pairs of passes as one block: every operation of both once, in its pass's order, and what each waits for.
#include "schedule/program/merge_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "../plan_fixture.hpp"

namespace auspex::schedule {
namespace {

using testing_plans::overlapping_stack, testing_plans::plan, testing_plans::workload;

Program paired_plan(models::ScheduleKind kind, int tp) {
    models::Plan p = plan("mula-20b-a2b");
    models::Workload w = workload("mula-20b-a2b");
    p.schedule = kind, p.pp = 2, p.virtual_stages = kind == models::ScheduleKind::k1f1b ? 1 : 2;
    p.pp = kind == models::ScheduleKind::k1f1b ? 1 : 2;
    p.dp = 1, p.ep = 4, p.tp = p.etp = tp, p.micro_batches = 6, p.stage_layers.clear();
    p.stages = models::StageDeal::kEven;
    p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
    p.overlap_ep = true;
    const models::Plan resolved = resolve_plan(p, w, 0);
    return build_program(w, resolved, overlapping_stack("bare"), rank_grid(resolved, tiles_of(resolved)));
}

constexpr std::array kPaired{models::ScheduleKind::kInterleaved1f1b, models::ScheduleKind::kDualPipeV,
                             models::ScheduleKind::k1f1b};

/// Calls check(merged operations, forward block, backward block) for each merged block of the program.
template <class Check>
void for_each_pair(const Program& program, const PairedProgram& paired, Check&& check) {
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
        std::size_t use = 0;
        for (const BlockUse& merged : paired.program.roles[r].order) {
            const BlockUse& first = program.roles[r].order[use];
            use += first.beside_next ? 2 : 1;
            if (first.beside_next) {
                const BlockUse& second = program.roles[r].order[use - 1];
                ASSERT_EQ(merged.micro_batch_of(false), first.micro_batch);
                ASSERT_EQ(merged.micro_batch_of(true), second.micro_batch);
                check(paired.program.blocks[merged.block], program.blocks[first.block], program.blocks[second.block]);
            } else {
                ASSERT_EQ(merged.block, first.block);
            }
        }
        ASSERT_EQ(use, program.roles[r].order.size());
    }
}

TEST(MergePairs, have_every_operation_of_both_passes_once_in_their_order_and_with_what_it_waits_for) {
    for (const models::ScheduleKind kind : kPaired) {
        const Program program = paired_plan(kind, 2);
        ASSERT_TRUE(has_pairs(program)) << to_string(kind);
        const PairedProgram paired = merge_pairs(program);
        for_each_pair(program, paired, [&](const Block& merged, const Block& forward, const Block& backward) {
            std::array<std::uint32_t, 2> next{forward.op_begin, backward.op_begin};
            for (std::uint32_t i = merged.op_begin; i < merged.op_end; ++i) {
                const Operation& op = paired.program.operations[i];
                ASSERT_EQ(paired.origin[i], next[op.second ? 1 : 0]++);
                const Operation& own = program.operations[paired.origin[i]];
                ASSERT_EQ(op.kind, own.kind);
                std::set<std::uint32_t> waits;
                for (const std::uint32_t dep : paired.program.dependencies_of(op)) {
                    ASSERT_LT(merged.op_begin + dep, i);
                    waits.insert(paired.origin[merged.op_begin + dep]);
                }
                const std::uint32_t begin = op.second ? backward.op_begin : forward.op_begin;
                for (const std::uint32_t dep : program.dependencies_of(own)) {
                    EXPECT_TRUE(waits.contains(begin + dep));
                }
            }
            EXPECT_EQ(next[0], forward.op_end);
            EXPECT_EQ(next[1], backward.op_end);
        });
    }
}

// Between two of one kind each of the others comes once, in the order of Megatron-LM's overlap.
TEST(MergePairs, exchange_tokens_in_turns) {
    const Program program = paired_plan(models::ScheduleKind::kDualPipeV, 1);
    const PairedProgram paired = merge_pairs(program);
    for_each_pair(program, paired, [&](const Block& merged, const Block&, const Block&) {
        std::string order;
        for (const Operation& op : paired.program.operations_of(merged)) {
            if (op.stream == Stream::kEp) {
                const bool dispatch = op.kind == OpKind::kTokenCommunication;
                order += op.second ? (dispatch ? 'd' : 'r') : (dispatch ? 'D' : 'R');
            }
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            EXPECT_EQ(order[i], "rDdR"[i % 4]) << order;
        }
        EXPECT_GT(order.size(), 4U);
    });
}

TEST(MergePairs, other_communication_that_does_not_overlap_blocks_the_kernels_of_both) {
    const Program program = paired_plan(models::ScheduleKind::kInterleaved1f1b, 2);
    const PairedProgram paired = merge_pairs(program);
    int checked = 0;
    for_each_pair(program, paired, [&](const Block& merged, const Block&, const Block&) {
        const auto ops = paired.program.operations_of(merged);
        for (std::size_t i = 1; i < ops.size(); ++i) {
            if (ops[i - 1].stream == Stream::kTp && ops[i].stream == Stream::kCompute) {
                const auto deps = paired.program.dependencies_of(ops[i]);
                EXPECT_NE(std::ranges::find(deps, static_cast<std::uint32_t>(i - 1)), deps.end());
                ++checked;
            }
        }
    });
    EXPECT_GT(checked, 100);
}

TEST(MergePairs, are_there_only_where_communication_of_experts_overlaps) {
    models::Plan p;
    p.pp = 2, p.virtual_stages = 2, p.micro_batches = 4, p.ep = 2;
    for (const models::ScheduleKind kind : models::kScheduleKinds) {
        p.schedule = kind;
        p.overlap_ep = false;
        EXPECT_FALSE(pairs_passes(p));
        p.overlap_ep = true;
        EXPECT_EQ(pairs_passes(p), kind == models::ScheduleKind::kDualPipeV ||
                                       kind == models::ScheduleKind::kDualPipe ||
                                       kind == models::ScheduleKind::kInterleaved1f1b);
    }
    p.schedule = models::ScheduleKind::kInterleaved1f1b;
    models::Plan alone = p;
    alone.ep = 1;
    // One forward pass more in front: 2 (pp - r - 1) + (V - 1) pp + 1.
    for (int stage = 0; stage < 2; ++stage) {
        const auto warm_up = [stage](const models::Plan& one) {
            const std::vector<Pass> order = pipeline_order(one, stage);
            return std::ranges::find_if(order, [](const Pass& pass) { return !pass.is_forward(); }) - order.begin();
        };
        EXPECT_EQ(warm_up(p), 2 * (2 - stage - 1) + 2 + 1 + 1);
        EXPECT_EQ(warm_up(alone), 2 * (2 - stage - 1) + 2 + 1);
    }
}

}  // namespace
}  // namespace auspex::schedule
