/// @file auspex fabric: the machine's graph in numbers, beside what is stated of it, and as a picture.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <stdexcept>

#include "base/json.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/input_files.hpp"
#include "launch/output_locks.hpp"
#include "report/fabric/fabric_drawing.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "sim/network/fabric/fabric_totals.hpp"

namespace auspex::cli {
namespace {

constexpr const char* kDrawing = "fabric.svg";

const char* kind_of(models::FabricKind kind) {
    switch (kind) {
        case models::FabricKind::kDragonfly: return "dragonfly";
        case models::FabricKind::kFatTree: return "fat-tree";
        case models::FabricKind::kRail: return "rail";
    }
    return "unknown";
}

const char* block_of(models::FabricKind kind) {
    switch (kind) {
        case models::FabricKind::kDragonfly: return "group";
        case models::FabricKind::kFatTree: return "leaf";
        case models::FabricKind::kRail: return "unit";
    }
    return "block";
}

/// What --set changes of node or fabric is built, while the stated totals are still those of the real machine.
bool is_what_if(const Options& options) {
    return std::any_of(options.overrides.begin(), options.overrides.end(), [](const std::string& text) {
        const std::string path = text.substr(0, text.find('=')) + ".";
        const bool builds = path.starts_with("machine.fabric.") || path.starts_with("machine.node.");
        return builds && !path.starts_with("machine.fabric.stated.");
    });
}

/// "PCIe card" -> "pcie_card".
std::string key_of(network::LinkKind kind) {
    std::string key = to_string(kind);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char letter) { return letter == ' ' ? '_' : static_cast<char>(std::tolower(letter)); });
    return key;
}

void write_totals(JsonWriter& json, const network::FabricTotals& totals) {
    json.member("nodes", totals.nodes).member("tiles", totals.tiles).member("nics", totals.nics);
    json.member("blocks", totals.blocks).member("pods", totals.pods);
    json.member("switches", totals.switches).member("spines", totals.spines).member("cores", totals.cores);
    json.key("links").begin_object();
    for (std::size_t kind = 0; kind < network::kLinkKinds; ++kind) {
        if (totals.links[kind] > 0) {
            json.member(key_of(static_cast<network::LinkKind>(kind)), totals.links[kind]);
        }
    }
    json.end_object().member("diameter_switches", totals.diameter_switches);
    json.member("injection_bytes_per_s", totals.injection_bytes_per_s);
    json.member("global_bytes_per_s", totals.global_bytes_per_s);
    json.member("bisection_bytes_per_s", totals.bisection_bytes_per_s);
    json.member("block_out_bytes_per_s", totals.block_out_bytes_per_s);
    json.member("block_injection_bytes_per_s", totals.block_injection_bytes_per_s);
    json.member("taper", totals.taper());
    if (totals.pods > 0) {
        json.member("pod_out_bytes_per_s", totals.pod_out_bytes_per_s);
        json.member("pod_injection_bytes_per_s", totals.pod_injection_bytes_per_s);
        json.member("pod_uplinks_bytes_per_s", totals.pod_uplinks_bytes_per_s);
        json.member("pod_taper_of_nics", totals.pod_taper_of_nics());
        json.member("pod_taper_of_uplinks", totals.pod_taper_of_uplinks());
    }
}

void print_json(const models::Machine& machine, const JsonDocument& document, const network::FabricTotals& totals,
                const std::vector<network::StatedCheck>& checks, const Options& options) {
    JsonWriter json(answer_stream(options));
    json.begin_object().member("machine", machine.name).member("file", machine.file);
    json.member("sha256", document.sha256()).key("overrides").begin_array();
    for (const std::string& text : options.overrides) {
        json.value(text);
    }
    json.end_array().member("version", AUSPEX_VERSION).member("what_if", is_what_if(options));
    json.member("kind", kind_of(machine.fabric.kind));
    write_totals(json, totals);
    json.key("stated").begin_array();
    for (const network::StatedCheck& check : checks) {
        json.begin_object().member("name", check.name).member("stated", check.stated).member("built", check.built);
        json.member("difference", check.difference).member("matches", check.matches).end_object();
    }
    json.end_array().end_object();
}

void print_line(const std::string& name, const std::string& value, const std::string& note = {}) {
    std::cout << "  " << left(name, 26) << right(value, 14) << (note.empty() ? "" : "  " + note) << "\n";
}

