/// @file Three runs a layout: routing forced, learned, and replayed from the single rank.
#include "workflows/verify/layout_checks.hpp"

#include <chrono>

#include "workflows/verify/differences.hpp"

namespace auspex::workflows {
void LayoutChecks::run_single(VerifyModel model) {
    VerifyLayout one;
    one.model = model;
    const launch::TrainRequest forced = session_.run_of(one, kForcedRouting, session_.steps());
    Single single;
    single.has_experts = inputs_of_training(forced).workload.num_experts > 0;
    single.forced = run_training(forced, session_.scratch());
    require_whole(single.forced, session_.steps(), session_.workload_of(model) + " on one rank");
    if (single.has_experts) {
        single.record_file = session_.scratch() + "/routing-" + std::to_string(static_cast<int>(model)) + ".json";
        launch::TrainRequest learned = session_.run_of(one, kLearnedRouting, session_.steps());
        learned.record_routing = single.record_file;
        single.learned = run_training(learned, session_.scratch());
        require_whole(single.learned, session_.steps(),
                      session_.workload_of(model) + " on one rank, with learned routing");
        single.record = models::read_routing_record(single.record_file);
        add_curve(model, "one rank", single.learned);
    }
    singles_[model] = std::move(single);
}

report::LayoutCheck LayoutChecks::check(const VerifyLayout& layout) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const Single& single = singles_.at(layout.model);
    report::LayoutCheck check;
    check.workload = session_.workload_of(layout.model);
    check.grid = layout.grid(), check.choices = layout.choices(), check.ranks = layout.ranks();
    check.first_choice = "-";
    check_forced(layout, single, check);
    if (single.has_experts && check.error.empty()) {
        check_learned(layout, single, check);
    }
    if (single.has_experts && check.error.empty()) {
        check_replayed(layout, single, check);
    }
    check.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return check;
}

launch::TrainResult LayoutChecks::run(const VerifyLayout& layout, const std::string& routing, const std::string& record,
                                      report::LayoutCheck& check, exec::RunInputs& inputs) const {
    launch::TrainRequest wanted = session_.run_of(layout, routing, session_.steps());
    wanted.record_routing = record;
    inputs = inputs_of_training(wanted);
    launch::TrainResult run = run_training(wanted, session_.scratch());
    check.error = session_.without_scratch(run.error);
    return run;
}

void LayoutChecks::check_forced(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check) {
    exec::RunInputs inputs;
    const launch::TrainResult run = this->run(layout, kForcedRouting, "", check, inputs);
    if (!run.error.empty()) {
        return;
    }
    judge_forced(run, single.forced, check);
    judge_bytes(inputs, run, nullptr, single.has_experts ? "forced" : "no experts", check);
    sharded_.push_back(
        {layout, {layout.grid(), layout.optimizer, measured_optimizer_bytes(run), predicted_optimizer_bytes(inputs)}});
}

void LayoutChecks::check_learned(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check) {
    exec::RunInputs inputs;
    const std::string file = session_.scratch() + "/routing-of-layout.json";
    const launch::TrainResult run = this->run(layout, kLearnedRouting, file, check, inputs);
    if (!run.error.empty()) {
        return;
    }
    const models::RoutingRecord record = models::read_routing_record(file);
    judge_learned(run, record, single.learned, single.record, check);
    judge_bytes(inputs, run, &record, "learned", check);
    add_curve(layout.model, layout.grid() + ": " + layout.choices(), run);
}

void LayoutChecks::check_replayed(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check) {
    exec::RunInputs inputs;
    const launch::TrainResult run = this->run(layout, replayed_routing(single.record_file), "", check, inputs);
    if (!run.error.empty()) {
        return;
    }
    judge_replayed(run, single.learned, check);
    judge_bytes(inputs, run, &single.record, "replayed", check);
}

void LayoutChecks::add_curve(VerifyModel model, const std::string& name, const launch::TrainResult& run) {
    constexpr std::size_t kMax = 5;
    if (model != VerifyModel::kExperts || curves_.size() >= kMax) {
        return;
    }
    report::LossCurve& curve = curves_.emplace_back(report::LossCurve{name, {}});
    for (const exec::StepReport& step : run.steps) {
        curve.points.push_back({step.step, step.loss});
    }
}

}  // namespace auspex::workflows
