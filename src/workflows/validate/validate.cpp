/// @file Names to files, cases to inputs, inputs to predictions.
#include "workflows/validate/validate.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <mutex>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/evaluate/runs/run_inputs.hpp"
#include "compare/evaluate/runs/run_names.hpp"
#include "launch/input_files.hpp"
#include "launch/progress_line.hpp"
#include "models/inputs.hpp"
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
JsonDocument document(const std::string& role, const std::string& name, const std::string& folder,
                      const std::vector<std::string>& settings) {
    const std::string file = folder.empty() ? name : folder + "/" + name + ".json";
    return launch::load_document(role, file, settings);
}

class Validation {
 public:
    explicit Validation(const ValidateRequest& request)
        : request_(request),
          names_(evaluate::load_run_names(JsonDocument::load(launch::find_input("published-names", "runs")))) {
        launch::require_roles(request.overrides, {"machine", "stack"});
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
        predict::PredictOptions options;
        options.tiles = run.gpus;
        const models::Inputs inputs = fastest_inputs(run, *hardware, *framework, options, one.notes);
        const predict::Prediction prediction = predict::predict(inputs, options).prediction;
        one.predicted_s = prediction.step_time_s;
        one.low_s = prediction.step_time_interval_s.low;
        one.high_s = prediction.step_time_interval_s.high;
        one.losses = prediction.losses;
        one.predicted_memory_bytes = static_cast<double>(prediction.memory.peak_bytes);
    }

    /// Of what the run leaves open, what is predicted to be fastest of all that fits; where nothing fits, the first.
    [[nodiscard]] models::Inputs fastest_inputs(const evaluate::PublishedRun& run,
                                                const evaluate::RunNames::Hardware& hardware,
                                                const evaluate::RunNames::Framework& framework,
                                                const predict::PredictOptions& options,
                                                std::vector<std::string>& notes) const {
        const std::vector<evaluate::PublishedRun> choices = evaluate::micro_batch_choices(run, framework);
        if (choices.size() == 1) {
            models::Inputs inputs = inputs_of(choices.front(), hardware, framework, notes);
            if (run.plan.micro_batch == 0) {
                notes.push_back("micro-batches of " + std::to_string(choices.front().plan.micro_batch) +
                                " are assumed: as many as stages");
            }
            return inputs;
        }
        std::optional<models::Inputs> best;
        std::optional<InputError> refused;
        Picoseconds best_step = std::numeric_limits<Picoseconds>::max();
        for (const evaluate::PublishedRun& choice : choices) {
            std::vector<std::string> choice_notes;
            try {
                models::Inputs inputs = inputs_of(choice, hardware, framework, choice_notes);
                const predict::SimulatedStep step = predict::simulate_step(inputs, options, false);
                const bool is_better = predict::memory_report(inputs, step).fits && step.step < best_step;
                if (is_better || !best) {
                    best_step = is_better ? step.step : best_step;
                    best = std::move(inputs);
                    notes = std::move(choice_notes);
                    notes.push_back("micro-batches of " + std::to_string(choice.plan.micro_batch) +
                                    " are assumed: the fastest of 1, 2, 4, 8 that fits");
                }
            } catch (const InputError& error) {
                refused = error;  // no plan has such micro-batches
            }
        }
        if (!best) {
            throw *refused;
        }
        return std::move(*best);
    }

    [[nodiscard]] models::Inputs inputs_of(const evaluate::PublishedRun& run,
                                           const evaluate::RunNames::Hardware& hardware,
                                           const evaluate::RunNames::Framework& framework,
                                           std::vector<std::string>& notes) const {
        const bool has_files = !run.workload_file.empty();
        evaluate::RunInputTexts texts = has_files ? evaluate::RunInputTexts{} : run_inputs(run, framework);
        notes = std::move(texts.notes);
        std::vector<std::string> settings = hardware.set;
        settings.insert(settings.end(), framework.set.begin(), framework.set.end());
        if (run.plan.is_compiled) {
            settings.insert(settings.end(), framework.set_compiled.begin(), framework.set_compiled.end());
        }
        settings.insert(settings.end(), request_.overrides.begin(), request_.overrides.end());
        JsonDocument plan = has_files ? launch::load_document("plan", run.plan_file, {})
                                      : JsonDocument::parse(texts.plan, run.id + " (plan)");
        for (const std::string& text : settings) {
            if (const launch::Override parts = launch::split_override(text); parts.role == "plan") {
                plan.set(parts.path, parts.value);
            }
        }
        models::Inputs inputs =
            models::load_inputs(document("machine", hardware.machine, request_.machines, settings),
                                document("stack", framework.stack, request_.stacks, settings),
                                has_files ? launch::load_document("workload", run.workload_file, {})
                                          : JsonDocument::parse(texts.workload, run.id + " (workload)"),
                                std::move(plan));
        if (has_files) {
            inputs.plan.dp = 0;  // it follows from the tiles
        }
        return inputs;
    }

    const ValidateRequest& request_;
    evaluate::RunNames names_;
};

}  // namespace

std::vector<evaluate::ValidatedRun> validate(const ValidateRequest& request) {
    const Validation validation(request);
    std::vector<evaluate::PublishedRun> runs;
    for (const std::string& place : request.cases) {
        for (const std::string& file : files_of(place)) {
            std::ranges::move(evaluate::load_published_runs(JsonDocument::load(file)), std::back_inserter(runs));
        }
    }
    if (runs.empty()) {
        throw InputError("--cases", "found no case; expected files of published runs");
    }
    launch::ProgressLine progress("cases predicted");
    std::vector<evaluate::ValidatedRun> validated(runs.size());
    std::mutex mutex;
    std::size_t done = 0;
    tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
        validated[i] = validation.validated(std::move(runs[i]));
        const std::scoped_lock lock(mutex);
        progress.show(++done, runs.size());
    });
    return validated;
}

}  // namespace auspex::workflows
