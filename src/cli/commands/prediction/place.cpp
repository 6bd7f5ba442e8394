/// @file auspex place: one job on several placements, and which communication pays for each.
#include <algorithm>
#include <iostream>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/input_names.hpp"
#include "cli/output/prediction_output.hpp"
#include "launch/output_locks.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/loss_words.hpp"
#include "report/parts/text.hpp"
#include "report/parts/text_table.hpp"
#include "report/scaling/placement_report.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::cli {
namespace {

constexpr std::size_t kOperationsShown = 6;
constexpr std::size_t kLinksShown = 6;

report::PlacedStep place(const models::Inputs& inputs, const PlacementArgument& placement, int tiles) {
    launch::throw_if_interrupted();
    models::Inputs changed = inputs;
    changed.plan.placement = placement.kind;
    changed.plan.placement_seed = placement.seed;
    changed.plan.placement_free = placement.free;
    report::PlacedStep step;
    step.placement = placement.text;
    predict::PredictOptions options;
    options.tiles = tiles;
    options.executor_runs = schedule::executor_runs;
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

/// A row: its name, then a cell for each placement.
template <typename Cell>
report::TextRow row_of(const report::PlacementReport& report, const std::string& name, Cell&& cell) {
    report::TextRow row{name};
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        row.push_back(cell(i));
    }
    return row;
}

/// Totals, losses, operations, links.
std::vector<report::TextPart> parts_of(const report::PlacementReport& report) {
    const auto step = [&](std::size_t i) -> const report::PlacedStep& { return report.steps[i]; };
    report::TextPart totals{"", {row_of(report, "", [&](std::size_t i) { return step(i).placement; })}};
    totals.rows.push_back(
        row_of(report, "groups touched", [&](std::size_t i) { return thousands(step(i).prediction.groups_touched); }));
    totals.rows.push_back(
        row_of(report, "step", [&](std::size_t i) { return duration(step(i).prediction.step_time_s); }));
    report::TextPart losses{"losses", {}};
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        const bool is_there = std::ranges::any_of(
            report.steps, [loss](const report::PlacedStep& one) { return one.prediction.losses[loss] > 0; });
        if (is_there) {
            losses.rows.push_back(
                row_of(report, "  " + report::readable(static_cast<schedule::Loss>(loss)),
                       [&](std::size_t i) { return duration(to_seconds(step(i).prediction.losses[loss])); }));
        }
    }
    report::TextPart operations{"operations whose time differs by more than a thousandth of the step, a step and tile",
                                {}};
    for (const report::OperationDifference& one : largest_differences(report, kOperationsShown)) {
        operations.rows.push_back(
            row_of(report, "  " + one.name, [&](std::size_t i) { return duration(one.seconds[i]); }));
    }
    report::TextPart links{
        "how full the links are over the step: busiest, mean of those used", {}, "  no link between tiles is used"};
    operations.below = operations.rows.empty() ? "  none: the placement makes no difference here" : "";
    const std::vector<report::LinkUseComparison> uses = compare_link_use(report);
    for (std::size_t line = 0; line < std::min(uses.size(), kLinksShown); ++line) {
        links.rows.push_back(row_of(report, "  " + uses[line].kind, [&](std::size_t i) {
            const engine::LinkUse& use = uses[line].uses[i];
            return use.kind.empty() ? std::string("-") : percent(use.busiest_share) + ", " + percent(use.mean_share);
        }));
    }
    links.below = links.rows.empty() ? "  no link between tiles is used" : "";
    return {totals, losses, operations, links};
}

void print_text(const report::PlacementReport& report, const Options& options) {
    std::cout << report.title << overrides_line(options) << "\n" << report::text_parts(parts_of(report), {0});
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
    report.subject = inputs.workload.name + " on " + counted(report.steps.front().prediction.tiles, "tile") + " of " +
                     inputs.machine.name;
    report.command = options.command_line;
    report.inputs = files_of(inputs);
    report.overrides = overrides_in_words(options);
    if (!options.out.empty()) {
        write_placement_report(report, options.out);
    }
    const auto answer = [&](std::ostream& out) { print_json(out, report, inputs, options); };
    csv.write(answer);
    if (options.json) {
        answer(answer_stream(options));
        return;
    }
    print_text(report, options);
    if (!options.out.empty()) {
        std::cout << "\nThe report is in " << options.out << ": index.html, report.md, placements.csv, losses.svg\n";
    }
}

}  // namespace auspex::cli
