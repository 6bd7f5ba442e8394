/// @file Traces of a predicted step.
#include "cli/commands/prediction/predict_traces.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "report/parts/trace.hpp"
#include "report/traces/step_trace.hpp"

namespace auspex::cli {
namespace {

std::string lens_text(const predict::Prediction& prediction) {
    return prediction.lens != predict::Lens::kUnfolded
               ? to_string(prediction.lens)
               : std::string("unfolded: the median of ") +
                     counted(static_cast<double>(prediction.unfolded->samples_s.size()), "sample") + ", seed " +
                     std::to_string(prediction.unfolded->seed);
}

}  // namespace

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

void check_traces(const Options& options) {
    const bool unfolded = options.predict.lens == "unfolded";
    const TraceFlags& traces = options.traces;
    const bool has_ranks = !traces.ranks.empty() || traces.slowest || traces.all;
    if (traces.all) {
        throw InputError("--trace-ranks", "found \"all\"; expected numbers of ranks, or slowest");
    }
    if (unfolded && !options.trace.empty() && !has_ranks) {
        throw InputError("--trace",
                         "found with --lens unfolded and without --trace-ranks; expected the ranks whose tracks are "
                         "written, such as --trace-ranks 0,12 or --trace-ranks slowest");
    }
    if (has_ranks && (!unfolded || options.trace.empty())) {
        throw InputError("--trace-ranks",
                         "found without --lens unfolded and --trace; expected both, for only there ranks differ");
    }
    if (traces.chakra.empty() && (traces.by_role || traces.most_bytes > 0)) {
        throw InputError(traces.by_role ? "--chakra-roles" : "--chakra-limit", "found without --chakra; expected both");
    }
    if (!options.trace.empty()) {
        require_writable_place(options.trace);
    }
}

void write_trace(const schedule::Timeline& timeline, const predict::TraceDetails* details,
                 const std::vector<std::pair<std::string, std::string>>& about, const std::string& file) {
    std::ofstream out(file, std::ios::binary);
    if (report::is_track_event_file(file)) {
        report::write_step_trace(timeline, details, about, out);
    } else {
        report::write_chrome_trace(timeline, out);
    }
    out.close();
    if (!out) {
        throw InputError("--trace " + file,
                         "found a file that cannot be written; expected write permission and free space");
    }
}

void write_trace(const predict::PredictResult& result, const models::Inputs& inputs, const Options& options) {
    const predict::Prediction& p = result.prediction;
    write_trace(*result.timeline, result.details ? &*result.details : nullptr,
                {{"generator", std::string("auspex ") + AUSPEX_VERSION},
                 {"what", "a predicted step, not a measured one"},
                 {"workload", inputs.workload.name},
                 {"plan", inputs.plan.name},
                 {"machine", inputs.machine.name},
                 {"stack", inputs.stack.name},
                 {"tiles", std::to_string(p.tiles)},
                 {"lens", lens_text(p)},
                 {"step", duration(p.step_time_s)},
                 {"times", "rounded down from picoseconds to nanoseconds"},
                 {"memory", "during a pass the most that it has, between passes what is left"},
                 {"links",
                  "bytes/s on all links of a kind, of each communication the mean over its span; world "
                  "operations left out"},
                 {"command", options.command_line}},
                options.trace);
}

workflows::ChakraExported write_chakra(const models::Inputs& inputs, const Options& options) {
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--chakra", options.traces.chakra);
    launch::ProgressLine line("traces written");
    workflows::ChakraExport request;
    request.folder = options.traces.chakra;
    request.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    request.by_role = options.traces.by_role;
    request.most_bytes = options.traces.most_bytes > 0 ? options.traces.most_bytes : workflows::kMostChakraBytes;
    request.generator = std::string("auspex ") + AUSPEX_VERSION;
    request.progress = [&line](std::size_t done, std::size_t all) { line.show(done, all); };
    return export_chakra(inputs, request);
}

void write_chakra_json(JsonWriter& json, const workflows::ChakraExported& exported, const Options& options) {
    json.key("chakra").begin_object().member("folder", options.traces.chakra).member("ranks", exported.ranks);
    json.member("files", std::uint64_t{exported.files}).member("groups", std::uint64_t{exported.groups});
    json.member("nodes", exported.nodes).member("bytes", whole(exported.bytes)).key("notes").begin_array();
    for (const std::string& note : exported.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void print_chakra(const workflows::ChakraExported& exported, const Options& options) {
    std::cout << "The step of " << counted(exported.ranks, "rank") << " is in " << options.traces.chakra << ": "
              << counted(static_cast<double>(exported.files), "Chakra trace") << ", "
              << format_quantity(exported.bytes, Dimension::kBytes) << ", "
              << thousands(static_cast<double>(exported.nodes)) << " nodes of all ranks, "
              << counted(static_cast<double>(exported.groups), "group") << ".\n";
    for (const std::string& note : exported.notes) {
        std::cout << "note: " << note << "\n";
    }
}

}  // namespace auspex::cli
