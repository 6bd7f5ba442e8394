/// @file auspex predict: one step of training.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/progress_line.hpp"
#include "report/parts/trace.hpp"

namespace auspex::cli {
namespace {

/// Before the step is simulated, so that a slip costs no time.
void require_writable_place(const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code status;
    if (std::filesystem::is_directory(file, status)) {
        throw InputError("--trace " + file, "found a directory; expected the name of a file to write");
    }
    if (!folder.empty() && !std::filesystem::is_directory(folder, status)) {
        throw InputError("--trace " + file,
                         "found no folder " + folder.string() + "; expected a file in one that exists");
    }
}

void write_trace(const schedule::Timeline& timeline, const std::string& file) {
    std::ofstream out(file, std::ios::binary);
    report::write_chrome_trace(timeline, out);
    out.close();
    if (!out) {
        throw InputError("--trace " + file,
                         "found a file that cannot be written; expected write permission and free space");
    }
}

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
    if (unfolded && !options.trace.empty()) {
        throw InputError("--trace",
                         "found with --lens unfolded; expected the folded lens, which has one track a stage");
    }
}

predict::PredictResult predict_with(const Options& options, const models::Inputs& inputs) {
    const bool wants_trace = !options.trace.empty();
    launch::ProgressLine line("samples played");
    predict::PredictOptions wanted;
    wanted.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    wanted.run_tokens = options.tokens;
    wanted.executor_runs = executor_runs;
    wanted.timeline = wants_trace;
    wanted.play_every_operation = wants_trace;
    wanted.lens = options.predict.lens == "unfolded" ? predict::Lens::kUnfolded : predict::Lens::kFolded;
    wanted.seed = options.seed.value_or(1);
    wanted.samples = options.predict.samples > 0 ? options.predict.samples : kDefaultSamples;
    wanted.slow = options.predict.slow;
    wanted.progress = [&line](int done, int all) {
        line.show(static_cast<std::size_t>(done), static_cast<std::size_t>(all));
    };
    return predict::predict(inputs, wanted);
}

}  // namespace

void run_predict(const Options& options) {
    check_lens(options);
    const models::Inputs inputs = load_all(options);
    const bool wants_trace = !options.trace.empty();
    if (wants_trace) {
        require_writable_place(options.trace);
    }
    const CsvFile csv(options);
    const predict::PredictResult result = predict_with(options, inputs);
    if (wants_trace) {
        write_trace(result.timeline.value(), options.trace);
    }
    const auto answer = [&](std::ostream& out) {
        JsonWriter json(out);
        json.begin_object();
        write_names(json, inputs, options);
        write_prediction(json, result.prediction);
        write_run(json, result.prediction);
        json.end_object();
    };
    csv.write(answer);
    if (options.json) {
        answer(std::cout);
        return;
    }
    print_prediction(
        std::cout, result.prediction, inputs.plan,
        inputs.workload.name + " on " + inputs.machine.name + " with " + inputs.stack.name + overrides_line(options));
    if (wants_trace) {
        std::cout << "The trace is in " << options.trace << ": open it in ui.perfetto.dev.\n";
    }
}

}  // namespace auspex::cli
