/// @file Three runs a layout: routing forced, learned, and replayed from the single rank.
#include "workflows/verify/layout_checks.hpp"

#include <chrono>
#include <stdexcept>
#include <tuple>

#include "workflows/verify/differences.hpp"

namespace auspex::workflows {
namespace {

void require_success(const launch::TrainResult& run, const std::string& what) {
    if (!run.error.empty()) {
        throw std::runtime_error(what + ": " + run.error);
    }
}

/// The first difference that was found is the one that is told.
void keep_first(std::string& found, std::string difference, const char* mode) {
    if (found.empty() && !difference.empty()) {
        found = std::move(difference) + " (" + mode + ")";
    }
}

/// Everything but how the optimizer is sharded.
auto all_but_optimizer(const VerifyLayout& l) {
    return std::make_tuple(l.model, l.dp, l.ep, l.tp, l.pp, l.virtual_stages, l.sequence_parallel, l.micro_batch_size,
                           std::string(l.schedule), l.recompute.size(), std::string(l.dispatch),
                           std::string(l.kernels));
}

}  // namespace

void LayoutChecks::run_single(VerifyModel model) {
    VerifyLayout one;
    one.model = model;
    const launch::TrainRequest forced = session_.run_of(one, kForcedRouting, session_.steps());
    Single single;
    single.has_experts = inputs_of_training(forced).workload.num_experts > 0;
    single.forced = run_training(forced, session_.scratch());
    require_success(single.forced, session_.workload_of(model) + " on one rank");
    if (single.has_experts) {
        single.record_file = session_.scratch() + "/routing-" + std::to_string(static_cast<int>(model)) + ".json";
        launch::TrainRequest learned = session_.run_of(one, kLearnedRouting, session_.steps());
        learned.record_routing = single.record_file;
        single.learned = run_training(learned, session_.scratch());
        require_success(single.learned, session_.workload_of(model) + " on one rank, with learned routing");
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
    check.forced = largest_difference(run.losses(), single.forced.losses());
    check.norm = largest_difference(run.by_step(&exec::StepReport::gradient_norm),
                                    single.forced.by_step(&exec::StepReport::gradient_norm));
    const char* const mode = single.has_experts ? "forced" : "no experts";
    keep_first(check.memory, memory_difference(inputs, run, nullptr), mode);
    keep_first(check.counts, counts_difference(inputs, run), mode);
    sharded_.emplace_back(layout, report::OptimizerCheck{layout.grid(), layout.optimizer, measured_optimizer_bytes(run),
                                                         predicted_optimizer_bytes(inputs)});
}

void LayoutChecks::check_learned(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check) {
    exec::RunInputs inputs;
    const std::string file = session_.scratch() + "/routing-of-layout.json";
    const launch::TrainResult run = this->run(layout, kLearnedRouting, file, check, inputs);
    if (!run.error.empty()) {
        return;
    }
    const models::RoutingRecord record = models::read_routing_record(file);
    const std::optional<ChoicePosition> first = first_differing_choice(record, single.record);
    const std::vector<double> losses = run.losses(), of_single = single.learned.losses();
    std::size_t alike = of_single.size();
    check.first_choice = "none";
    if (first) {
        check.first_step = first->step;
        alike = static_cast<std::size_t>(first->step);
        check.first_choice = "step " + std::to_string(first->step) + ", layer " + std::to_string(first->layer) +
                             ", token " + std::to_string(first->token);
    }
    check.learned = losses.size() == of_single.size()
                        ? largest_difference(std::span(losses).first(alike), std::span(of_single).first(alike))
                        : largest_difference(losses, of_single);
    keep_first(check.memory, memory_difference(inputs, run, &record), "learned");
    keep_first(check.counts, counts_difference(inputs, run), "learned");
    add_curve(layout.model, layout.grid() + ": " + layout.choices(), run);
}

void LayoutChecks::check_replayed(const VerifyLayout& layout, const Single& single, report::LayoutCheck& check) {
    exec::RunInputs inputs;
    const launch::TrainResult run = this->run(layout, replayed_routing(single.record_file), "", check, inputs);
    if (!run.error.empty()) {
        return;
    }
    check.replayed = largest_difference(run.losses(), single.learned.losses());
    keep_first(check.memory, memory_difference(inputs, run, &single.record), "replayed");
    keep_first(check.counts, counts_difference(inputs, run), "replayed");
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

std::vector<report::OptimizerCheck> LayoutChecks::optimizers() const {
    for (const auto& [plain, plain_check] : sharded_) {
        for (const auto& [aware, aware_check] : sharded_) {
            if (plain_check.sharding == "sharded" && aware_check.sharding == "ep-aware" && plain.ep > 1 &&
                all_but_optimizer(plain) == all_but_optimizer(aware)) {
                return {plain_check, aware_check};
            }
        }
    }
    return {};
}

}  // namespace auspex::workflows
