/// @file The page of a comparison of placements.
#include <algorithm>

#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/headlines.hpp"
#include "report/scaling/placement_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kMaxOperations = 24;

std::string source_of(const PlacementReport& report) { return source_line(report.command, report.inputs); }

const PlacedStep& fastest(const PlacementReport& report) {
    return *std::ranges::min_element(report.steps, {},
                                     [](const PlacedStep& step) { return step.prediction.step_time_s; });
}
const PlacedStep& slowest(const PlacementReport& report) {
    return *std::ranges::max_element(report.steps, {},
                                     [](const PlacedStep& step) { return step.prediction.step_time_s; });
}

/// "NAME" and a column for each placement, the last one main.
std::vector<Cell> head_of(const PlacementReport& report, const std::string& name, const std::string& unit) {
    std::vector<Cell> head{{name}};
    for (const PlacedStep& step : report.steps) {
        head.push_back(number(step.placement, unit));
    }
    return head;
}

std::string steps_table(const PlacementReport& report) {
    const double reference_s = report.steps.front().prediction.step_time_s;
    TableRows rows{{{"placement"},
                    number("groups touched"),
                    main_column(number("step", "s")),
                    main_column(number("against the first")),
                    number("MFU"),
                    number("bubble")}};
    for (const PlacedStep& step : report.steps) {
        const predict::Prediction& p = step.prediction;
        rows.push_back({{step.placement},
                        number(thousands(p.groups_touched)),
                        number(significant(p.step_time_s, 4)),
                        number(signed_percent(p.step_time_s / reference_s - 1)),
                        number(percent(p.mfu)),
                        number(percent(bubble_share(p)))});
    }
    return html_table(rows, "One job, placed in different ways.");
}

std::string losses_table(const PlacementReport& report) {
    TableRows rows{head_of(report, "part", "s")};
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        std::vector<Cell> row{{readable(static_cast<schedule::Loss>(loss)), "part", {}, static_cast<int>(loss)}};
        bool is_there = false;
        for (const PlacedStep& step : report.steps) {
            row.push_back(number(significant(to_seconds(step.prediction.losses[loss]))));
            is_there = is_there || step.prediction.losses[loss] > 0;
        }
        if (is_there) {
            rows.push_back(std::move(row));
        }
    }
    return html_table(rows, "Seconds of each part of the step, by placement.");
}

std::string operations_section(const PlacementReport& report) {
    const std::vector<OperationDifference> differences = largest_differences(report, kMaxOperations);
    if (differences.empty()) {
        return html_paragraph(
            "No operation differs by more than a thousandth of the step: the placement makes no "
            "difference here.");
    }
    TableRows rows{head_of(report, "operation", "s")};
    for (const OperationDifference& one : differences) {
        std::vector<Cell> row{{one.name, "path"}};
        for (const double seconds : one.seconds) {
            row.push_back(number(significant(seconds)));
        }
        rows.push_back(std::move(row));
    }
    return html_table(rows,
                      "Operations whose time differs by more than a thousandth of the step, a step and tile; waiting "
                      "for others left out.");
}

std::string links_section(const PlacementReport& report) {
    TableRows rows{head_of(report, "links", "busiest, mean")};
    for (const LinkUseComparison& comparison : compare_link_use(report)) {
        std::vector<Cell> row{{comparison.kind}};
        for (const engine::LinkUse& use : comparison.uses) {
            row.push_back(use.kind.empty() ? number("-")
                                           : number_of(percent(use.busiest_share), 100 * use.busiest_share,
                                                       "mean " + percent(use.mean_share)));
        }
        rows.push_back(std::move(row));
    }
    return html_table(rows, "How full the links are over the step: the busiest, and the mean of those used.") +
           html_paragraph(
               "Traffic of a pair of dragonfly groups (global) or of switches of a group (local) is measured against "
               "its "
               "direct links: what is above 100 % has to detour.",
               "note");
}

}  // namespace

std::string placement_headline(const PlacementReport& report) {
    const double least_s = fastest(report).prediction.step_time_s, most_s = slowest(report).prediction.step_time_s;
    if (report.steps.size() == 1) {
        return report.subject + ", placed " + report.steps.front().placement + ": " + duration(least_s) + " a step";
    }
    if (most_s / least_s - 1 < 1e-3) {
        return report.subject + ": the placement makes no difference; all " + std::to_string(report.steps.size()) +
               " take " + duration(least_s) + " a step";
    }
    const std::vector<OperationDifference> differences = largest_differences(report, 1);
    return report.subject + ": " + slowest(report).placement + " costs " + percent(most_s / least_s - 1) + " over " +
           fastest(report).placement + " (" + fixed(most_s, 3) + " s against " + fixed(least_s, 3) + " s a step)" +
           (differences.empty() ? "" : "; most of it is " + differences.front().name);
}

std::string render_placement_html(const PlacementReport& report) {
    const predict::Prediction& best = fastest(report).prediction;
    const predict::Prediction& worst = slowest(report).prediction;
    FirstScreen first;
    first.title = first.kind = report.title;
    first.headline = placement_headline(report);
    first.cards = {
        {duration(best.step_time_s), "a step, " + fastest(report).placement},
        {duration(worst.step_time_s), "a step, " + slowest(report).placement},
        {percent(best.mfu), "MFU, " + fastest(report).placement},
        {percent(bubble_share(best)), "of the step idle in the pipeline (bubble)"},
        {significant(best.step_node_hours),
         "node-hours a step; " + significant(worst.step_node_hours) + " for the slowest"},
        {thousands(best.groups_touched) + " to " +
             thousands(std::ranges::max_element(report.steps, {},
                                                [](const PlacedStep& step) { return step.prediction.groups_touched; })
                           ->prediction.groups_touched),
         "groups of the network touched"}};
    first.figure = html_figure(
        picture_of([&](double width) { return placement_chart(report, width); }, kColumnPicture),
        {"Where the time of a step goes, by placement", "The parts of a bar add up to the step.", source_of(report)});
    const std::vector<std::string>& notes = report.steps.front().prediction.notes;
    return html_page(first,
                     {{"steps", "Placements", steps_table(report)},
                      {"losses", "Where the time goes", losses_table(report)},
                      {"operations", "Which operations pay", operations_section(report)},
                      {"links", "How full the links are", links_section(report)},
                      {"notes", "What to know", notes.empty() ? "" : html_list(notes)},
                      {"provenance", "Provenance", html_provenance(report.command, report.inputs, report.overrides)}});
}

}  // namespace auspex::report
