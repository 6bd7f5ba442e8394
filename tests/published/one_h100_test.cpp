/// @file Training steps on one H100, predicted from kernels that were measured on one, none of them in a training run
/// (one-h100-steps.json, machines/measurements/h100-sxm.csv).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "published_cases.hpp"
#include "sim/predict/predict.hpp"

namespace auspex {
namespace {

using namespace testing_published;

double predicted_s(const JsonValue& root, const JsonValue& row) {
    models::Inputs inputs = inputs_of(root, "llama2-7b", "llama2-7b");
    const JsonValue kernels = root.at("kernels");
    models::Tile& tile = inputs.machine.tile;
    tile.gemm_bf16_flop_per_s = 1e12 * number(kernels, "gemm_bf16_tflops"),
    tile.gemm_ceiling = number(kernels, "gemm_ceiling");
    tile.gemm_half_depth = number(kernels, "gemm_half_depth");
    tile.memory_efficiency = number(kernels, "memory_efficiency");
    const JsonValue attention = kernels.at("attention");
    tile.attention_kernels = {
        {"cudnn", number(attention, "efficiency"), number(attention, "half_sequence"), number(attention, "half_head")}};
    models::Workload& w = inputs.workload;
    w.layers = integer(row, "layers"), w.hidden_size = integer(row, "hidden_size");
    w.heads = integer(row, "heads"), w.kv_heads = integer(row, "kv_heads");
    w.head_size = w.value_head_size = w.hidden_size / w.heads;
    w.intermediate_size = integer(row, "intermediate_size"), w.vocab_size = integer(row, "vocab_size");
    w.sequence_length = integer(row, "sequence_length");
    inputs.plan = models::Plan{};
    inputs.plan.dp = 1;
    inputs.plan.optimizer = models::OptimizerSharding::kReplicated;
    inputs.plan.micro_batch_size = integer(row, "micro_batch_size");
    inputs.plan.recompute.layer = row.at("how").as_string() == "checkpointed";
    const double step_s = predict::predict(inputs, testing_steps::plain_options(1)).prediction.step_time_s;
    // A plan's states are three of 4 bytes: 28 bytes move a parameter. There everything was bf16: 14, and 4 for
    // clipping.
    const double spared_bytes = 10 * count_parameters(w).total();
    return step_s - spared_bytes / (tile.hbm_bytes_per_s * tile.memory_efficiency);
}

// Where the host issues a step in less than the device takes for it, compiled layers take what their kernels say.
// Where the host is the slower, predictions are too short, for this stack has no host.
TEST(OneH100, takes_what_its_kernels_say_where_the_host_does_not_hold_it_up) {
    const JsonDocument document = testing_plans::document("tests/published", "one-h100-steps");
    const JsonValue root = document.root();
    int by_device = 0, by_host = 0;
    for (const JsonValue& row : root.at("rows").elements()) {
        const double measured_s = 1e-3 * number(row, "step_ms"), predicted = predicted_s(root, row);
        const std::string what = row.at("model").as_string() + ", " + std::to_string(integer(row, "sequence_length")) +
                                 " x " + std::to_string(integer(row, "micro_batch_size")) + ", " +
                                 row.at("how").as_string();
        std::printf("%-32s measured %6.1f ms, predicted %6.1f ms, %+5.1f %%\n", what.c_str(), 1e3 * measured_s,
                    1e3 * predicted, 100 * (predicted / measured_s - 1));
        if (number(row, "issue_ms") > 0.75 * number(row, "step_ms")) {
            EXPECT_LT(predicted, measured_s) << what;
            ++by_host;
        } else if (row.at("how").as_string() != "eager") {
            EXPECT_NEAR(predicted / measured_s, 1, number(root, "within")) << what;
            ++by_device;
        }
    }
    EXPECT_GE(by_device, 8);
    EXPECT_GE(by_host, 3);
}

}  // namespace
}  // namespace auspex
