/// @file auspex diff: two predictions side by side.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/flag_values.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/prediction_output.hpp"
#include "compare/kineto/trace/read_trace.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

constexpr double kMost = 1e30;

/// A number of both.
struct Row {
    std::string name;
    double before = 0, after = 0;
    [[nodiscard]] double change() const { return after - before; }
};

using Numbers = std::map<std::string, double>;

/// What differs in the inputs, and the numbers of both by what they are of.
struct Difference {
    std::vector<std::pair<std::string, std::pair<std::string, std::string>>> inputs;
    std::vector<Row> totals, losses, memory,
        operations;  ///< the last three by size of the change, without those of none
};

JsonDocument load_prediction(const std::string& file) {
    JsonDocument document = JsonDocument::load(file);
    if (!document.root().is_object() || !document.root().find("step_time_s")) {
        throw InputError(file + ": $.step_time_s", "found no such key; expected what auspex predict --json printed");
    }
    return document;
}

Numbers numbers_of(const JsonValue& object) {
    Numbers numbers;
    for (const std::string& key : object.keys()) {
        numbers[key] = object.at(key).as_number(-kMost, kMost);
    }
    return numbers;
}

Numbers operations_of(const JsonValue& prediction) {
    Numbers numbers;
    for (const JsonValue& operation : prediction.at("operations_by_time").elements()) {
        numbers[operation.at("name").as_string()] = operation.at("seconds").as_number(0, kMost);
    }
    return numbers;
}

/// Of what is in one of them, 0 in the other.
std::vector<Row> changed_rows(const Numbers& before, const Numbers& after) {
    std::map<std::string, Row> rows;
    for (const auto& [name, value] : before) {
        rows[name].before = value;
    }
    for (const auto& [name, value] : after) {
        rows[name].after = value;
    }
    std::vector<Row> changed;
    for (auto& [name, row] : rows) {
        row.name = name;
        if (row.change() != 0) {
            changed.push_back(row);
        }
    }
    std::ranges::stable_sort(changed,
                             [](const Row& a, const Row& b) { return std::abs(a.change()) > std::abs(b.change()); });
    return changed;
}

Difference difference_of(const JsonValue& before, const JsonValue& after) {
    Difference difference;
    for (const char* key : {"machine", "stack", "workload", "plan", "overrides", "lens", "tiles", "nodes", "pp", "dp",
                            "ep", "etp", "tp", "cp", "global_batch", "version"}) {
        const std::string a = before.at(key).excerpt(), b = after.at(key).excerpt();
        if (a != b) {
            difference.inputs.push_back({key, {a, b}});
        }
    }
    for (const char* key : {"step_time_s", "forward_backward_s", "optimizer_s", "tokens_per_s", "tokens_per_s_per_tile",
                            "mfu", "node_hours"}) {
        difference.totals.push_back({key, before.at(key).as_number(0, kMost), after.at(key).as_number(0, kMost)});
    }
    const JsonValue old_memory = before.at("memory"), new_memory = after.at("memory");
    difference.totals.push_back({"peak_bytes", old_memory.at("peak_bytes").as_number(0, kMost),
                                 new_memory.at("peak_bytes").as_number(0, kMost)});
    difference.losses = changed_rows(numbers_of(before.at("losses")), numbers_of(after.at("losses")));
    difference.memory = changed_rows(numbers_of(old_memory.at("by_label")), numbers_of(new_memory.at("by_label")));
    difference.operations = changed_rows(operations_of(before), operations_of(after));
    return difference;
}

void write_rows(JsonWriter& json, const char* name, const std::vector<Row>& rows) {
    json.key(name).begin_array();
    for (const Row& row : rows) {
        json.begin_object().member("name", row.name).member("before", row.before);
        json.member("after", row.after).end_object();
    }
    json.end_array();
}

