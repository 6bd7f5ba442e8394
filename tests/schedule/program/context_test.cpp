/// @file Operations of ranks that share a sequence: what every way to reach keys and values computes and sends.
#include <gtest/gtest.h>

#include <string>

#include "../plan_fixture.hpp"
#include "base/error.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;
using models::ContextParallel;

struct Built {
    models::Workload model;
    models::Plan plan;
    Program program;

    Built(const models::Workload& of, models::Plan given, ContextParallel kind, int all_to_all = 1) : model(of) {
        given.context = kind, given.context_all_to_all = all_to_all;
        plan = resolve_plan(given, model, 0);
        const models::Layout layout = rank_grid(plan, tiles_of(plan));
        program = build_program(model, plan, stack("bare"), layout);
    }

    /// Of the first layer, once a pass: all operations of the kinds in the phase.
    [[nodiscard]] double flop(Phase phase) const {
        double sum = 0;
        for (const Operation& op : program.operations) {
            const bool attends = op.kind == OpKind::kAttention || op.kind == OpKind::kAttentionOfOthers;
            if (attends && op.layer == 0 && op.phase == phase && op.comm == CommKind::kNone) {
                for (const models::Kernel& kernel : program.kernels_of(op)) {
                    sum += kernel.flop;
                }
            }
        }
        return sum / passes(phase);
    }
    [[nodiscard]] double sent(OpKind kind, Phase phase) const {
        double sum = 0;
        for (const Operation& op : program.operations) {
            sum += op.kind == kind && op.layer == 0 && op.phase == phase ? op.bytes * op.repeat : 0;
        }
        return sum / passes(phase);
    }
    /// Blocks that have the first layer's attention in this phase.
    [[nodiscard]] double passes(Phase phase) const {
        double count = 0;
        for (const Operation& op : program.operations) {
            count += op.kind == OpKind::kAttention && op.layer == 0 && op.phase == phase ? 1 : 0;
        }
        return count;
    }
};

/// 32 heads of queries and 8 of keys and values of 128, tp 1, cp 4, sequences of 8,192.
models::Plan plan_of_cp(int cp) {
    models::Plan p = plan("llama3-70b");
    p.tp = 1, p.cp = cp, p.dp = cp, p.pp = 1, p.ep = 1, p.micro_batches = 1;
    p.etp_given = p.sequence_parallel = p.recompute.attention = p.recompute.norm = p.recompute.expert = false;
    p.optimizer = models::OptimizerSharding::kReplicated;
    return p;
}

// t = S / cp tokens; a ring sends the rank's keys and values r - 1 times, backward with their gradients, which go once
// more; an all-to-all queries, keys and values of t tokens, and their outputs; two levels do both.
TEST(Context, every_way_computes_the_same_and_sends_what_its_algorithm_does) {
    const models::Workload model = workload("llama3-70b");
    const int cp = 4;
    const double t = static_cast<double>(model.sequence_length) / cp, kv = 2.0 * model.kv_heads * model.head_size,
                 q = static_cast<double>(model.heads) * model.head_size, a = 2;
    const Built gather(model, plan_of_cp(cp), ContextParallel::kAllGather);
    const Built ring(model, plan_of_cp(cp), ContextParallel::kRing);
    const Built exchange(model, plan_of_cp(cp), ContextParallel::kAllToAll);
    const Built both(model, plan_of_cp(cp), ContextParallel::kTwoLevel, 2);
    for (const Phase phase : {Phase::kForward, Phase::kBackwardInput}) {
        for (const Built* one : {&ring, &exchange, &both}) {
            EXPECT_NEAR(one->flop(phase), gather.flop(phase), 1e-9 * gather.flop(phase));
        }
        const double times = phase == Phase::kForward ? 1 : 2, home = phase == Phase::kForward ? 0 : 1;
        EXPECT_DOUBLE_EQ(gather.sent(OpKind::kKeyValueGather, phase), t * cp * kv * a);
        EXPECT_DOUBLE_EQ(ring.sent(OpKind::kKeyValueRing, phase), ((cp - 1) * times + home) * t * kv * a);
        EXPECT_DOUBLE_EQ(both.sent(OpKind::kKeyValueRing, phase), (times + home) * t * kv * a);
        for (const Built* one : {&exchange, &both}) {
            EXPECT_DOUBLE_EQ(one->sent(OpKind::kTokensToHeads, phase) + one->sent(OpKind::kHeadsToTokens, phase),
                             (2 * q + kv) * t * a);
        }
        EXPECT_EQ(exchange.sent(OpKind::kKeyValueRing, phase) + ring.sent(OpKind::kTokensToHeads, phase), 0);
    }
}

// 8 heads of keys and values among 16 ranks: each goes to two.
TEST(Context, heads_of_keys_that_are_fewer_than_ranks_are_sent_to_several) {
    const models::Workload model = workload("llama3-70b");
    const int cp = 16;
    const Built exchange(model, plan_of_cp(cp), ContextParallel::kAllToAll);
    const double t = static_cast<double>(model.sequence_length) / cp, kv = 2.0 * model.kv_heads * model.head_size,
                 q = static_cast<double>(model.heads) * model.head_size;
    EXPECT_DOUBLE_EQ(exchange.sent(OpKind::kTokensToHeads, Phase::kForward), (q + 2 * kv) * t * 2);
}

TEST(Context, groups_of_two_levels_are_neighbours_and_one_of_each) {
    const Built both(workload("llama3-70b"), plan_of_cp(8), ContextParallel::kTwoLevel, 2);
    const models::Layout layout = rank_grid(both.plan, 8);
    using Groups = std::vector<std::vector<int>>;
    EXPECT_EQ(groups_of(layout, models::GroupKind::kCpAllToAll, 0), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(groups_of(layout, models::GroupKind::kCpRing, 0), (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
}

TEST(Context, what_does_not_divide_is_refused_by_field) {
    const auto error = [](int cp, ContextParallel kind, int all_to_all, int sequence) -> std::string {
        models::Workload model = workload("llama3-70b");
        model.sequence_length = sequence;
        try {
            const Built built(model, plan_of_cp(cp), kind, all_to_all);
        } catch (const InputError& refused) {
            return refused.what();
        }
        return "accepted";
    };
    const auto names = [](const std::string& text, const char* field) {
        return text.find(std::string("$.") + field + ": found") != std::string::npos;
    };
    EXPECT_EQ(error(8, ContextParallel::kRing, 1, 8192), "accepted");
    EXPECT_PRED2(names, error(8, ContextParallel::kRing, 1, 8200), "cp");
    EXPECT_EQ(error(8, ContextParallel::kAllToAll, 1, 8200), "accepted");
    EXPECT_PRED2(names, error(3, ContextParallel::kAllToAll, 1, 8190), "cp");
    EXPECT_PRED2(names, error(8, ContextParallel::kTwoLevel, 3, 8192), "context_all_to_all");
    EXPECT_PRED2(names, error(8, ContextParallel::kTwoLevel, 8, 8192), "context_all_to_all");
}

}  // namespace
}  // namespace auspex::schedule
