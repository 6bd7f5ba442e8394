/// @file Names to files, cases to inputs, inputs to predictions.
#include "workflows/validate/validate.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/runs/run_groups.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "compare/evaluate/runs/run_names.hpp"
#include "compare/evaluate/runs/run_spread.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"
#include "models/inputs.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::workflows {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& place) {
    if (!fs::is_directory(place)) {
        return {place};
    }
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    if (files.empty()) {
        throw InputError("--cases " + place, "found a folder without JSON files; expected files of published runs");
    }
    return files;
}

/// A machine or stack, from the folder where one is given.
std::string place_of(const std::string& name, const std::string& folder) {
    return folder.empty() ? name : folder + "/" + name + ".json";
}

JsonDocument load_names(std::vector<ReadFile>& files) {
    JsonDocument document = JsonDocument::load(launch::find_input("published-names", "runs"));
    files.push_back({"names", document.name(), document.sha256()});
    return document;
}

class Validation {
 public:
    Validation(const ValidateRequest& request, const evaluate::RunNames& names) : request_(request), names_(names) {
        launch::require_roles(request.overrides, {"machine", "stack"});
    }

    /// The step of a predicted run with one more setting.
    [[nodiscard]] double step_with(const evaluate::ValidatedRun& one, const std::string& setting) const {
        evaluate::ValidatedRun again = one;
        const models::Inputs inputs =
            inputs_of(again, *hardware_of(names_, one.run), *framework_of(names_, one.run), {setting});
        predict::PredictOptions options;
        options.tiles = one.run.gpus;
        options.sensitivity = false;
        return predict::predict(inputs, options).prediction.step_time_s;
    }

    /// Loads the machine and the stack of every run with their settings: what is wrong with files or --set is an error,
    /// not a case that cannot be mapped.
    void check_files(const std::vector<evaluate::PublishedRun>& runs) const {
        std::set<std::pair<const evaluate::RunNames::Hardware*, const evaluate::RunNames::Framework*>> done;
        for (const evaluate::PublishedRun& run : runs) {
            const auto* const hardware = hardware_of(names_, run);
            const auto* const framework = framework_of(names_, run);
            if (hardware == nullptr || framework == nullptr || !done.insert({hardware, framework}).second) {
                continue;
            }
            for (const bool is_compiled : {false, true}) {
                const std::vector<std::string> settings = settings_of(*hardware, *framework, is_compiled);
                static_cast<void>(models::load_machine(
                    launch::load_document("machine", place_of(hardware->machine, request_.machines), settings)));
                static_cast<void>(models::load_stack(
                    launch::load_document("stack", place_of(framework->stack, request_.stacks), settings)));
            }
        }
    }

    [[nodiscard]] evaluate::ValidatedRun validated(evaluate::PublishedRun run) const {
        evaluate::ValidatedRun one;
        one.run = std::move(run);
        try {
            predict_run(one);
        } catch (const InputError& error) {
            one.why_unmapped = error.what();
        }
        return one;
    }

 private:
    void predict_run(evaluate::ValidatedRun& one) const {
        const evaluate::PublishedRun& run = one.run;
        const evaluate::RunNames::Hardware* const hardware = hardware_of(names_, run);
        const evaluate::RunNames::Framework* const framework = framework_of(names_, run);
        if (hardware == nullptr || framework == nullptr) {
            throw InputError(run.id, hardware == nullptr
                                         ? "found GPU \"" + run.gpu + "\", which no machine here has"
                                         : "found framework \"" + run.framework + "\", which no stack here is");
        }
        one.machine = hardware->machine;
        one.stack = framework->stack;
        const std::optional<evaluate::MeasuredStep> measured = measured_step(run);
        if (!measured) {
            throw InputError(run.id,
                             "found no time of a step, and FLOP that are counted in a way that is not known: \"" +
                                 run.flop_convention + "\"");
        }
        one.measured = *measured;
        one.is_fitted = is_fitted(names_, run);
        one.why = reason_of(names_, run);
        predict::PredictOptions options;
        options.tiles = run.gpus;
        const bool is_recompute_assumed = run.workload_file.empty() && is_recompute_unstated(run);
        const models::Inputs inputs = fastest_inputs(one, *hardware, *framework, options);
        one.traits = evaluate::traits_of(inputs, run.gpus);
        one.traits.is_recompute_assumed = is_recompute_assumed;
        const predict::Prediction prediction = predict::predict(inputs, options).prediction;
        one.predicted_s = prediction.step_time_s;
        one.constants_s = prediction.step_time_interval_s;
        one.losses = prediction.losses;
        if (!prediction.memory.fits) {
            one.notes.push_back("predicted not to fit: recomputation or memory differs from the run's");
        }
        one.predicted_memory_bytes = static_cast<double>(prediction.memory.peak_bytes);
    }

