#pragma once
/// @file Sizes of a job by when a whole run is over: a page.
#include <cstdint>
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"
#include "report/plans/plan_finish.hpp"

namespace auspex::report {

/// A size, and its layout that is over first.
struct SizeRow {
    int tiles = 0;
    std::uint64_t space = 0;  ///< plans that divide tiles and batch
    std::string why_no_plan;  ///< else what follows
    std::string line;         ///< its plan
    double step_time_s = 0, mfu = 0;
    PlanFinish finish;
    bool is_on_front = false;  ///< no other is over before with no more node-hours
};

struct SizesPage {
    std::string subject;  ///< "mula-7b-a1b on aurora with optimus, 384 sequences a step"
    std::string command;
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    double tokens = 0;
    int samples = 0;
    std::uint64_t seed = 1;
    std::size_t played = 0;          ///< layouts, of all sizes
    std::size_t wanted = 0;          ///< sizes that were asked for: more than rows where the search was ended early
    std::vector<SizeRow> rows;       ///< one with a plan at least
    std::size_t first = 0;           ///< the size that is over first
    std::size_t cheapest = 0;        ///< with the fewest node-hours
    std::vector<std::string> notes;  ///< of the step of the first
};

/// "Over first of 3 sizes: 384 tiles, half of the runs of 1 T tokens after 5.1 d; fewest node-hours: 96 tiles, ...".
[[nodiscard]] std::string sizes_headline(const SizesPage& page);
/// Median finish against node-hours, a mark a size, with their front, as inline SVG; empty where no run ends.
[[nodiscard]] std::string sizes_chart(const SizesPage& page, double width);
/// The whole page; it loads nothing.
[[nodiscard]] std::string render_sizes_html(const SizesPage& page);

}  // namespace auspex::report
