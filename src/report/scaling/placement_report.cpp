/// @file What changes with the placement: the step, its losses, the operations, the links.
#include "report/scaling/placement_report.hpp"

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "report/parts/markdown_parts.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kMaxOperations = 8;
/// Differences below this part of the step say nothing about placements.
constexpr double kMinDifference = 1e-3;

MarkdownRow head(const PlacementReport& report, std::vector<std::string> first) {
    for (const PlacedStep& step : report.steps) {
        first.push_back(step.placement);
    }
    return first;
}

std::string steps_table(const PlacementReport& report) {
    const double reference_s = report.steps.front().prediction.step_time_s;
    std::vector<MarkdownRow> rows{{"placement", "groups touched", "step s", "against the first", "MFU"}};
    for (const PlacedStep& step : report.steps) {
        const double change = step.prediction.step_time_s / reference_s - 1;
        rows.push_back({step.placement, thousands(step.prediction.groups_touched),
                        significant(step.prediction.step_time_s, 4),
                        (std::abs(change) < kMinDifference ? "0 %" : signed_significant(change * 100) + " %"),
                        percent(step.prediction.mfu)});
    }
    return markdown_table(rows, 1);
}

std::string losses_table(const PlacementReport& report) {
    std::vector<MarkdownRow> rows{head(report, {"part", "what it is"})};
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        MarkdownRow row{readable(static_cast<schedule::Loss>(loss)), meaning_of(static_cast<schedule::Loss>(loss))};
        bool is_there = false;
        for (const PlacedStep& step : report.steps) {
            row.push_back(significant(to_seconds(step.prediction.losses[loss])));
            is_there = is_there || step.prediction.losses[loss] > 0;
        }
        if (is_there) {
            rows.push_back(std::move(row));
        }
    }
    return markdown_table(rows, 2);
}

std::string operations_table(const PlacementReport& report) {
    std::vector<MarkdownRow> rows{head(report, {"operation"})};
    for (const OperationDifference& difference : largest_differences(report, kMaxOperations)) {
        MarkdownRow row{difference.name};
        for (const double seconds : difference.seconds) {
            row.push_back(significant(seconds));
        }
        rows.push_back(std::move(row));
    }
    return markdown_table(rows, 1);
}

std::string links_table(const PlacementReport& report) {
    std::vector<MarkdownRow> rows{head(report, {"links"})};
    for (const LinkUseComparison& comparison : compare_link_use(report)) {
        MarkdownRow row{comparison.kind};
        for (const engine::LinkUse& use : comparison.uses) {
            row.push_back(use.kind.empty() ? "-" : percent(use.busiest_share) + ", " + percent(use.mean_share));
        }
        rows.push_back(std::move(row));
    }
    return markdown_table(rows, 1);
}

std::vector<std::string> busiest_links(const PlacementReport& report) {
    std::vector<std::string> lines;
    for (const PlacedStep& step : report.steps) {
        for (const engine::LinkUse& use : step.prediction.link_use) {
            if (use.between_nodes) {
                lines.push_back(step.placement + ": " + use.busiest + " (" + use.kind + "), " +
                                percent(use.busiest_share));
                break;
            }
        }
    }
    return lines;
}

std::string render_csv(const PlacementReport& report) {
    std::string out = "placement,groups_touched,step_time_s";
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        out += std::string(",loss_") + to_string(static_cast<schedule::Loss>(loss)) + "_s";
    }
    const std::vector<LinkUseComparison> links = compare_link_use(report);
    for (const LinkUseComparison& comparison : links) {
        std::string kind = comparison.kind;
        std::replace(kind.begin(), kind.end(), ' ', '_');
        out += "," + kind + "_busiest_share," + kind + "_mean_share";
    }
    out += "\n";
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const PlacedStep& step = report.steps[i];
        out += step.placement + "," + std::to_string(step.prediction.groups_touched) + "," +
               json_number(step.prediction.step_time_s);
        for (const Picoseconds loss : step.prediction.losses) {
            out += "," + json_number(to_seconds(loss));
        }
        for (const LinkUseComparison& comparison : links) {
            out +=
                "," + json_number(comparison.uses[i].busiest_share) + "," + json_number(comparison.uses[i].mean_share);
        }
        out += "\n";
    }
    return out;
}

std::string render_markdown(const PlacementReport& report) {
    std::string out = "# " + markdown_escape(report.title) + "\n\n" + steps_table(report);
    out += "![Losses by placement](losses.svg)\n\n## Where the time goes, seconds\n\n" + losses_table(report);
    out +=
        "## Which operations pay, seconds a step and tile\n\nThe operations whose time differs by more "
        "than a thousandth of the step, waiting for others left out.\n\n" +
        operations_table(report);
    out += "## How full the links are over the step: busiest, mean of those used\n\n" + links_table(report) +
           "Traffic of a pair of dragonfly groups (global) or of switches of a group (local) is measured against its "
           "direct links: what is above 100 % has to detour.\n\n";
    out += "The busiest link between nodes:\n\n" + markdown_list(busiest_links(report));
    if (!report.steps.front().prediction.notes.empty()) {
        out += "What to know before using the numbers:\n\n" + markdown_list(report.steps.front().prediction.notes);
    }
    out += "## Where this comes from\n\nThis command makes the report again:\n\n" + markdown_code(report.command) +
           markdown_inputs(report.inputs);
    if (!report.overrides.empty()) {
        out += "Changed on the command line:\n\n" + markdown_list(report.overrides);
    }
    return out;
}

}  // namespace

std::vector<OperationDifference> largest_differences(const PlacementReport& report, std::size_t most) {
    std::vector<OperationDifference> found;
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        for (const predict::OperationShare& share : report.steps[i].prediction.operations_by_time) {
            auto known = std::find_if(found.begin(), found.end(),
                                      [&](const OperationDifference& one) { return one.name == share.name; });
            if (known == found.end()) {
                found.push_back({share.name, std::vector<double>(report.steps.size(), 0)});
                known = std::prev(found.end());
            }
            known->seconds[i] = share.seconds;
        }
    }
    const auto spread = [](const OperationDifference& one) {
        const auto [least, largest] = std::minmax_element(one.seconds.begin(), one.seconds.end());
        return *largest - *least;
    };
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return spread(a) > spread(b); });
    const double least_s = kMinDifference * report.steps.front().prediction.step_time_s;
    std::erase_if(found, [&](const OperationDifference& one) { return spread(one) <= least_s; });
    found.resize(std::min(found.size(), most));
    return found;
}

std::vector<LinkUseComparison> compare_link_use(const PlacementReport& report) {
    std::vector<LinkUseComparison> found;
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        for (const engine::LinkUse& use : report.steps[i].prediction.link_use) {
            auto known = std::find_if(found.begin(), found.end(),
                                      [&](const LinkUseComparison& one) { return one.kind == use.kind; });
            if (known == found.end()) {
                found.push_back({use.kind, std::vector<engine::LinkUse>(report.steps.size())});
                known = std::prev(found.end());
            }
            known->uses[i] = use;
        }
    }
    return found;
}

void write_placement_report(const PlacementReport& report, const std::string& directory) {
    const std::filesystem::path folder =
        make_report_folder(directory, "index.html, report.md, placements.csv and losses.svg");
    write_report_file(folder / "index.html", render_placement_html(report));
    write_report_file(folder / "report.md", render_markdown(report));
    write_report_file(folder / "placements.csv", render_csv(report));
    write_report_file(folder / "losses.svg", standalone_svg(placement_chart(report), placement_headline(report),
                                                            source_line(report.command, report.inputs)));
}

}  // namespace auspex::report