void print_counts(const models::Machine& machine, const network::FabricTotals& totals) {
    const bool dragonfly = machine.fabric.kind == models::FabricKind::kDragonfly;
    const auto count = [](const char* name, std::uint64_t value, const char* note = "") {
        if (value > 0) {
            print_line(name, thousands(static_cast<double>(value)), note);
        }
    };
    std::cout << "counts\n";
    count("nodes", totals.nodes);
    count("tiles", totals.tiles);
    count("NICs", totals.nics);
    if (machine.fabric.kind != models::FabricKind::kFatTree) {
        count(dragonfly ? "groups" : "units", totals.blocks);
    }
    count("pods", totals.pods);
    count(dragonfly ? "switches" : "leaf switches", totals.switches);
    count("spines", totals.spines, "each with as many ports as it needs");
    count("cores", totals.cores, "each with as many ports as it needs");
    std::cout << "links, both directions as one\n";
    for (std::size_t kind = 0; kind < network::kLinkKinds; ++kind) {
        count(to_string(static_cast<network::LinkKind>(kind)), totals.links[kind]);
    }
}

void print_rates(const models::Machine& machine, const network::FabricTotals& totals) {
    const auto rate = [](double bytes_per_s) { return format_quantity(bytes_per_s, Dimension::kBytesPerSecond); };
    const std::string block = block_of(machine.fabric.kind);
    std::cout << "network\n";
    print_line("diameter", counted(totals.diameter_switches, "switch", "es"), "passed at most on a minimal path");
    print_line("injection", rate(totals.injection_bytes_per_s), "one direction, NICs x the rate of their links");
    if (totals.global_bytes_per_s > 0) {
        print_line("global", rate(totals.global_bytes_per_s), "both directions, all links between groups");
    }
    print_line("bisection", rate(totals.bisection_bytes_per_s), "both directions, between two halves");
    if (totals.blocks == 1) {
        return;
    }
    print_line("out of a " + block, rate(totals.block_out_bytes_per_s),
               "one direction; its NICs' links: " + rate(totals.block_injection_bytes_per_s));
    print_line("taper", significant(totals.taper()), "of a " + block + ", one direction");
    if (totals.pods > 0) {
        print_line("out of a pod", rate(totals.pod_out_bytes_per_s), "one direction");
        print_line("pod over its NICs", significant(totals.pod_taper_of_nics()),
                   "their links: " + rate(totals.pod_injection_bytes_per_s));
        print_line("pod over its leaves", significant(totals.pod_taper_of_uplinks()),
                   "their uplinks: " + rate(totals.pod_uplinks_bytes_per_s) + "; pod_taper of the machine file");
    }
}

void print_checks(const std::vector<network::StatedCheck>& checks, bool what_if) {
    if (checks.empty()) {
        std::cout << "\nThe machine file states no totals to compare with.\n";
        return;
    }
    std::cout << "\n"
              << left("stated of the machine", 24) << right("stated", 14) << right("built", 14)
              << right("difference", 13) << "\n";
    const char* const missed = what_if ? "what-if" : "MISMATCH";
    for (const network::StatedCheck& check : checks) {
        const auto text = [&](double value) {
            return check.is_rate ? format_quantity(value, Dimension::kBytesPerSecond) : thousands(value);
        };
        std::cout << "  " << left(check.name, 22) << right(text(check.stated), 14) << right(text(check.built), 14)
                  << right(percent(check.difference, 2), 13) << "  " << (check.matches ? "ok" : missed) << "\n";
    }
    if (what_if) {
        std::cout << "What is built was changed on the command line; what is stated is the real machine's.\n";
    }
}

}  // namespace

void run_fabric(const Options& options) {
    launch::require_roles(options.overrides, {"machine"});
    const JsonDocument document = launch::load_document("machine", options.machine, options.overrides);
    const models::Machine machine = models::load_machine(document);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const network::FabricGraph graph(machine);
    const network::FabricTotals totals = totals_of(graph);
    const std::vector<network::StatedCheck> checks = check_stated(machine, totals);
    if (!options.out.empty()) {
        report::write_report_file(
            report::make_report_folder(options.out, kDrawing) / kDrawing,
            report::standalone_svg(
                report::fabric_drawing(graph, totals), {},
                report::source_line(options.command_line, {{"machine", document.name(), document.sha256()}})));
    }
    if (options.json) {
        print_json(machine, document, totals, checks, options);
    } else {
        std::cout << machine.name << ": " << kind_of(machine.fabric.kind) << overrides_line(options) << "\n\n";
        print_counts(machine, totals);
        print_rates(machine, totals);
        print_checks(checks, is_what_if(options));
        if (!options.out.empty()) {
            std::cout << "\nThe drawing is in " << options.out << ": " << kDrawing << "\n";
        }
    }
    const auto mismatches =
        std::count_if(checks.begin(), checks.end(), [](const auto& check) { return !check.matches; });
    if (mismatches > 0 && !is_what_if(options) && options.answers == nullptr) {
        throw std::runtime_error(counted(static_cast<double>(mismatches), "stated total") + " of " + machine.name +
                                 " differ from what the file builds by more than " +
                                 percent(network::kStatedTolerance, 0));
    }
}

}  // namespace auspex::cli
