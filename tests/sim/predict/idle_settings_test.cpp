/// @file Settings that change nothing, which a prediction says; and what operations are bound by.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../step_fixture.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::predict {
namespace {

using testing_steps::plain_options;
using testing_steps::shipped_inputs;

bool says(const models::Inputs& inputs, const std::string& setting) {
    const std::vector<std::string> notes = predict(inputs, {}).prediction.notes;
    return std::ranges::any_of(notes, [&](const std::string& note) {
        return note.starts_with(setting) && note.find("changes nothing") != std::string::npos;
    });
}

// Of one rank there is nothing to split, send, order or place.
TEST(IdleSettings, are_said_where_there_is_nothing_that_they_act_on) {
    models::Inputs inputs = shipped_inputs("mula-7b-a1b");
    inputs.plan.dp = 2;
    inputs.plan.ep = inputs.plan.tp = inputs.plan.pp = 1;
    inputs.plan.etp_given = false;
    inputs.plan.sequence_parallel = true;
    inputs.plan.dispatch = models::Dispatch::kAllGatherReduceScatter;
    inputs.plan.rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
    inputs.plan.placement = models::PlacementKind::kScattered;
    EXPECT_TRUE(says(inputs, "sequence_parallel"));
    EXPECT_TRUE(says(inputs, "dispatch"));
    EXPECT_TRUE(says(inputs, "rank_order"));
    EXPECT_TRUE(says(inputs, "placement"));
    EXPECT_FALSE(says(inputs, "expert_kernels"));
}

TEST(IdleSettings, are_not_said_of_what_changes_step_or_memory) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 8;
    for (const char* setting : {"recompute \"norm\"", "recompute \"expert\"", "dispatch", "expert_kernels", "optimizer",
                                "placement", "schedule", "sequence_parallel"}) {
        EXPECT_FALSE(says(inputs, setting)) << setting;
    }
    inputs.plan.placement = models::PlacementKind::kScattered;
    EXPECT_FALSE(says(inputs, "placement"));
}

TEST(IdleSettings, of_a_dense_model_are_those_of_experts) {
    models::Inputs inputs = shipped_inputs("mula-1b");
    inputs.plan.expert_kernels = models::ExpertKernels::kLoop;
    EXPECT_TRUE(says(inputs, "expert_kernels"));
    inputs.plan.expert_kernels = models::Plan().expert_kernels;
    EXPECT_FALSE(says(inputs, "expert_kernels"));  // it is what a file has that does not name it
}

TEST(IdleSettings, an_overlap_of_gradients_that_are_summed_in_one_flat_buffer_hides_nothing) {
    models::Inputs inputs = shipped_inputs("mula-1b");
    inputs.stack.can_overlap_dp = true;
    inputs.plan.overlap_dp = true;
    inputs.stack.reduction = models::Reduction::kFlat;
    EXPECT_TRUE(says(inputs, "the overlap of dp"));
    inputs.stack.reduction = models::Reduction::kBucketed;
    inputs.stack.bucket_bytes = 16e6;
    inputs.stack.reduce_scatter_overlaps = true;
    EXPECT_FALSE(says(inputs, "the overlap of dp"));
}

std::string bound_of(const models::Inputs& inputs, const std::string& operation) {
    const std::vector<OperationShare> all = predict(inputs, plain_options(96)).prediction.operations_by_time;
    const auto found = std::ranges::find(all, operation, &OperationShare::name);
    return found == all.end() ? "no such operation" : found->bound_by;
}

TEST(BoundBy, is_what_sets_the_time_of_an_operation) {
    models::Inputs inputs = shipped_inputs("mula-1b");
    inputs.plan.dp = 0;
    const std::string sums = "gradient_reduce_dense";
    models::Inputs narrow = inputs;
    narrow.machine.node.nic_bytes_per_s = 1e6;
    EXPECT_EQ(bound_of(narrow, sums), "NIC");
    models::Inputs late = inputs;
    late.stack.scale_out_message_s = late.stack.scale_up_message_s = 10;
    EXPECT_EQ(bound_of(late, sums), "latency");
    EXPECT_EQ(bound_of(inputs, "optimizer_update"), "memory");
    models::Inputs busy = inputs;
    busy.stack.launch_s = 10;
    EXPECT_EQ(bound_of(busy, "optimizer_update"), "launches");
    models::Inputs weak = inputs;
    weak.machine.tile.gemm_bf16_flop_per_s = 1e9;
    EXPECT_EQ(bound_of(weak, "lm_head"), "arithmetic");
}

// Every operation is bound by one thing, and their times are those of the operations.
TEST(BoundBy, sums_to_the_times_of_operations) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 0;
    const Prediction p = predict(inputs, plain_options(192)).prediction;
    double by_operation_s = 0, by_bound_s = 0;
    for (const OperationShare& share : p.operations_by_time) {
        by_operation_s += share.bound_by.empty() ? 0 : share.seconds;
    }
    for (const BoundShare& share : p.bound_by) {
        by_bound_s += share.seconds;
    }
    EXPECT_NEAR(by_bound_s, by_operation_s, 1e-9);
    EXPECT_GT(by_bound_s, 0.1);
    EXPECT_TRUE(std::ranges::is_sorted(p.bound_by, std::ranges::greater(), &BoundShare::seconds));
}

}  // namespace
}  // namespace auspex::predict