void print_json(std::ostream& out, const Difference& difference, const Options& options) {
    JsonWriter json(out);
    json.begin_object().member("before", options.diff.before).member("after", options.diff.after);
    json.key("inputs").begin_array();
    for (const auto& [name, values] : difference.inputs) {
        json.begin_object()
            .member("name", name)
            .member("before", values.first)
            .member("after", values.second)
            .end_object();
    }
    json.end_array();
    write_rows(json, "totals", difference.totals);
    write_rows(json, "losses", difference.losses);
    write_rows(json, "memory", difference.memory);
    write_rows(json, "operations", difference.operations);
    json.end_object();
}

/// As people read a number whose key has its unit.
std::string text_of(const std::string& key, double value) {
    if (key.ends_with("_bytes")) {
        return format_quantity(value, Dimension::kBytes);
    }
    if (key == "mfu") {
        return percent(value);
    }
    return key.ends_with("_s") && !key.starts_with("tokens") ? duration(value) : short_count(value);
}

std::string relative_change(const Row& row) {
    return row.before == 0 ? "new" : signed_significant(100 * (row.after / row.before - 1), 3) + " %";
}

template <typename Text>
void print_rows(const char* title, const std::vector<Row>& rows, std::size_t most, const Text& text) {
    if (rows.empty()) {
        return;
    }
    std::cout << "\n" << title << "\n";
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
        const Row& row = rows[i];
        const std::string size = row.name == "mfu" ? significant(100 * std::abs(row.change()), 2) + " points"
                                                   : text(row.name, std::abs(row.change()));
        const std::string change = (row.change() < 0 ? "−" : "+") + size;
        std::cout << "  " << left(row.name, 36) << right(text(row.name, row.before), 12)
                  << right(text(row.name, row.after), 12) << right(row.change() == 0 ? "" : change, 13)
                  << right(row.change() == 0 ? "same" : relative_change(row), 12) << "\n";
    }
    if (rows.size() > most) {
        std::cout << "  and " << rows.size() - most << " with less change\n";
    }
}

void print_text(const Difference& difference, const Options& options) {
    constexpr std::size_t kAll = 100, kOperations = 12;
    std::cout << "before: " << options.diff.before << "\nafter:  " << options.diff.after << "\n";
    std::cout << (difference.inputs.empty() ? "\nthe same inputs by name\n" : "\nInputs that differ\n");
    for (const auto& [name, values] : difference.inputs) {
        std::cout << "  " << left(name, 16) << values.first << " -> " << values.second << "\n";
    }
    const auto seconds = [](const std::string&, double value) { return duration(value); };
    const auto bytes = [](const std::string&, double value) { return format_quantity(value, Dimension::kBytes); };
    print_rows("Totals                                     before       after       change", difference.totals, kAll,
               text_of);
    print_rows("Where the step goes, by change (mean over tiles)", difference.losses, kAll, seconds);
    print_rows("Memory of the fullest tile at its peak, by change", difference.memory, kAll, bytes);
    print_rows("Operations, by change (mean over tiles)", difference.operations, kOperations, seconds);
}

}  // namespace

void run_diff(const Options& options) {
    if (kineto::looks_like_trace(options.diff.after)) {
        run_diff_trace(options);
        return;
    }
    constexpr const char* kFound = "found with two predictions; expected with a plan and a trace of torch.profiler";
    refuse_given({{"--machine", !options.machine.empty()},
                  {"--stack", !options.stack.empty()},
                  {"--workload", !options.workload.empty()},
                  {"--tiles", !options.tiles.empty()},
                  {"--set", !options.overrides.empty()},
                  {"--step", options.diff.step.has_value()},
                  {"--rank", options.diff.rank.has_value()},
                  {"--out", !options.out.empty()}},
                 kFound);
    const JsonDocument before = load_prediction(options.diff.before), after = load_prediction(options.diff.after);
    const Difference difference = difference_of(before.root(), after.root());
    const auto answer = [&](std::ostream& out) { print_json(out, difference, options); };
    CsvFile(options).write(answer);
    if (options.json) {
        answer(std::cout);
    } else {
        print_text(difference, options);
    }
}

}  // namespace auspex::cli
