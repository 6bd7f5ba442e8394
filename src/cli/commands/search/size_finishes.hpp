#pragma once
/// @file Sizes of a job by when a whole run is over: `auspex plan --tiles A..B --objective finish-by`.
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/flags/options.hpp"
#include "report/plans/plan_finish.hpp"
#include "sim/search/answers/sizes.hpp"

namespace auspex::cli {

struct SizeFinishes {
    std::vector<std::optional<report::PlanFinish>> of_sizes;  ///< in the order of the points; none: no plan
    std::size_t played = 0;                                   ///< layouts, of all sizes
    std::size_t first = 0;                                    ///< the size that is over first
    std::size_t cheapest = 0;                                 ///< with the fewest node-hours in the median
};

/// Plays the fastest layouts of each size (kFinalistsOfSize), and puts the one that is over first in the place of the
/// point's best. Requires a point with a plan.
[[nodiscard]] SizeFinishes play_sizes(const Options& options, const models::Inputs& inputs,
                                      std::vector<search::SizePoint>& points);

/// True where no other size is over before with no more node-hours. Requires a size with a plan.
[[nodiscard]] bool is_on_front(const SizeFinishes& finishes, std::size_t i);
/// "no plan fits". Requires a size without a best plan.
[[nodiscard]] const char* why_no_plan(const search::SizePoint& point);

/// Members of the open object: the size of fewest node-hours, sizes that no other beats in both, how many were played.
void write_size_finishes(JsonWriter& json, const SizeFinishes& finishes, const std::vector<search::SizePoint>& points);
void print_size_finishes(const Options& options, const SizeFinishes& finishes,
                         const std::vector<search::SizePoint>& points);

}  // namespace auspex::cli
