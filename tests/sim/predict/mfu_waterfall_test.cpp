/// @file From the peak to MFU: rows sum to the step, and their ratios are those of the machine's and the stack's
/// constants.
#include "sim/predict/mfu_waterfall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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

/// The factors from row to row multiply to MFU, and seconds sum to the step, whatever the plan is.
TEST(MfuWaterfall, holds_for_plans_of_all_kinds) {
    const models::Inputs moe = inputs_of("aurora", "optimus", "mula-220b-a10b");
    const auto expect_with = [&](const std::function<void(models::Inputs&)>& change) {
        models::Inputs inputs = moe;
        change(inputs);
        const Prediction p = prediction_of(inputs);
        expect_sums_to_the_step(p);
        double product = 1;
        for (std::size_t row = 1; row < p.waterfall.size(); ++row) {
            product *= p.waterfall[row].mfu / p.waterfall[row - 1].mfu;
        }
        EXPECT_NEAR(product, p.mfu, 1e-9);
        const auto has = [&](const char* cause) {
            return std::ranges::find(p.waterfall, cause, &WaterfallRow::cause) != p.waterfall.end();
        };
        const bool recomputes = inputs.plan.recompute.norm || inputs.plan.recompute.expert;
        EXPECT_EQ(has("recompute"), recomputes);
        EXPECT_EQ(has("bubble"), inputs.plan.pp > 1);
    };
    expect_with([](models::Inputs&) {});
    expect_with([](models::Inputs& inputs) {
        models::Plan& plan = inputs.plan;
        plan.recompute.norm = plan.recompute.attention = plan.recompute.expert = false;
    });
    expect_with([](models::Inputs& inputs) {
        inputs.plan.schedule = models::ScheduleKind::kInterleaved1f1b;
        inputs.plan.virtual_stages = 4;
    });
    expect_with([](models::Inputs& inputs) {
        inputs.plan.pp = 1;
        inputs.plan.tp = 2;
        inputs.plan.dp = 32;
    });
    expect_with([](models::Inputs& inputs) {
        inputs.plan.precision = "fp32";
        inputs.plan.weight_bytes = inputs.plan.gradient_bytes = 4;
    });
    expect_with([](models::Inputs& inputs) {
        inputs.plan.routing.kind = models::RoutingDistribution::kZipf;
        inputs.plan.routing.parameter = 0.4;
    });
}

TEST(MfuWaterfall, of_a_step_by_rank_sums_to_its_median_sample) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-1b");
    PredictOptions options;
    options.tiles = 24;
    options.sensitivity = false;
    options.lens = Lens::kUnfolded;
    models::Inputs any = inputs;
    any.plan.dp = 0;
    expect_sums_to_the_step(predict(any, options).prediction);
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
