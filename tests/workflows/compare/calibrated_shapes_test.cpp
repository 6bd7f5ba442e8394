/// @file A layout one of whose kernel calls is a shape of calibration, and the same with one token more.
#include "workflows/compare/calibrated_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.hpp"
#include "microbench/kernel_bench.hpp"

namespace auspex::workflows {
namespace {

bool is_calibrated(int tokens, int inner) {
    const std::string root = AUSPEX_SOURCE_DIR;
    models::Inputs inputs = models::load_inputs(
        JsonDocument::load(root + "/machines/aurora.json"), JsonDocument::load(root + "/stacks/auspex.json"),
        JsonDocument::load(root + "/workloads/toy-dense.json"), JsonDocument::load(root + "/plans/toy-dp4.json"));
    inputs.workload.sequence_length = tokens;
    inputs.workload.intermediate_size = inner;
    inputs.workload.hidden_size = 8 * 13, inputs.workload.heads = inputs.workload.kv_heads = 8;
    inputs.workload.head_size = 13, inputs.workload.vocab_size = 1019;
    inputs.plan.dp = 1, inputs.plan.micro_batch_size = 1;
    return has_calibrated_shape(inputs);
}

// A micro-batch of one sequence calls swiglu_forward(rows = tokens, columns = inner).
TEST(CalibratedShapes, are_found_by_all_their_sizes) {
    const std::vector<models::CpuCall> calls = microbench::calibration_calls();
    const auto swiglu = std::ranges::find(calls, models::CpuKernel::kSwigluForward, &models::CpuCall::kernel);
    ASSERT_NE(swiglu, calls.end());
    const int tokens = static_cast<int>(swiglu->rows), inner = static_cast<int>(swiglu->columns);
    EXPECT_TRUE(is_calibrated(tokens, inner));
    EXPECT_FALSE(is_calibrated(tokens + 1, inner));
    EXPECT_FALSE(is_calibrated(tokens, inner + 1));
}

}  // namespace
}  // namespace auspex::workflows
