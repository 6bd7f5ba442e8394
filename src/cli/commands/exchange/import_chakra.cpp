/// @file auspex import chakra: traces of any framework on a machine.
#include <algorithm>
#include <iostream>
#include <numeric>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/prediction/predict_traces.hpp"
#include "launch/input_files.hpp"
#include "report/parts/text_table.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex::cli {
namespace {

/// Mean, least and most of a part of the ranks' times.
struct Spread {
    double mean_s = 0, least_s = 0, most_s = 0;
};

Spread spread_of(const std::vector<graph::RankTimes>& ranks, Picoseconds graph::RankTimes::*part) {
    Spread spread;
    spread.least_s = to_seconds(ranks.front().*part);
    for (const graph::RankTimes& rank : ranks) {
        const double seconds = to_seconds(rank.*part);
        spread.mean_s += seconds / static_cast<double>(ranks.size());
        spread.least_s = std::min(spread.least_s, seconds);
        spread.most_s = std::max(spread.most_s, seconds);
    }
    return spread;
}

void write_json(const workflows::PlayedTraces& played, const models::Machine& machine, const models::Stack& stack,
                const Options& options) {
    JsonWriter json(answer_stream(options));
    json.begin_object().member("traces", options.traces.folder).member("schema", played.version);
    json.member("machine", machine.name).member("stack", stack.name).member("ranks", played.ranks);
    json.member("nodes", played.nodes_of_machine).member("trace_nodes", played.nodes);
    json.member("durations", options.traces.roofline ? "roofline" : "recorded");
    json.member("one_communication", options.traces.one_communication);
    json.member("step_time_s", to_seconds(played.result.step)).key("by_rank").begin_array();
    for (const graph::RankTimes& rank : played.result.ranks) {
        json.begin_object().member("compute_s", to_seconds(rank.compute));
        json.member("communication_s", to_seconds(rank.communication)).member("idle_s", to_seconds(rank.idle));
        json.end_object();
    }
    json.end_array().key("link_use").begin_array();
    for (const network::LinkUse& use : played.result.link_use) {
        json.begin_object().member("kind", use.kind).member("busiest", use.busiest);
        json.member("busiest_share", use.busiest_share).member("mean_share", use.mean_share);
        json.member("bytes", use.bytes).member("between_nodes", use.between_nodes).end_object();
    }
    json.end_array().member("events", played.result.events).member("read_s", played.read_s);
    json.member("play_s", played.play_s).key("notes").begin_array();
    for (const std::string& note : played.notes) {
        json.value(note);
    }
    json.end_array().end_object();
}

void print_text(const workflows::PlayedTraces& played, const models::Machine& machine, const models::Stack& stack,
                const Options& options) {
    const double step_s = to_seconds(played.result.step);
    std::cout << counted(played.ranks, "rank") << " of " << options.traces.folder << " on "
              << counted(played.nodes_of_machine, "node") << " of " << machine.name << " with " << stack.name << "\n"
              << "step " << duration(step_s) << "\n\n";
    std::vector<report::TextRow> rows{{"a rank's time", "mean", "share", "least", "most"}};
    const auto add = [&](const char* name, Picoseconds graph::RankTimes::*part) {
        const Spread spread = spread_of(played.result.ranks, part);
        rows.push_back({name, duration(spread.mean_s), percent(step_s > 0 ? spread.mean_s / step_s : 0),
                        duration(spread.least_s), duration(spread.most_s)});
    };
    add("compute", &graph::RankTimes::compute);
    add("communication", &graph::RankTimes::communication);
    add("idle", &graph::RankTimes::idle);
    std::cout << report::text_table(rows, {0});
    constexpr std::size_t kShown = 5;
    if (!played.result.link_use.empty()) {
        std::vector<report::TextRow> links{{"links", "most used", "mean", "the most used one"}};
        for (std::size_t i = 0; i < std::min(kShown, played.result.link_use.size()); ++i) {
            const network::LinkUse& use = played.result.link_use[i];
            links.push_back({use.kind, percent(use.busiest_share), percent(use.mean_share), use.busiest});
        }
        std::cout << "\n" << report::text_table(links, {0, 3});
    }
    std::cout << "\n"
              << thousands(static_cast<double>(played.nodes)) << " nodes read in " << duration(played.read_s)
              << " and played in " << duration(played.play_s) << ": "
              << thousands(static_cast<double>(played.nodes) / std::max(played.play_s, 1e-9)) << " nodes/s\n";
    for (const std::string& note : played.notes) {
        std::cout << "note: " << note << "\n";
    }
    if (!options.trace.empty()) {
        std::cout << "The trace is in " << options.trace << ": open it in ui.perfetto.dev.\n";
    }
}

}  // namespace

void run_import_chakra(const Options& options) {
    launch::require_roles(options.overrides, {"machine", "stack"});
    const TraceFlags& flags = options.traces;
    if (options.trace.empty() && (!flags.ranks.empty() || flags.slowest)) {
        throw InputError("--trace-ranks", "found without --trace; expected both");
    }
    if (flags.slowest) {
        throw InputError("--trace-ranks", "found \"slowest\"; expected numbers of ranks, or all");
    }
    if (!options.trace.empty()) {
        require_writable_place(options.trace);
    }
    const models::Machine machine =
        models::load_machine(launch::load_document("machine", options.machine, options.overrides));
    const models::Stack stack = launch::load_stack(options.stack, options.overrides, machine);
    if (machine.cpu.cores > 0) {
        throw InputError("--machine", "found " + machine.name +
                                          ", whose ranks are processes on CPU cores; expected a machine of "
                                          "accelerators");
    }
    workflows::ChakraImport request;
    request.folder = flags.folder, request.groups_file = flags.groups;
    request.durations = flags.roofline ? workflows::TraceDurations::kRoofline : workflows::TraceDurations::kRecorded;
    request.one_communication = flags.one_communication;
    request.recorded = flags.ranks;
    request.record_all = !options.trace.empty() && flags.ranks.empty();
    const workflows::PlayedTraces played = play_traces(request, machine, stack);
    if (!options.trace.empty()) {
        write_trace(played.result.timeline, nullptr,
                    {{"generator", std::string("auspex ") + AUSPEX_VERSION},
                     {"what", "Chakra traces as played, not as measured"},
                     {"traces", flags.folder},
                     {"machine", machine.name},
                     {"stack", stack.name},
                     {"step", duration(to_seconds(played.result.step))},
                     {"times", "rounded down from picoseconds to nanoseconds"}},
                    options.trace);
    }
    options.json ? write_json(played, machine, stack, options) : print_text(played, machine, stack, options);
}

}  // namespace auspex::cli
