#pragma once
/// @file The best step over pairs of fields of the plan: what is known of each pair of values.
#include <functional>
#include <string>
#include <vector>

#include "sim/search/plan_search.hpp"

namespace auspex::search {

/// A field whose values tell shapes apart.
struct MapAxis {
    const char* name = "";
    std::vector<int> values;          ///< rising, two at least
    std::vector<std::string> labels;  ///< of the values
};

enum class CellKnowledge : std::uint8_t {
    kExact,    ///< `best` has the shortest step of all plans of the cell that fit
    kPlayed,   ///< `best` was played; others of the cell may be faster, down to least_s
    kBounded,  ///< none that was played fits: a plan that fits takes least_s at least
    kTooLarge  ///< of no plan of the cell do weights and gradients fit
};

struct MapCell {
    std::size_t row = 0, column = 0;  ///< into the values of the pair's axes
    CellKnowledge knowledge = CellKnowledge::kBounded;
    EvaluatedPlan best{};
    double least_s = 0;
};

/// Pairs of values that no plan has are left out.
struct MapOfPair {
    std::size_t rows = 0, columns = 0;  ///< axes
    std::vector<MapCell> cells;
};

struct PlanMap {
    std::vector<MapAxis> axes;
    std::vector<MapOfPair> pairs;  ///< the first one is that whose cells were gone through
    std::uint64_t played = 0;      ///< for the map, beside those of the search
};

/// Of all pairs of the fields of grid, batch and schedule that vary, dp left out, which follows. A search has decided
/// all plans with bounds up to result.decided_below_s, so a best step up to there is exact for its cell whatever the
/// pair. For the first pair, (pp, ep) where both vary, the plans of each other cell with the lowest bounds are tried,
/// four that fit at most; steps that this finds are known in all pairs. Empty where no two fields vary. `is_cut` ends
/// the trying.
[[nodiscard]] PlanMap map_plans(const models::Inputs& inputs, const SpaceRequest& request, const SearchResult& result,
                                const std::function<bool()>& is_cut);

}  // namespace auspex::search
