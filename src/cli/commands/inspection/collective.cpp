/// @file auspex collective: one collective on a machine, at one size or many.
#include <iostream>
#include <utility>

#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/inspection/collective_query.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"
#include "report/scaling/collective_sweep.hpp"

namespace auspex::cli {
namespace {

/// What is asked for, in words; no points yet.
report::CollectiveSweep empty_sweep(const Options& options, const CollectiveQuery& query, int nodes) {
    report::CollectiveSweep sweep;
    sweep.kind = query.kind;
    sweep.ranks = query.job.ranks;
    sweep.group_size = query.job.group_size;
    sweep.groups = query.job.ranks / query.job.group_size;
    sweep.stride = query.job.stride;
    sweep.alone = query.job.alone;
    sweep.zipf = options.collective.zipf;
    sweep.placement = to_string(query.job.placement);
    if (draws_nodes(query.job.placement)) {
        sweep.placement += " (seed " + std::to_string(query.job.placement_seed) + ")";
    }
    sweep.nodes = nodes;
    sweep.machine = query.machine.name;
    sweep.stack = query.stack.name;
    sweep.transport = query.stack.transport_name;
    sweep.transport_date = query.stack.transport_date;
    sweep.measured_on = query.stack.transport_measured_on;
    sweep.by_rule = options.collective.algorithm.empty() && options.collective.levels == 0;
    sweep.command = options.command_line;
    report::add_sources(sweep.inputs, "machine", query.machine_document);
    report::add_sources(sweep.inputs, "stack", query.stack_document);
    sweep.overrides = overrides_in_words(options);
    return sweep;
}

report::CollectiveSweep time_all(const Options& options, const CollectiveQuery& query) {
    const models::Layout layout = layout_of_job(query.job, query.machine);
    network::Network network(query.machine, query.stack, layout);
    const network::GroupForm form = form_of_job(network, layout);
    report::CollectiveSweep sweep = empty_sweep(options, query, layout.nodes);
    launch::ProgressLine line("sizes timed");
    for (const double bytes : query.sizes) {
        const network::AlgorithmChoice choice = choice_for(options, query, form, bytes);
        sweep.points.push_back(time_collective(network, layout, query.job, choice, bytes));
        line.show(sweep.points.size(), query.sizes.size());
    }
    sweep.notes = query.notes;
    if (sweep.by_rule && form.nodes > 1 && form.per_node == 0) {
        sweep.notes.emplace_back(
            "the nodes do not have equally many ranks of a group, and no algorithm goes over two levels: one level is "
            "played, whatever the rules say");
    }
    for (std::string& note : slow_rule_notes(sweep, query.stack_document.name())) {
        sweep.notes.push_back(std::move(note));
    }
    return sweep;
}

void write_phases(JsonWriter& json, const network::CollectiveResult& result) {
    json.key("phases").begin_array();
    for (const network::CollectivePhase& phase : result.phases) {
        json.begin_object().member("what", phase.what).member("rounds", phase.rounds);
        json.member("latency_s", phase.latency_s).member("reduction_s", phase.reduction_s);
        json.member("bytes", phase.bytes);
        json.member("rate_bytes_per_s", phase.rate_bytes_per_s).member("time_s", phase.time_s);
        json.member("bottleneck", phase.bottleneck).end_object();
    }
    json.end_array().key("alternatives").begin_array();
    for (const network::CollectiveTime& time : result.alternatives) {
        json.begin_object().member("algorithm", to_string(time.choice.algorithm));
        json.member("levels", time.choice.levels).member("time_s", time.time_s).end_object();
    }
    json.end_array();
}

void write_result(JsonWriter& json, const network::CollectiveResult& result) {
    json.member("bytes", whole(result.bytes)).member("time_s", result.time_s);
    json.member("algorithm", to_string(result.choice.algorithm)).member("levels", result.choice.levels);
    json.member("algorithm_bandwidth_bytes_per_s", result.bytes_per_s);
    json.member("bus_bandwidth_bytes_per_s", result.bus_bytes_per_s).member("bottleneck", result.bottleneck);
    write_phases(json, result);
}

void write_texts(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
    json.key(key).begin_array();
    for (const std::string& text : texts) {
        json.value(text);
    }
    json.end_array();
}

void print_json(std::ostream& out, const report::CollectiveSweep& sweep, const network::CollectiveJob& job,
                const Options& options) {
    JsonWriter json(out);
    json.begin_object().member("kind", sweep.kind).member("ranks", sweep.ranks);
    json.member("groups", sweep.alone ? 1 : sweep.groups).member("group_size", sweep.group_size);
    json.member("stride", sweep.stride).member("alone", sweep.alone).member("zipf", sweep.zipf);
    json.member("nodes", sweep.nodes).member("placement", to_string(job.placement));
    if (draws_nodes(job.placement)) {
        json.member("seed", job.placement_seed);
    }
    json.member("machine", sweep.machine).member("stack", sweep.stack).member("transport", sweep.transport);
    json.member("transport_date", sweep.transport_date).member("measured_on", sweep.measured_on);
    write_texts(json, "overrides", options.overrides);
    write_texts(json, "notes", sweep.notes);
    json.member("version", AUSPEX_VERSION);
    if (sweep.points.size() == 1) {
        write_result(json, sweep.points.front());
    } else {
        json.key("sweep").begin_array();
        for (const network::CollectiveResult& result : sweep.points) {
            json.begin_object();
            write_result(json, result);
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

}  // namespace

void run_collective(const Options& options) {
    if (!options.search.against.empty()) {
        return run_collective_against(options);
    }
    const CollectiveQuery query = read_collective(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const CsvFile csv(options);
    const report::CollectiveSweep sweep = time_all(options, query);
    if (!options.out.empty()) {
        write_collective_sweep(sweep, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, sweep, query.job, options); };
    csv.write(answer, {.tiles = query.job.ranks});
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    std::cout << render_sweep_text(sweep) << overrides_line(options) << (options.overrides.empty() ? "" : "\n");
    if (sweep.points.size() == 1) {
        std::cout << "\n" << report::render_phases_text(sweep.points.front());
    }
    for (const std::string& note : sweep.notes) {
        std::cout << "\nNote: " << note << "\n";
    }
    if (!options.out.empty()) {
        std::cout << "\nPage, points, table and curves are in " << options.out
                  << ": index.html, sweep.csv, sweep.md, sweep.svg\n";
    }
}

}  // namespace auspex::cli
