/// @file Layers of mixtures on one H100, beside what the eager stack's kernels are predicted to take there
/// (one-h100-mixtures.json): nothing of it is fitted but the stack's time to issue a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "published_cases.hpp"
#include "sim/engine/host_issue.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex {
namespace {

using namespace testing_published;

/// Two layers more or less, on as many tiles as experts are dealt over.
models::Inputs inputs_of_layers(const JsonValue& root, const JsonValue& row, int layers) {
    models::Inputs inputs = inputs_of(root, "qwen3-30b-a3b", "llama2-7b");
    models::Workload& w = inputs.workload;
    w.layers = layers;
    w.sequence_length = integer(row, "tokens");
    if (row.at("model").as_string() == "gpt-oss-120b") {
        w.hidden_size = w.expert_size = 2880;
        w.heads = 64, w.kv_heads = 8, w.head_size = w.value_head_size = 64;
        w.num_experts = 128, w.top_k = 4;
        w.qk_norm = false;
    }
    inputs.plan = models::Plan{};
    inputs.plan.dp = 1;
    inputs.plan.ep = integer(row, "ep");
    inputs.plan.optimizer = models::OptimizerSharding::kEpAware;
    inputs.plan.micro_batch_size = integer(row, "micro_batch_size");
    return inputs;
}

struct LayerPass {
    double device_s = 0, kernels = 0;  ///< forward and backward
};

LayerPass sum_of_passes(const JsonValue& root, const JsonValue& row, int layers) {
    models::Inputs inputs = inputs_of_layers(root, row, layers);
    inputs.stack.issue_s = 1;
    inputs.stack.collective_issue_s = inputs.stack.collective_check_s = 0;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options(inputs.plan.ep));
    LayerPass sum;
    for (const schedule::Block& block : step.program.blocks) {
        if (block.kind == schedule::BlockKind::kOptimizer) {
            continue;
        }
        sum.kernels += engine::host_issue_s(step.program, block, inputs.stack, step.layout);
        for (const schedule::Operation& op : step.program.operations_of(block)) {
            for (const models::Kernel& kernel : step.program.kernels_of(op)) {
                const models::KernelTime time = kernel_time(kernel, inputs.machine, inputs.stack);
                sum.device_s += time.rate_bound_s + time.overhead_s;
            }
        }
    }
    return sum;
}

LayerPass layer_of(const JsonValue& root, const JsonValue& row) {
    const LayerPass few = sum_of_passes(root, row, 2), more = sum_of_passes(root, row, 4);
    return {(more.device_s - few.device_s) / 2, (more.kernels - few.kernels) / 2};
}

TEST(OneH100, layers_of_mixtures_take_what_kernels_and_host_are_predicted_to) {
    const JsonDocument document = testing_plans::document("tests/published", "one-h100-mixtures");
    const JsonValue root = document.root();
    const double issue_s = inputs_of(root, "qwen3-30b-a3b", "llama2-7b").stack.issue_s;
    for (const JsonValue& row : root.at("rows").elements()) {
        const LayerPass layer = layer_of(root, row);
        const double predicted_s = std::max(layer.device_s, layer.kernels * issue_s);
        const double measured_s = 1e-3 * number(row, "layer_ms");
        std::printf("%-14s %4d tokens x %d: measured %5.2f ms, %3.0f kernels; predicted %5.2f ms, %3.0f kernels\n",
                    row.at("model").as_string().c_str(), integer(row, "tokens"), integer(row, "micro_batch_size"),
                    1e3 * measured_s, number(row, "kernels"), 1e3 * predicted_s, layer.kernels);
        EXPECT_NEAR(predicted_s / measured_s, 1, 0.2);
        EXPECT_NEAR(layer.kernels / number(row, "kernels"), 1, 0.2);
    }
}

// The time to issue a kernel is the median of what the host needs here, to a fifth.
TEST(OneH100, issues_a_kernel_in_the_time_that_the_stack_says) {
    const JsonDocument document = testing_plans::document("tests/published", "one-h100-mixtures");
    const JsonValue root = document.root();
    std::vector<double> each_s;
    for (const JsonValue& row : root.at("per_expert").elements()) {
        each_s.push_back(1e-3 * number(row, "issue_ms") / number(row, "kernels"));
    }
    std::ranges::sort(each_s);
    const double median_s = (each_s[1] + each_s[2]) / 2;
    EXPECT_NEAR(inputs_of(root, "qwen3-30b-a3b", "llama2-7b").stack.issue_s / median_s, 1, 0.2);
}

}  // namespace
}  // namespace auspex
