#pragma once
/// @file What a search has found, and how it decided of all plans.
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "schedule/losses.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// A plan that was played.
struct EvaluatedPlan {
    Candidate candidate;
    std::uint64_t index = 0;  ///< in the space: ties of `step` are in its order
    Picoseconds step = 0;     ///< folded
    double bound_s = 0;       ///< the largest of GridFloor and GridBound, as far as they were asked
    double memory_peak_bytes = 0;
    schedule::LossTimes losses{};
};

struct SearchResult {
    /// Each plan of the space counts once: space = pruned_memory + pruned_bound + evaluated + untried.
    std::uint64_t space = 0;
    std::uint64_t pruned_memory = 0;  ///< looked at, and too large
    std::uint64_t pruned_bound = 0;   ///< not among the best by bounds or by the part that was played; also those that
                                      ///< `filter` refuses
    std::uint64_t evaluated = 0;      ///< played to the end
    std::uint64_t untried = 0;        ///< was_cut: nothing of the above is known of them
    std::map<std::string, std::uint64_t> rejected;
    std::string filter;               ///< name of the request's; empty: none
    std::vector<EvaluatedPlan> best;  ///< shortest step first, `top` of them at most
    std::vector<EvaluatedPlan>
        played;  ///< all evaluated, in the order of the space: beyond the best it is chance which are
    /// None has both a shorter step and less memory: of the plans whose bounds are not above the last of `best`, for of
    /// the others some were evaluated and some not, by chance; of an exhaustive search's of all.
    std::vector<EvaluatedPlan> pareto;
    /// Not played, for they do not fit: those with the least bounds, none above the best step; the lowest first.
    std::vector<EvaluatedPlan> unfit;
    EvaluatedPlan smallest;     ///< where nothing fits: the plan of those looked at that lacks least memory
    std::uint64_t checked = 0;  ///< plans computed from nothing that agreed; one that does not throws
    double capacity_bytes = 0;
    bool was_cut = false;  ///< it ended before all plans were decided
    /// Every plan whose bound is not above was played, or does not fit; infinite where that is all of them.
    double decided_below_s = std::numeric_limits<double>::infinity();
    double least_bound_left_s = 0;  ///< was_cut: no untried plan takes less; 0: that is not known yet
    double elapsed_s = 0;

    /// No plan of the space that fits is faster than the first of `best`.
    [[nodiscard]] bool knows_fastest() const {
        return !was_cut || (!best.empty() && least_bound_left_s >= to_seconds(best.front().step));
    }
};

}  // namespace auspex::search
