/// @file auspex predict: one step of training.
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/prediction_output.hpp"
#include "report/trace.hpp"

namespace auspex {
namespace {

void write_trace(const Timeline& timeline, const std::string& file) {
    std::ofstream out(file, std::ios::binary);
    write_chrome_trace(timeline, out);
    out.close();
    if (!out) {
        throw InputError("--trace " + file, "found a file that cannot be written; expected one that can");
    }
}

}  // namespace

void run_predict(const Options& options) {
    const Inputs inputs = load_all(options);
    const bool wants_trace = !options.trace.empty();
    const PredictResult result = predict(inputs, {.tiles = options.tiles.empty() ? 0 : options.tiles.front(),
                                                  .run_tokens = options.tokens,
                                                  .sensitivity = true,
                                                  .timeline = wants_trace,
                                                  .play_every_operation = wants_trace});
    if (wants_trace) {
        write_trace(result.timeline.value(), options.trace);
    }
    if (options.json) {
        JsonWriter json(std::cout);
        json.begin_object();
        write_prediction(json, result.prediction);
        json.end_object();
        return;
    }
    print_prediction(std::cout, result.prediction, inputs.plan,
                     inputs.workload.name + " on " + inputs.machine.name + " with " + inputs.stack.name);
    if (wants_trace) {
        std::cout << "The trace is in " << options.trace << ": open it in ui.perfetto.dev.\n";
    }
}

}  // namespace auspex