    /// Of what the run leaves open, what is predicted to be fastest of all that fits; where nothing fits, the least.
    /// The run then has it, with a note.
    [[nodiscard]] models::Inputs fastest_inputs(evaluate::ValidatedRun& one,
                                                const evaluate::RunNames::Hardware& hardware,
                                                const evaluate::RunNames::Framework& framework,
                                                const predict::PredictOptions& options) const {
        const std::vector<evaluate::PublishedRun> choices = evaluate::open_choices(one.run, framework);
        const evaluate::PublishedRun run = one.run;
        evaluate::ValidatedRun chosen;
        std::optional<models::Inputs> best;
        std::optional<InputError> refused;
        constexpr Picoseconds kNone = std::numeric_limits<Picoseconds>::max();
        Picoseconds best_step = kNone;
        double least_bytes = std::numeric_limits<double>::max();
        for (const evaluate::PublishedRun& choice : choices) {
            evaluate::ValidatedRun attempt = one;
            attempt.run = choice;
            try {
                models::Inputs inputs = inputs_of(attempt, hardware, framework, {});
                std::ranges::move(evaluate::notes_of_choice(run, choice), std::back_inserter(attempt.notes));
                if (choices.size() == 1) {
                    chosen = std::move(attempt);
                    best = std::move(inputs);
                    break;
                }
                const predict::SimulatedStep step = predict::simulate_step(inputs, options, false);
                const predict::MemoryReport memory = predict::memory_report(inputs, step);
                const bool is_better =
                    memory.fits ? step.step < best_step : best_step == kNone && memory.peak_bytes < least_bytes;
                if (is_better) {
                    best_step = memory.fits ? step.step : best_step;
                    least_bytes = memory.peak_bytes;
                    best = std::move(inputs);
                    chosen = std::move(attempt);
                }
            } catch (const InputError& error) {
                refused = error;  // no plan has such micro-batches
            }
        }
        if (!best) {
            throw refused.value();
        }
        one = std::move(chosen);
        return std::move(*best);
    }

    [[nodiscard]] std::vector<std::string> settings_of(const evaluate::RunNames::Hardware& hardware,
                                                       const evaluate::RunNames::Framework& framework,
                                                       bool is_compiled) const {
        std::vector<std::string> settings = hardware.set;
        settings.insert(settings.end(), framework.set.begin(), framework.set.end());
        if (is_compiled) {
            settings.insert(settings.end(), framework.set_compiled.begin(), framework.set_compiled.end());
        }
        settings.insert(settings.end(), request_.overrides.begin(), request_.overrides.end());
        return settings;
    }

    /// Fills in what the case is as files: texts, settings, notes.
    [[nodiscard]] models::Inputs inputs_of(evaluate::ValidatedRun& one, const evaluate::RunNames::Hardware& hardware,
                                           const evaluate::RunNames::Framework& framework,
                                           const std::vector<std::string>& more) const {
        const bool has_files = !one.run.workload_file.empty();
        evaluate::RunInputTexts texts = has_files ? evaluate::RunInputTexts{} : run_inputs(one.run, framework);
        one.notes = std::move(texts.notes);
        std::vector<std::string> settings = settings_of(hardware, framework, one.run.plan.is_compiled);
        settings.insert(settings.end(), more.begin(), more.end());
        JsonDocument plan = has_files ? launch::load_document("plan", one.run.plan_file, {})
                                      : JsonDocument::parse(texts.plan, one.run.id + " (plan)");
        for (const std::string& text : settings) {
            if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
                plan.set(parts.path, parts.value);
            } else {
                one.settings.push_back(text);
            }
        }
        JsonDocument workload = has_files ? launch::load_document("workload", one.run.workload_file, {})
                                          : JsonDocument::parse(texts.workload, one.run.id + " (workload)");
        one.workload = workload.indented(), one.plan = plan.indented();
        models::Inputs inputs = models::load_inputs(
            launch::load_document("machine", place_of(hardware.machine, request_.machines), settings),
            launch::load_document("stack", place_of(framework.stack, request_.stacks), settings), std::move(workload),
            std::move(plan));
        if (has_files) {
            inputs.plan.dp = 0;  // it follows from the tiles
        }
        return inputs;
    }

    const ValidateRequest& request_;
    const evaluate::RunNames& names_;
};

