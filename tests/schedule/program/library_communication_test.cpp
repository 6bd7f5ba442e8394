/// @file What libraries make of messages and of shards, by the bytes that a program's operations send.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "../plan_fixture.hpp"
#include "schedule/inspection/text.hpp"
#include "schedule/program/program.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// Bytes of the operations of a kind in a step of one rank of a stage.
double bytes_of(const Program& program, int stage, OpKind kind) {
    double bytes = 0;
    for (const BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
        for (const Operation& op : program.operations_of(program.blocks[use.block])) {
            bytes += op.kind == kind ? op.repeat * op.bytes : 0;
        }
    }
    return bytes;
}

Program program_of(const models::Workload& model, const models::Plan& p, const models::Stack& s) {
    return build_program(model, p, s, rank_grid(p, tiles_of(p)));
}

// t H activations of 2 bytes: 1 / tp of them leave each of the tp ranks, which hold the same, and are gathered behind
// the receive, in both directions. With sequence parallelism each rank holds a part alone, and nothing is to be
// gathered.
TEST(LibraryCommunication, messages_leave_in_slices_that_are_gathered_where_they_arrive) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = plan("toy-dp4");
    p.dp = 1, p.tp = 2, p.pp = 2, p.micro_batches = 4, p.sequence_parallel = false;
    p = resolve_plan(p, model, 0);
    models::Stack whole = stack("bare"), sliced = whole;
    sliced.scatters_messages = true;
    const double all = 4.0 * p.micro_batch_size * model.sequence_length * model.hidden_size * 2;
    EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, whole), 0, OpKind::kSendForward), all);
    EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, whole), 1, OpKind::kMessageGather), 0);
    const Program in_slices = program_of(model, p, sliced);
    EXPECT_DOUBLE_EQ(bytes_of(in_slices, 0, OpKind::kSendForward), all / 2);
    EXPECT_DOUBLE_EQ(bytes_of(in_slices, 1, OpKind::kSendBackward), all / 2);
    EXPECT_DOUBLE_EQ(bytes_of(in_slices, 0, OpKind::kMessageGather), all);
    EXPECT_DOUBLE_EQ(bytes_of(in_slices, 1, OpKind::kMessageGather), all);
    p.sequence_parallel = true;
    EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, sliced), 1, OpKind::kMessageGather), 0);
    EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, sliced), 0, OpKind::kSendForward), all / 2);
}

// n ranks that share E experts have ceil(E / n) each, filled up where there are fewer.
TEST(LibraryCommunication, more_ranks_than_experts_gather_and_sum_an_expert_a_rank) {
    const models::Workload model = workload("mula-7b-a1b");
    ASSERT_EQ(model.num_experts, 64);
    models::Plan p = plan("toy-dp4");
    p.optimizer = models::OptimizerSharding::kFsdp;
    p.dp = 96;
    p = resolve_plan(p, model, 0);
    models::Stack even = stack("bare"), by_expert = even;
    by_expert.shards_by_expert = true;
    EXPECT_DOUBLE_EQ(expert_padding(model, p, by_expert, 64), 1);
    EXPECT_DOUBLE_EQ(expert_padding(model, p, by_expert, 48), 1.5);
    EXPECT_DOUBLE_EQ(expert_padding(model, p, by_expert, 32), 1);
    for (const OpKind kind : {OpKind::kParameterGatherExperts, OpKind::kGradientReduceExperts}) {
        const double bytes = bytes_of(program_of(model, p, even), 0, kind);
        EXPECT_GT(bytes, 0);
        EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, by_expert), 0, kind), 1.5 * bytes);
    }
    p.reshard_ranks = 12;  // left with neighbours filled up as they are for all
    EXPECT_DOUBLE_EQ(bytes_of(program_of(model, p, by_expert), 0, OpKind::kParameterGatherExperts),
                     1.5 * bytes_of(program_of(model, p, even), 0, OpKind::kParameterGatherExperts));
    p.reshard_ranks = 0, p.ep = 2;
    EXPECT_DOUBLE_EQ(expert_padding(model, p, by_expert, 48), 1);
}

// Every element of a stage once a step: behind the update, or unit by unit in the forward pass of each chunk's first
// micro-batch, whose first gathers wait for nothing.
TEST(LibraryCommunication, updated_weights_are_gathered_behind_the_update_or_in_the_first_forward_passes) {
    models::Stack behind = stack("megatron-core"), ahead = behind;
    behind.gathers_in_forward = false;
    ASSERT_TRUE(ahead.gathers_in_forward);
    for (const char* name : {"mula-7b-a1b", "mula-1b"}) {
        const models::Workload model = workload(name);
        models::Plan p = plan("toy-dp4");
        p.dp = 4, p.pp = 2, p.micro_batches = 4, p.virtual_stages = 2;
        p.schedule = models::ScheduleKind::kInterleaved1f1b, p.overlap_dp = true;
        p.optimizer = models::OptimizerSharding::kEpAware;
        p = resolve_plan(p, model, 0);
        const Program before = program_of(model, p, behind), after = program_of(model, p, ahead);
        for (const int stage : {0, 1}) {
            for (const OpKind kind : {OpKind::kParameterGatherDense, OpKind::kParameterGatherExperts}) {
                EXPECT_NEAR(bytes_of(after, stage, kind), bytes_of(before, stage, kind), 1) << name;
            }
            std::set<std::pair<int, int>> units;  // of chunks
            for (const BlockUse& use : after.roles[static_cast<std::size_t>(stage)].order) {
                const Block& block = after.blocks[use.block];
                for (const Operation& op : after.operations_of(block)) {
                    if (op.kind == OpKind::kParameterGatherDense) {
                        EXPECT_EQ(block.kind, BlockKind::kForward);
                        EXPECT_EQ(use.micro_batch, 0);
                        EXPECT_TRUE(units.insert({block.chunk, op.unit}).second);
                    }
                }
            }
            const std::size_t layers = static_cast<std::size_t>(model.layers) / 2;
            EXPECT_EQ(units.size(), layers + 1) << name;  // and the embedding or the head
        }
        p.overlap_dp = false;
        EXPECT_EQ(program_text(program_of(model, p, ahead)), program_text(program_of(model, p, behind)));
    }
}

}  // namespace
}  // namespace auspex::schedule
