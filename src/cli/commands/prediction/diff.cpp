/// @file auspex diff: two predictions side by side.
#include "workflows/difference/difference.hpp"

#include <iostream>
#include <set>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "compare/kineto/trace/read_trace.hpp"
#include "launch/output_locks.hpp"
#include "report/difference/difference_page.hpp"
#include "report/difference/difference_text.hpp"
#include "schedule/bindings/bindings.hpp"
#include "workflows/difference/operands.hpp"

namespace auspex::cli {
namespace {

/// The option of a role's flag.
std::string& name_of(Options& options, const std::string& role) {
    return role == "machine"    ? options.machine
           : role == "stack"    ? options.stack
           : role == "workload" ? options.workload
                                : options.plan;
}

std::set<std::string> given_roles(Options options) {
    std::set<std::string> given;
    for (const char* role : {"machine", "stack", "workload", "plan"}) {
        if (!name_of(options, role).empty()) {
            given.insert(role);
        }
    }
    return given;
}

/// Saved results are predictions already; two inputs of one role need the other three.
void check_flags(const Options& options, const std::string& role) {
    refuse_given({{"--step", options.diff.step.has_value()}, {"--rank", options.diff.rank.has_value()}},
                 "found without a trace of torch.profiler; expected a plan and one");
    const std::set<std::string> given = given_roles(options);
    if (role == "result") {
        constexpr const char* kFound = "found with two saved results; expected none, for they are predictions already";
        const auto has = [&](const char* name) { return given.contains(name); };
        refuse_given({{"--machine", has("machine")},
                      {"--stack", has("stack")},
                      {"--workload", has("workload")},
                      {"--plan", has("plan")},
                      {options.search.tiles_flag.c_str(), !options.tiles.empty()},
                      {"--global-batch", options.global_batch > 0},
                      {"--set", !options.overrides.empty()}},
                     kFound);
        return;
    }
    std::string missing;
    for (const char* other : {"machine", "stack", "workload", "plan"}) {
        if (other != role && !given.contains(other)) {
            missing += (missing.empty() ? "--" : ", --") + std::string(other);
        }
    }
    if (!missing.empty()) {
        throw InputError("auspex diff", "found two " + role + "s and no " + missing +
                                            "; expected them, for what is compared are the steps that the two give");
    }
}

workflows::DifferenceRequest request_of(const Options& options, const std::string& role) {
    workflows::DifferenceRequest request;
    request.before = options.diff.before;
    request.after = options.diff.after;
    request.role = role;
    request.load = [&options, role](const std::string& name) {
        Options one = options;
        name_of(one, role) = name;
        return load_all(one);
    };
    request.options.tiles = options.tiles.empty() ? 0 : options.tiles.front();
    request.options.executor_runs = schedule::executor_runs;
    request.options.timeline = request.options.play_every_operation = !options.out.empty();
    return request;
}

void write_numbers(JsonWriter& json, const char* name, const std::vector<report::NumberChange>& rows) {
    json.key(name).begin_array();
    for (const report::NumberChange& row : rows) {
        json.begin_object().member("name", row.name).member("before", row.before);
        json.member("after", row.after).end_object();
    }
    json.end_array();
}

void print_json(std::ostream& out, const report::Difference& difference, const Options& options) {
    JsonWriter json(out);
    json.begin_object().member("before", difference.before.label).member("after", difference.after.label);
    json.member("kind", difference.role).key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().key("inputs").begin_array();
    for (const report::InputChange& one : difference.inputs) {
        json.begin_object().member("name", one.path).member("before", one.before);
        json.member("after", one.after).end_object();
    }
    json.end_array();
    write_numbers(json, "totals", difference.totals);
    write_numbers(json, "losses", difference.losses);
    write_numbers(json, "memory", difference.memory);
    write_numbers(json, "operations", difference.operations);
    json.member("version", AUSPEX_VERSION).end_object();
}

}  // namespace

void run_diff(const Options& options) {
    if (kineto::looks_like_trace(options.diff.after)) {
        run_diff_trace(options);
        return;
    }
    const workflows::Operands operands =
        workflows::operands_of(options.diff.before, options.diff.after, given_roles(options));
    check_flags(options, operands.role);
    const CsvFile csv(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const report::Difference difference = workflows::find_difference(request_of(options, operands.role));
    if (!options.out.empty()) {
        report::write_difference_page({options.command_line, overrides_in_words(options), difference}, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, difference, options); };
    csv.write(answer);
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    std::cout << (operands.remark.empty() ? "" : operands.remark + "\n") << report::difference_text(difference)
              << overrides_line(options) << (options.overrides.empty() ? "" : "\n");
    if (!options.out.empty()) {
        std::cout << "\nThe page is in " << options.out << ": index.html\n";
    }
}

}  // namespace auspex::cli