/// Errors of verified runs without the constant. `runs` have predictions.
evaluate::ConstantAblation ablation_of(const Validation& validation, const evaluate::RunNames::Fitted& fitted,
                                       const std::vector<evaluate::ValidatedRun>& runs) {
    evaluate::ConstantAblation ablation{fitted.stack, fitted.machine, fitted.constant, fitted.without, {}, {}, 0, 0};
    const auto has_it = [&](const evaluate::ValidatedRun& one) {
        return fitted.stack.empty() ? one.machine == fitted.machine : one.stack == fitted.stack;
    };
    std::vector<evaluate::ValidatedRun> changed = runs;
    tbb::parallel_for(std::size_t{0}, changed.size(), [&](std::size_t i) {
        evaluate::ValidatedRun& one = changed[i];
        if (one.why_unmapped.empty() && !one.is_fitted && has_it(one)) {
            one.predicted_s = validation.step_with(runs[i], fitted.without);
        }
    });
    const auto some = [&](const std::vector<evaluate::ValidatedRun>& from) {
        std::vector<const evaluate::ValidatedRun*> found = evaluate::verified(from);
        std::erase_if(found, [&](const evaluate::ValidatedRun* one) { return !has_it(*one); });
        return evaluate::summary_of(found);
    };
    ablation.with_it = some(runs), ablation.without_it = some(changed);
    ablation.all_mape = evaluate::summary_of(evaluate::verified(runs)).mape;
    ablation.all_mape_without = evaluate::summary_of(evaluate::verified(changed)).mape;
    return ablation;
}

/// Of each constant once, whatever the number of cases that gave it.
void add_ablations(const Validation& validation, ValidatedRuns& all) {
    std::set<std::string> done;
    for (const evaluate::RunNames::Fitted& fitted : all.names.fitted) {
        if (fitted.constant.empty() ||
            !done.insert(fitted.stack + "\n" + fitted.machine + "\n" + fitted.constant).second) {
            continue;
        }
        evaluate::ConstantAblation ablation = ablation_of(validation, fitted, all.runs);
        if (ablation.with_it.errors.n > 0) {
            all.ablations.push_back(std::move(ablation));
        }
    }
}

/// Of machines and stacks that cases have.
void add_files(const ValidateRequest& request, ValidatedRuns& all) {
    std::set<std::string> machines, stacks;
    for (const evaluate::ValidatedRun& one : all.runs) {
        if (one.why_unmapped.empty()) {
            machines.insert(place_of(one.machine, request.machines));
            stacks.insert(place_of(one.stack, request.stacks));
        }
    }
    for (const auto& [role, names] : {std::pair("machine", machines), std::pair("stack", stacks)}) {
        for (const std::string& name : names) {
            const JsonDocument document = launch::load_document(role, name, {});
            all.files.push_back({role, document.name(), document.sha256()});
        }
    }
}

}  // namespace

ValidatedRuns validate(const ValidateRequest& request) {
    ValidatedRuns all;
    all.names = evaluate::load_run_names(load_names(all.files));
    const Validation validation(request, all.names);
    std::vector<evaluate::PublishedRun> runs;
    for (const std::string& place : request.cases) {
        for (const std::string& file : files_of(place)) {
            const JsonDocument document = JsonDocument::load(file);
            all.files.push_back({"cases", document.name(), document.sha256()});
            std::ranges::move(evaluate::load_published_runs(document), std::back_inserter(runs));
        }
    }
    if (runs.empty()) {
        throw InputError("--cases", "found no case; expected files of published runs");
    }
    validation.check_files(runs);
    launch::ProgressLine progress("cases predicted");
    all.runs.resize(runs.size());
    std::mutex mutex;
    std::size_t done = 0;
    tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
        all.runs[i] = validation.validated(std::move(runs[i]));
        const std::scoped_lock lock(mutex);
        progress.show(++done, runs.size());
    });
    evaluate::judge_intervals(all.runs);
    if (request.ablate) {
        add_ablations(validation, all);
    }
    add_files(request, all);
    return all;
}

}  // namespace auspex::workflows
