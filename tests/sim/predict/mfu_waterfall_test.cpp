/// @file From the peak to MFU: rows sum to the step, and their ratios are those of the machine's and the stack's
/// constants.
#include "sim/predict/mfu_waterfall.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::predict {
namespace {

JsonDocument input(const std::string& path) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + path + ".json");
}

models::Inputs inputs_of(const std::string& machine, const std::string& stack, const std::string& model) {
    return models::load_inputs(input("machines/" + machine), input("stacks/" + stack), input("workloads/" + model),
                               input("plans/" + model));
}

Prediction prediction_of(const models::Inputs& inputs) {
    PredictOptions options;
    options.sensitivity = false;
    return predict(inputs, options).prediction;
}

void expect_sums_to_the_step(const Prediction& prediction) {
    double sum_s = 0;
    for (const WaterfallRow& row : prediction.waterfall) {
        sum_s += row.seconds;
        EXPECT_NEAR(row.mfu, prediction.mfu * prediction.step_time_s / sum_s, 1e-12) << row.cause;
    }
    EXPECT_NEAR(sum_s, prediction.step_time_s, 1e-9 * prediction.step_time_s);
    EXPECT_NEAR(prediction.waterfall.back().mfu, prediction.mfu, 1e-9);
    EXPECT_EQ(prediction.waterfall.front().mfu, 1);
}

TEST(MfuWaterfall, rows_sum_to_the_step_and_end_at_mfu) {
    expect_sums_to_the_step(prediction_of(inputs_of("aurora", "optimus", "mula-220b-a10b")));
    expect_sums_to_the_step(prediction_of(inputs_of("aurora", "megatron-deepspeed", "agpt-70b")));
    expect_sums_to_the_step(prediction_of(inputs_of("dgx-h100", "bare", "llama3-70b")));
}

// peak / gemm, 1 / gemm_ceiling and 1 / gemm_efficiency, one on top of the other.
TEST(MfuWaterfall, rates_are_those_of_machine_and_stack) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-220b-a10b");
    const std::vector<WaterfallRow> rows = prediction_of(inputs).waterfall;
    ASSERT_GT(rows.size(), 5U);
    const models::Tile& tile = inputs.machine.tile;
    EXPECT_NEAR(rows[1].mfu, tile.gemm_bf16_flop_per_s / tile.peak_bf16_flop_per_s, 1e-12);
    EXPECT_NEAR(rows[2].mfu / rows[1].mfu, tile.gemm_ceiling, 1e-12);
    EXPECT_NEAR(rows[3].mfu / rows[2].mfu, inputs.stack.gemm_efficiency, 1e-12);
    EXPECT_EQ(rows[4].cause, "shapes");
    EXPECT_GT(rows[4].seconds, 0);
}

}  // namespace
}  // namespace auspex::predict
