/// @file auspex list: input files that names stand for, each in a line.
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/text/text_list.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/output/model_text.hpp"
#include "launch/input_files.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/stack_file/communication.hpp"
#include "models/workload.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::cli {
namespace {

std::string describe_machine(const JsonDocument& document) {
    const models::Machine machine = models::load_machine(document);
    if (machine.cpu.cores > 0) {
        return counted(machine.cpu.cores, "core") + ", ranks as processes on them";
    }
    return counted(machine.fabric.max_nodes, "node") + " of " + counted(machine.node.tiles, "tile") + ", " +
           format_quantity(machine.tile.peak_bf16_flop_per_s, Dimension::kFlopPerSecond) + " and " +
           format_quantity(machine.tile.hbm_bytes, Dimension::kBytes) + " a tile";
}

std::string describe_stack(const JsonDocument& document) {
    const models::Stack stack = models::load_stack(models::with_communication(document));
    const std::vector<std::string> libraries = models::libraries_of(document);
    return (stack.measured_on == "none" ? "measured nowhere" : "constants of " + stack.measured_on) +
           (libraries.empty() ? "" : ", communication by " + joined(libraries, ", "));
}

std::string describe_workload(const JsonDocument& document) {
    const models::Workload workload = models::load_workload(document);
    const double total = count_parameters(workload).total(), active = count_active_parameters(workload).total();
    return parameters_text(total) + " parameters" + (active < total ? ", " + parameters_text(active) + " active" : "") +
           ", " + counted(workload.layers, "layer") +
           (workload.num_experts > 0
                ? ", top " + std::to_string(workload.top_k) + " of " + counted(workload.num_experts, "expert")
                : ", dense") +
           ", sequence " + thousands(workload.sequence_length);
}

std::string describe_plan(const JsonDocument& document) {
    const models::Plan plan = models::load_plan(document);
    std::string text = "pp " + std::to_string(plan.pp) + ", ep " + std::to_string(plan.ep) + ", tp " +
                       std::to_string(plan.tp) + (plan.cp > 1 ? ", cp " + std::to_string(plan.cp) : "");
    if (plan.dp > 0) {
        text += ", dp " + std::to_string(plan.dp);
    }
    return text + "; " + to_string(plan.schedule) + ", " + counted(plan.micro_batches, "micro-batch", "es") + " of " +
           std::to_string(plan.micro_batch_size) + ", optimizer " + to_string(plan.optimizer);
}

/// What there may be, as one asks for it and as find_input knows it.
struct Kind {
    std::string_view word;
    const char* role;
    std::string (*describe)(const JsonDocument&);
};
constexpr std::array kKinds{Kind{"machines", "machine", describe_machine}, Kind{"stacks", "stack", describe_stack},
                            Kind{"workloads", "workload", describe_workload}, Kind{"plans", "plan", describe_plan}};

struct Row {
    std::string name, file, text;
};

/// A file that is none of its kind is listed with what is wrong: the others are asked for all the same.
std::vector<Row> rows_of(const Kind& kind) {
    std::vector<Row> rows;
    for (const std::string& name : launch::input_names(kind.role)) {
        const std::string file = launch::find_input(kind.role, name);
        try {
            rows.push_back({name, file,
                            kind.describe(kind.word == "stacks" ? launch::load_stack_file(name)
                                                                : launch::load_document(kind.role, name, {}))});
        } catch (const InputError& error) {
            rows.push_back({name, file, std::string("cannot be read: ") + error.what()});
        }
    }
    return rows;
}

/// Those of the words; without words all.
std::vector<Kind> kinds_asked(const std::vector<std::string>& words) {
    std::set<std::string_view> asked;
    for (const std::string& word : words) {
        const auto* const kind =
            std::ranges::find_if(kKinds, [&](const Kind& one) { return word == one.word || word == one.role; });
        if (kind == kKinds.end()) {
            std::string known;
            for (const Kind& one : kKinds) {
                known += (known.empty() ? "" : ", ") + std::string(one.word);
            }
            throw InputError("auspex list", "found \"" + word + "\"; expected one or several of " + known);
        }
        asked.insert(kind->word);
    }
    std::vector<Kind> kinds;
    std::ranges::copy_if(kKinds, std::back_inserter(kinds),
                         [&](const Kind& kind) { return asked.empty() || asked.contains(kind.word); });
    return kinds;
}

void print_json(const std::vector<Kind>& kinds, const Options& options) {
    JsonWriter json(answer_stream(options));
    json.begin_object();
    for (const Kind& kind : kinds) {
        json.key(kind.word).begin_array();
        for (const Row& row : rows_of(kind)) {
            json.begin_object().member("name", row.name).member("file", row.file).member("text", row.text).end_object();
        }
        json.end_array();
    }
    json.end_object();
}

}  // namespace

void run_list(const Options& options) {
    const std::vector<Kind> kinds = kinds_asked(options.listed);
    if (options.json) {
        print_json(kinds, options);
        return;
    }
    for (const Kind& kind : kinds) {
        std::vector<report::TextRow> table{{std::string(kind.word), ""}};
        for (const Row& row : rows_of(kind)) {
            table.push_back({"  " + row.name, row.text});
        }
        std::cout << (kind.role == kinds.front().role ? "" : "\n") << report::text_table(table, {0, 1});
    }
}

}  // namespace auspex::cli
