/// @file Rates from a few operations whose times are made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compare/kineto/explain/explain.hpp"
#include "made_up_trace.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::kineto {
namespace {

/// Bytes of an operation, and measured over predicted.
struct Seen {
    double bytes = 0, ratio = 1;
};

/// A kernel, and measured over predicted.
struct SeenKernel {
    models::Kernel kernel;
    double ratio = 1;
};

/// Each of them an operation of its own name.
RunDiff explained(const models::Inputs& inputs, const std::vector<SeenKernel>& all) {
    schedule::Program program;
    MatchedRank rank;
    for (const SeenKernel& seen : all) {
        const auto number = static_cast<std::uint32_t>(program.operations.size());
        schedule::Operation operation;
        operation.kind = static_cast<schedule::OpKind>(number);
        program.operations.push_back(operation);
        program.kernels.push_back(seen.kernel);
        Slot slot;
        slot.operation = slot.kernel = number;
        slot.type = seen.kernel.type;
        slot.kernel_s = models::kernel_time(seen.kernel, inputs.machine, inputs.stack).rate_bound_s;
        rank.predicted.slots.push_back(slot);
        MeasuredKernel kernel;
        kernel.end = static_cast<Picoseconds>(seen.ratio * slot.kernel_s * 1e12);
        rank.measured.kernels.push_back(kernel);
        rank.match.slot.push_back(number);
    }
    RunDiff diff;
    explain_kernels(diff, {rank}, inputs, program);
    return diff;
}

/// Bound by memory.
RunDiff explained(const models::Inputs& inputs, const std::vector<Seen>& all) {
    std::vector<SeenKernel> kernels;
    for (const Seen& seen : all) {
        kernels.push_back({models::memory_kernel(seen.bytes, 1), seen.ratio});
    }
    return explained(inputs, kernels);
}

bool has_note(const RunDiff& diff, const std::string& words) {
    return std::ranges::any_of(diff.notes,
                               [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

/// One of most weight, eight small ones.
std::vector<Seen> one_large(double ratio_of_large) {
    std::vector<Seen> all(9, {1e8, 1.13});
    all.front() = {1e10, ratio_of_large};
    return all;
}

// memory_efficiency of dgx-h100 is 0.85: 0.27 of the time predicted is 0.27 / 0.85 of what the bytes take at 3.35 TB/s.
TEST(ExplainKernels, less_time_than_bytes_take_tells_of_bytes) {
    const models::Inputs inputs =
        testing_traces::inputs_of("dgx-h100", "nanotron", "llama3-70b", "llama3-70b", {{"plan.dp", "1"}});
    const RunDiff diff = explained(inputs, one_large(0.27));
    ASSERT_EQ(diff.constants.size(), 1U);
    EXPECT_EQ(diff.constants[0].path, "machine.tile.memory_efficiency");
    EXPECT_NEAR(diff.constants[0].explaining, inputs.machine.tile.memory_efficiency / 1.13, 1e-4);
    EXPECT_EQ(diff.constants[0].count, 8);
    EXPECT_TRUE(has_note(diff, schedule::operation_name(0) + " took 27 % of the time predicted, less than its bytes"));
    EXPECT_TRUE(has_note(diff, "machine.tile.hbm_bandwidth (3.35 TB/s, specified): the model's bytes"));
    const RunDiff alone = explained(inputs, std::vector<Seen>{{1e10, 0.27}});
    EXPECT_TRUE(alone.constants.empty());
    EXPECT_TRUE(has_note(alone, "too many"));
}

TEST(ExplainKernels, a_bandwidth_that_was_measured_may_be_larger) {
    const models::Inputs inputs =
        testing_traces::inputs_of("aurora", "optimus", "mula-20b-a2b", "mula-20b-a2b", {{"plan.dp", "1"}});
    const RunDiff diff = explained(inputs, std::vector<Seen>{{1e10, 0.5}});
    ASSERT_EQ(diff.constants.size(), 1U);
    EXPECT_EQ(diff.constants[0].path, "machine.tile.hbm_bandwidth");
    EXPECT_NEAR(diff.constants[0].explaining / diff.constants[0].value, 2, 1e-4);
}

// Attention that takes 1.25 times as long has 1 / 1.25 of the rate of the kernel that the stack uses.
TEST(ExplainKernels, attention_tells_of_the_kernel_in_use) {
    models::Kernel attention;
    attention.type = models::KernelType::kAttention;
    attention.work_flop = 1e12, attention.m = 4096, attention.k = 128;
    for (const auto& [stack, path] :
         {std::pair{"nanotron", "machine.tile.attention_kernels.flash-attention-2.efficiency"},
          std::pair{"megatron-core", "machine.tile.attention_kernels.cudnn.efficiency"}}) {
        const models::Inputs inputs =
            testing_traces::inputs_of("dgx-h100", stack, "llama3-70b", "llama3-70b", {{"plan.dp", "1"}});
        const RunDiff diff = explained(inputs, std::vector<SeenKernel>{{attention, 1.25}});
        ASSERT_EQ(diff.constants.size(), 1U);
        EXPECT_EQ(diff.constants[0].path, path);
        EXPECT_NEAR(diff.constants[0].explaining * 1.25, diff.constants[0].value, 1e-4);
    }
}

// ln(3.2 / 1.13) is above 1: the middle with the large one and the middle without it have no rate in common.
TEST(ExplainKernels, operations_that_disagree_have_no_one_rate) {
    const models::Inputs inputs =
        testing_traces::inputs_of("dgx-h100", "nanotron", "llama3-70b", "llama3-70b", {{"plan.dp", "1"}});
    const RunDiff diff = explained(inputs, one_large(3.2));
    EXPECT_TRUE(diff.constants.empty());
    EXPECT_TRUE(has_note(diff, "spreads by 104 % about its middle, with and without " + schedule::operation_name(0)));
    const RunDiff less = explained(inputs, one_large(1.5));
    ASSERT_EQ(less.constants.size(), 1U);
    EXPECT_NEAR(less.constants[0].spread, std::log(1.5 / 1.13), 0.01);
}

}  // namespace
}  // namespace auspex::kineto
