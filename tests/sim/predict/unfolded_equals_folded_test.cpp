/// @file The unfolded lens gives what the folded one gives, wherever groups lie alike.
#include <gtest/gtest.h>

#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;

void make_fat_tree(models::Inputs& inputs) {
    models::FabricRecipe& fabric = inputs.machine.fabric;
    fabric.kind = models::FabricKind::kFatTree;
    fabric.levels = 2;
    fabric.nodes_per_leaf = 16;
    fabric.taper = 1;
}

void expect_equal_to_the_bit(const models::Inputs& inputs, int tiles, const std::string& name) {
    const SimulatedStep as_folded = folded(inputs, tiles);
    const UnfoldedSteps steps = play_unfolded(inputs, as_folded, {});
    const UnfoldedSample& by_rank = steps.samples.front();
    EXPECT_EQ(by_rank.step, as_folded.step) << name;
    EXPECT_EQ(by_rank.forward_backward, as_folded.forward_backward) << name;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        EXPECT_EQ(by_rank.losses[loss], as_folded.losses[loss])
            << name << " " << to_string(static_cast<schedule::Loss>(loss));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_for_mixture_of_experts_with_groups_of_every_cards) {
    for (const int tiles : {96, 384, 3072}) {
        expect_equal_to_the_bit(quiet_inputs("mula-220b-a10b"), tiles, "mula-220b " + std::to_string(tiles));
    }
    for (const char* plan : {"mula-20b-a2b", "mula-100b-a7b", "mula-7b-a1b"}) {
        expect_equal_to_the_bit(quiet_inputs(plan), 768, plan);
    }
}

TEST(Unfolded, equals_folded_to_the_bit_with_all_to_all_dispatch) {
    models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    inputs.plan.dispatch = models::Dispatch::kAllToAll;
    expect_equal_to_the_bit(inputs, 384, "one node");
    inputs.plan.ep = 24;
    expect_equal_to_the_bit(inputs, 384, "two nodes");
}

TEST(Unfolded, equals_folded_to_the_bit_for_dense_models_of_one_and_several_stages) {
    expect_equal_to_the_bit(quiet_inputs("mula-1b"), 768, "mula-1b");
    models::Inputs inputs = quiet_inputs("mula-1b");
    for (const int pp : {2, 4, 6, 12}) {  // stages that lie alike on nodes of 12 tiles
        inputs.plan.pp = pp;
        inputs.plan.micro_batches = 2 * pp;
        expect_equal_to_the_bit(inputs, 48 * pp, "pp " + std::to_string(pp));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_with_tensor_parallel_groups_of_every_cards) {
    models::Inputs inputs = quiet_inputs("agpt-70b");
    for (const int tiles : {96, 384}) {
        expect_equal_to_the_bit(inputs, tiles, "agpt-70b " + std::to_string(tiles));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_for_every_optimizer) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware, models::OptimizerSharding::kFsdp}) {
        models::Inputs inputs = quiet_inputs("mula-20b-a2b");
        inputs.plan.optimizer = optimizer;
        expect_equal_to_the_bit(inputs, 384, to_string(optimizer));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_when_the_sums_overlap_compute) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded}) {
        models::Inputs inputs = quiet_inputs("mula-1b", "megatron-deepspeed");
        inputs.plan.optimizer = optimizer;
        inputs.plan.overlap_dp = true;
        expect_equal_to_the_bit(inputs, 384, to_string(optimizer));
    }
    models::Inputs stages = quiet_inputs("mula-220b-a10b", "megatron-deepspeed");
    stages.machine.node.nics = stages.machine.node.tiles;  // else some tiles of a node share a NIC, and others do not
    stages.plan.overlap_dp = true;
    stages.plan.optimizer = models::OptimizerSharding::kSharded;
    expect_equal_to_the_bit(stages, 384, "mula-220b");
}

TEST(Unfolded, equals_folded_to_the_bit_when_first_forward_passes_gather_updated_weights) {
    for (const int pp : {1, 4}) {
        models::Inputs inputs = quiet_inputs("mula-1b", "megatron-deepspeed");
        inputs.plan.pp = pp, inputs.plan.micro_batches = 2 * pp;
        inputs.plan.optimizer = models::OptimizerSharding::kSharded;
        inputs.plan.overlap_dp = true;
        const SimulatedStep behind = folded(inputs, 384);
        inputs.stack.gathers_in_forward = true;
        EXPECT_LT(folded(inputs, 384).step, behind.step) << pp;
        expect_equal_to_the_bit(inputs, 384, "pp " + std::to_string(pp));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_on_a_fat_tree) {
    for (const char* plan : {"mula-220b-a10b", "mula-20b-a2b", "mula-1b"}) {
        models::Inputs inputs = quiet_inputs(plan);
        make_fat_tree(inputs);
        expect_equal_to_the_bit(inputs, 1536, plan);
    }
}

TEST(Unfolded, blocking_and_asynchronous_messages_both_equal_folded_to_the_bit) {
    for (const bool blocking : {false, true}) {
        for (const models::ScheduleKind schedule : {models::ScheduleKind::k1f1b, models::ScheduleKind::kGpipe}) {
            models::Inputs inputs = quiet_inputs("mula-220b-a10b");
            inputs.stack.blocking_sends = blocking;
            inputs.plan.schedule = schedule;
            expect_equal_to_the_bit(inputs, 192, blocking ? "blocking" : "asynchronous");
        }
    }
}

}  // namespace
}  // namespace auspex::predict
