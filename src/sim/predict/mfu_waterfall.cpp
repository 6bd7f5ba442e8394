/// @file Ratios of rates and losses as rows that sum to the step.
#include "sim/predict/mfu_waterfall.hpp"

#include "base/time.hpp"
#include "schedule/losses.hpp"

namespace auspex::predict {

std::vector<WaterfallRow> mfu_waterfall(const models::Inputs& inputs, const Prediction& prediction) {
    std::vector<WaterfallRow> rows;
    const double at_peak_s = prediction.mfu * prediction.step_time_s;
    double sum_s = 0;
    const auto add = [&](const char* cause, double seconds) {
        sum_s += seconds;
        rows.push_back({cause, seconds, at_peak_s / sum_s});
    };
    add("peak", at_peak_s);
    const models::Tile& tile = inputs.machine.tile;
    if (prediction.lens != Lens::kCpu && inputs.plan.fp8 == models::Fp8::kNone) {  // else products have two rates
        const double rate = inputs.plan.precision == "fp32" ? tile.gemm_fp32_flop_per_s : tile.gemm_bf16_flop_per_s;
        const double sustained_s = at_peak_s * tile.peak_bf16_flop_per_s / rate;
        const double in_situ_s = sustained_s / tile.gemm_ceiling;
        add("sustained", sustained_s - at_peak_s);
        add("ceiling", in_situ_s - sustained_s);
        add("stack", in_situ_s / inputs.stack.gemm_efficiency - in_situ_s);
    }
    const auto loss_s = [&](schedule::Loss loss) {
        return to_seconds(prediction.losses[static_cast<std::size_t>(loss)]);
    };
    add("shapes", loss_s(schedule::Loss::kUsefulCompute) - sum_s);
    for (std::size_t i = 0; i < schedule::kLossCount; ++i) {
        const auto loss = static_cast<schedule::Loss>(i);
        if (loss != schedule::Loss::kUsefulCompute && prediction.losses[i] != 0) {
            add(to_string(loss), loss_s(loss));
        }
    }
    return rows;
}

}  // namespace auspex::predict
