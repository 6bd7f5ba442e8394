#pragma once
/// @file Plans played within a search, against each by itself.
#include <optional>
#include <vector>

#include "models/inputs.hpp"
#include "sim/search/search_result.hpp"

namespace auspex::search {

/// A plan whose step is another when it is computed from nothing.
struct Disagreement {
    EvaluatedPlan plan;
    Picoseconds alone = 0;
};

/// So many of the plans, drawn by the seed; all where there are not more.
[[nodiscard]] std::vector<EvaluatedPlan> some_of(const std::vector<EvaluatedPlan>& plans, std::size_t count,
                                                 std::uint64_t seed);
/// One of the plans that disagree; none: all agree to the picosecond.
[[nodiscard]] std::optional<Disagreement> disagreement(const models::Inputs& inputs,
                                                       const std::vector<EvaluatedPlan>& plans);

}  // namespace auspex::search
