#pragma once
/// @file One job on several placements, side by side: a Markdown page, a CSV table and a chart.
#include <string>
#include <vector>

#include "report/parts/picture.hpp"
#include "report/scaling/scale_points.hpp"

namespace auspex::report {

struct PlacedStep {
    std::string placement;  ///< "contiguous", "random", ...
    predict::Prediction prediction;
};

struct PlacementReport {
    std::string title, command;
    std::string subject;  ///< "mula-220b-a10b on 3,072 tiles of aurora"
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    std::vector<PlacedStep> steps;  ///< at least one; the first is what the others are compared with
};

/// Operations (sharing of links included, waiting for others not) whose time differs between placements by more than a
/// thousandth of the first step, the largest difference first.
struct OperationDifference {
    std::string name;
    std::vector<double> seconds;  ///< by placement
};
/// The first `most` of them.
[[nodiscard]] std::vector<OperationDifference> largest_differences(const PlacementReport& report, std::size_t most);

/// Use of one kind of links by placement (LinkUse::kind empty: none).
struct LinkUseComparison {
    std::string kind;
    std::vector<engine::LinkUse> uses;
};
/// Every kind that any placement uses, the one with the largest share first.
[[nodiscard]] std::vector<LinkUseComparison> compare_link_use(const PlacementReport& report);

/// Losses by placement, as inline SVG.
[[nodiscard]] std::string placement_chart(const PlacementReport& report, double width = kPagePicture);
/// "…: random:1 costs 0.8 % over contiguous (8.378 s against 8.315 s a step); most of it is send_forward".
[[nodiscard]] std::string placement_headline(const PlacementReport& report);
/// The whole page; it loads nothing.
[[nodiscard]] std::string render_placement_html(const PlacementReport& report);
/// Writes DIR/index.html, report.md, placements.csv and losses.svg (creating DIR). Throws InputError when it cannot.
void write_placement_report(const PlacementReport& report, const std::string& directory);

}  // namespace auspex::report
