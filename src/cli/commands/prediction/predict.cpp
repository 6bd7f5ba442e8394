/// @file auspex predict: one step of training.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/prediction/override_notes.hpp"
#include "cli/commands/prediction/predict_traces.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/advice_output.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "cli/output/prediction_page.hpp"
#include "launch/child_process.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::cli {
namespace {

void check_lens(const Options& options) {
    const bool unfolded = options.predict.lens == "unfolded";
    const struct {
        bool given;
        const char* flag;
    } only_unfolded[] = {{options.seed.has_value(), "--seed"},
                         {options.predict.samples > 0, "--samples"},
                         {!options.predict.slow.empty(), "--slow"}};
    for (const auto& [given, flag] : only_unfolded) {
        if (given && !unfolded) {
            throw InputError(flag,
                             "found without --lens unfolded; expected both, for only there tiles and links differ");
        }
    }
}

predict::PredictResult predict_with(const Options& options, const models::Inputs& inputs) {
    const bool is_unfolded = options.predict.lens == "unfolded";
    const bool wants_timeline = !options.trace.empty() || (!options.out.empty() && !is_unfolded);
    launch::ProgressLine line("samples played");
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    wanted.run_tokens = options.tokens;
    wanted.executor_runs = schedule::executor_runs;
    wanted.sensitivity = !options.no_sensitivity;
    wanted.timeline = wants_timeline;
    wanted.trace_details = !options.trace.empty();
    wanted.play_every_operation = wants_timeline;
    wanted.trace_ranks = options.traces.ranks;
    wanted.lens = is_unfolded ? predict::Lens::kUnfolded : predict::Lens::kFolded;
    wanted.seed = options.seed.value_or(1);
    wanted.samples = options.predict.samples > 0 ? options.predict.samples : kDefaultSamples;
    wanted.slow = options.predict.slow;
    int signal = 0;
    wanted.progress = [&line, &signal](int done, int all) {
        // Kept, as each thread that plays samples has to be stopped.
        signal = signal != 0 ? signal : launch::take_caught_signal();
        if (signal != 0) {
            throw launch::Interrupted(signal);
        }
        line.show(static_cast<std::size_t>(done), static_cast<std::size_t>(all));
    };
    return predict::predict(inputs, wanted);
}

}  // namespace

void run_predict(const Options& options) {
    check_lens(options);
    check_traces(options);
    if (options.no_sensitivity && !options.out.empty()) {
        throw InputError("--no-sensitivity", "found with --out; expected one of them: the page shows the interval");
    }
    const models::Inputs inputs = load_all(options);
    const int wanted = changes_wanted(options, inputs.machine, kDefaultAdvice);
    const CsvFile csv(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    predict::PredictResult result = predict_with(options, inputs);
    std::ranges::move(override_notes(options, result.prediction), std::back_inserter(result.prediction.notes));
    if (!options.trace.empty()) {
        write_trace(result, inputs, options);
    }
    std::optional<workflows::ChakraExported> chakra;
    if (!options.traces.chakra.empty()) {
        chakra = write_chakra(inputs, options);
    }
    std::optional<search::Advice> advice;
    report::AdviceRows rows;
    if (wanted > 0) {
        advice = search::advise(inputs, result.prediction, emitted_plans(inputs.stack.emit_format, "emit_format"));
        rows = advice_rows(*advice, result.prediction, inputs, wanted);
    }
    if (!options.out.empty()) {
        report::PredictionPage page = prediction_page_of(inputs, options, std::move(result));
        page.advice = rows;
        write_prediction_page(page, options.out);
        result = {page.prediction, std::nullopt, std::nullopt};
    }
    const auto answer = [&](std::ostream& out) {
        JsonWriter json(out);
        json.begin_object();
        write_names(json, inputs, options);
        write_prediction(json, result.prediction);
        write_run(json, result.prediction);
        if (advice) {
            write_advice(json, *advice, result.prediction, inputs, wanted);
        }
        if (chakra) {
            write_chakra_json(json, *chakra, options);
        }
        json.end_object();
    };
    csv.write(answer);
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    const std::string& release = inputs.stack.release;
    print_prediction(std::cout, result.prediction, inputs.plan,
                     inputs.workload.name + " on " + inputs.machine.name + " with " + inputs.stack.name +
                         (release.empty() ? "" : ", release " + release) + overrides_line(options));
    if (advice) {
        print_advice(std::cout, rows);
    }
    if (!options.trace.empty()) {
        std::cout << "The trace is in " << options.trace << ": open it in ui.perfetto.dev.\n";
    }
    if (chakra) {
        print_chakra(*chakra, options);
    }
    if (!options.out.empty()) {
        std::cout << "The page is in " << options.out << ": index.html\n";
    }
}

}  // namespace auspex::cli
