/// @file The simulator's front door, for one layout.
#include "workflows/compare/predictions.hpp"

#include <algorithm>
#include <utility>

namespace auspex::workflows {
namespace {

models::Inputs inputs_at_speed(const CompareCase& one, double core_speed) {
    models::Inputs inputs = one.inputs;
    inputs.machine.cpu = at_speed(inputs.machine.cpu, core_speed);
    return inputs;
}

}  // namespace

void predict_case(const CompareCase& one, double core_speed, evaluate::ComparedCase& compared) {
    predict::PredictOptions wanted;
    wanted.tiles = one.asked_ranks;
    wanted.timeline = true;
    wanted.play_every_operation = true;
    predict::PredictResult result = predict::predict(inputs_at_speed(one, core_speed), wanted);
    const predict::Prediction& prediction = result.prediction;
    compared.nodes = prediction.nodes;
    compared.core_speed = core_speed;
    compared.predicted_step_s = prediction.step_time_s;
    compared.interval_s = prediction.step_time_interval_s;
    compared.predicted_timeline = std::move(result.timeline);
}

void widen_for_background(const CompareCase& one, const std::vector<int>& others, evaluate::ComparedCase& compared) {
    predict::PredictOptions wanted;
    wanted.tiles = one.asked_ranks;
    wanted.background_processes = others;
    const double step_s = predict::predict(inputs_at_speed(one, compared.core_speed), wanted).prediction.step_time_s;
    const double width = compared.interval_s.high / compared.predicted_step_s;
    compared.interval_s.high = std::max(compared.interval_s.high, step_s * width);
}

std::vector<double> steps_without(const models::CpuMechanism& mechanism, const std::vector<const CompareCase*>& cases,
                                  const std::vector<evaluate::ComparedCase>& compared) {
    std::vector<double> steps_s;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        models::Inputs inputs = inputs_at_speed(*cases[i], compared[i].core_speed);
        mechanism.remove(inputs.machine.cpu);
        predict::PredictOptions wanted;
        wanted.tiles = cases[i]->asked_ranks;
        wanted.sensitivity = false;
        steps_s.push_back(predict::predict(inputs, wanted).prediction.step_time_s);
    }
    return steps_s;
}

}  // namespace auspex::workflows
