/// @file Operations of a model of images whose windows are dealt to groups of ranks.
#include <gtest/gtest.h>

#include "../plan_fixture.hpp"
#include "schedule/bindings/bindings.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Aeris {
    models::Workload model = workload("aeris-40b");
    models::Plan plan;
    models::Layout layout;
    Program program;

    Aeris() {
        models::Plan given = testing_plans::plan("aeris-40b");
        given.dp = 432;
        plan = resolve_plan(given, model, 0);
        layout = rank_grid(plan, tiles_of(plan));
        program = build_program(model, plan, stack("bare"), layout);
    }

    /// Of one pass of the stage: operations of the kind and phase, and what they send in all.
    struct Sent {
        int count = 0;
        double bytes = 0;
    };
    [[nodiscard]] Sent sent(int stage, BlockKind block, OpKind kind) const {
        Sent sum;
        for (const BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
            const Block& one = program.blocks[use.block];
            if (one.kind != block || use.micro_batch != 0) {
                continue;
            }
            for (const Operation& op : program.operations_of(one)) {
                sum.count += op.kind == kind ? 1 : 0;
                sum.bytes += op.kind == kind && op.comm != CommKind::kNone ? op.bytes : 0;
            }
        }
        return sum;
    }
};

// t = 720 x 1440 / 432 = 2,400 tokens of H = 6,144 a rank. Heads: 3 t H of queries, keys and values out, t H back. In
// front of each of two layers 1 - 7/8 x 15/16 of t H moves on; not in front of the model's first.
TEST(ImageProgram, a_stage_exchanges_heads_in_nodes_and_moves_what_shifted_windows_take_away) {
    const Aeris aeris;
    const double token = 6144 * 2.0, t = 2400, moved = 1 - 7.0 / 8 * 15 / 16;
    for (const BlockKind pass : {BlockKind::kForward, BlockKind::kBackward}) {
        EXPECT_DOUBLE_EQ(
            aeris.sent(5, pass, OpKind::kTokensToHeads).bytes + aeris.sent(5, pass, OpKind::kHeadsToTokens).bytes,
            2 * 4 * t * token);
        EXPECT_EQ(aeris.sent(5, pass, OpKind::kWindowShift).count, 2);
        EXPECT_DOUBLE_EQ(aeris.sent(5, pass, OpKind::kWindowShift).bytes, 2 * moved * t * token);
        EXPECT_EQ(aeris.sent(1, pass, OpKind::kWindowShift).count, 1);
        EXPECT_EQ(aeris.sent(0, pass, OpKind::kWindowShift).count, 0);
        EXPECT_EQ(aeris.sent(5, pass, OpKind::kKeyValueRing).count + aeris.sent(5, pass, OpKind::kKeyValueGather).count,
                  0);
    }
    EXPECT_DOUBLE_EQ(aeris.sent(5, BlockKind::kForward, OpKind::kSendForward).bytes, t * token);
    EXPECT_EQ(aeris.sent(5, BlockKind::kForward, OpKind::kModulation).count, 2);
    EXPECT_EQ(aeris.sent(5, BlockKind::kBackward, OpKind::kModulation).count, 4);  // of inputs and of weights
    const auto nodes = groups_of(aeris.layout, models::GroupKind::kCpAllToAll, 3);
    EXPECT_EQ(nodes.size(), 36U);
    EXPECT_EQ(nodes[1].front(), 3 * 432 + 12);
    EXPECT_EQ(nodes[1].back(), 3 * 432 + 23);
}

// Three forward passes' FLOP, but no gradient of the input of the embedding's product.
TEST(ImageProgram, flop_are_those_of_the_closed_form) {
    const Aeris aeris;
    double flop = 0;
    for (const Role& role : aeris.program.roles) {
        flop += totals_of(aeris.program, role).useful_flop * aeris.layout.stage_ranks;
    }
    const double tokens = 100.0 * 720 * 1440;
    const double expected = tokens * (3 * count_token_flop(aeris.model).forward() - 2 * 143 * 6144.0);
    EXPECT_NEAR(flop / expected, 1, 1e-12);
}

TEST(ImageProgram, the_trainer_refuses_it_by_name) {
    const Aeris aeris;
    const std::vector<std::string> found = unbound_operations(aeris.model, aeris.plan, stack("auspex"), aeris.program);
    EXPECT_NE(std::ranges::find(found, "operation embedding: a model of images (workload.image) is not bound"),
              found.end());
    EXPECT_NE(std::ranges::find(found, "operation window_shift: no kernel or call in a forward block"), found.end());
}

}  // namespace
}  // namespace auspex::schedule
