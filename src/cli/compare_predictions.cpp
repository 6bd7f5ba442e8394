/// @file The simulator's front door, for one layout.
#include "cli/compare_predictions.hpp"

#include <utility>

namespace auspex {
namespace {

void change_speed(Host& host, double factor) {
    for (auto& laws : host.laws) {
        for (CpuLaw& law : laws) {
            for (double& seconds : law.seconds_per) {
                seconds /= factor;
            }
        }
    }
}

}  // namespace

void predict_case(const CompareCase& one, double core_speed, ComparedCase& compared) {
    Inputs inputs = one.inputs;
    change_speed(inputs.machine.host, core_speed);
    PredictOptions wanted;
    wanted.tiles = one.asked_ranks;
    wanted.timeline = true;
    wanted.play_every_operation = true;
    PredictResult result = predict(inputs, wanted);
    const Prediction& prediction = result.prediction;
    compared.nodes = prediction.nodes;
    compared.core_speed = core_speed;
    compared.predicted_step_s = prediction.step_time_s;
    compared.interval_low_s = prediction.step_time_interval_s[0];
    compared.interval_high_s = prediction.step_time_interval_s[1];
    compared.predicted_timeline = std::move(result.timeline);
}

}  // namespace auspex
