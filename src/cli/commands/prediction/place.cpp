/// @file auspex place: one job on several placements, and which communication pays for each.
#include <iostream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/output_locks.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/placement_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kOperationsShown = 6;
constexpr std::size_t kLinksShown = 6;

report::PlacedStep place(const models::Inputs& inputs, const PlacementArgument& placement, int tiles) {
    models::Inputs changed = inputs;
    changed.plan.placement = placement.kind;
    changed.plan.placement_seed = placement.seed;
    changed.plan.placement_free = placement.free;
    report::PlacedStep step;
    step.placement = placement.text;
    predict::PredictOptions options;
    options.tiles = tiles;
    options.executor_runs = executor_runs;
    step.prediction = predict::predict(changed, options).prediction;
    return step;
}

void print_json(std::ostream& out, const report::PlacementReport& report, const models::Inputs& inputs,
                const Options& options) {
    JsonWriter json(out);
    json.begin_object();
    write_names(json, inputs, options);
    json.member("tiles", report.steps.front().prediction.tiles).key("placements").begin_array();
    for (const report::PlacedStep& step : report.steps) {
        json.begin_object()
            .member("placement", step.placement)
            .member("groups_touched", step.prediction.groups_touched);
        write_prediction(json, step.prediction);
        json.end_object();
    }
    json.end_array().end_object();
}

/// One line for each thing that is compared: its name, then a cell for each placement.
template <typename Cell>
void print_line(const report::PlacementReport& report, const std::string& name, Cell&& cell) {
    std::cout << "  " << left(name, 34);
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        std::cout << right(cell(i), 16);
    }
    std::cout << "\n";
}

void print_text(const report::PlacementReport& report, const Options& options) {
    std::cout << report.title << overrides_line(options) << "\n\n";
    const auto step = [&](std::size_t i) -> const report::PlacedStep& { return report.steps[i]; };
    print_line(report, "", [&](std::size_t i) { return step(i).placement; });
    print_line(report, "groups touched", [&](std::size_t i) { return thousands(step(i).prediction.groups_touched); });
    print_line(report, "step", [&](std::size_t i) { return duration(step(i).prediction.step_time_s); });
    std::cout << "\nlosses\n";
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        bool is_there = false;
        for (const report::PlacedStep& one : report.steps) {
            is_there = is_there || one.prediction.losses[loss] > 0;
        }
        if (is_there) {
            print_line(report, report::readable(static_cast<schedule::Loss>(loss)),
                       [&](std::size_t i) { return duration(to_seconds(step(i).prediction.losses[loss])); });
        }
    }
    const std::vector<report::OperationDifference> differences = largest_differences(report, kOperationsShown);
    std::cout << "\noperations whose time differs by more than a thousandth of the step, a step and tile\n";
    for (const report::OperationDifference& one : differences) {
        print_line(report, one.name, [&](std::size_t i) { return duration(one.seconds[i]); });
    }
    std::cout << (differences.empty() ? "  none: the placement makes no difference here\n" : "");
    std::cout << "\nhow full the links are over the step: busiest, mean of those used\n";
    const std::vector<report::LinkUseComparison> links = compare_link_use(report);
    for (std::size_t line = 0; line < std::min(links.size(), kLinksShown); ++line) {
        print_line(report, links[line].kind, [&](std::size_t i) {
            const engine::LinkUse& use = links[line].uses[i];
            return use.kind.empty() ? std::string("-") : percent(use.busiest_share) + ", " + percent(use.mean_share);
        });
    }
    for (const std::string& note : report.steps.front().prediction.notes) {
        std::cout << "\nNote: " << note;
    }
    std::cout << "\n";
}

}  // namespace

void run_place(const Options& options) {
    const models::Inputs inputs = load_all(options);
    launch::OutputLocks locks(options.command_line);
    locks.take_folder("--out", options.out);
    const CsvFile csv(options);
    report::PlacementReport report;
    const int tiles = options.tiles.empty() ? 0 : options.tiles.front();
    for (const PlacementArgument& placement : options.placements) {
        report.steps.push_back(place(inputs, placement, tiles));
    }
    report.title = inputs.workload.name + " on " + inputs.machine.name + ", " +
                   counted(report.steps.front().prediction.tiles, "tile") + ", " +
                   counted(static_cast<double>(report.steps.size()), "placement");
    report.command = options.command_line;
    report.inputs = files_of(inputs);
    report.overrides = overrides_in_words(options);
    if (!options.out.empty()) {
        write_placement_report(report, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, report, inputs, options); };
    csv.write(answer);
    if (options.json) {
        answer(std::cout);
        return;
    }
    print_text(report, options);
    if (!options.out.empty()) {
        std::cout << "wrote " << options.out << "/report.md, placements.csv and losses.svg\n";
    }
}

}  // namespace auspex::cli
