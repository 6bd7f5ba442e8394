/// @file The simulator's front door, for one layout.
#include "workflows/compare/predictions.hpp"

#include <algorithm>
#include <utility>

namespace auspex {
namespace {

Inputs inputs_at_speed(const CompareCase& one, double core_speed) {
    Inputs inputs = one.inputs;
    inputs.machine.cpu = at_speed(inputs.machine.cpu, core_speed);
    return inputs;
}

}  // namespace

void predict_case(const CompareCase& one, double core_speed, ComparedCase& compared) {
    PredictOptions wanted;
    wanted.tiles = one.asked_ranks;
    wanted.timeline = true;
    wanted.play_every_operation = true;
    PredictResult result = predict(inputs_at_speed(one, core_speed), wanted);
    const Prediction& prediction = result.prediction;
    compared.nodes = prediction.nodes;
    compared.core_speed = core_speed;
    compared.predicted_step_s = prediction.step_time_s;
    compared.interval_low_s = prediction.step_time_interval_s[0];
    compared.interval_high_s = prediction.step_time_interval_s[1];
    compared.predicted_timeline = std::move(result.timeline);
}

void widen_for_background(const CompareCase& one, const std::vector<int>& others, ComparedCase& compared) {
    PredictOptions wanted;
    wanted.tiles = one.asked_ranks;
    wanted.background_processes = others;
    const double step_s = predict(inputs_at_speed(one, compared.core_speed), wanted).prediction.step_time_s;
    const double width = compared.interval_high_s / compared.predicted_step_s;
    compared.interval_high_s = std::max(compared.interval_high_s, step_s * width);
}

}  // namespace auspex
