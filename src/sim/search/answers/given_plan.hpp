#pragma once
/// @file Where one plan stands among all plans of a space.
#include <cstdint>
#include <optional>
#include <string>

#include "sim/search/answers/ranked_plans.hpp"

namespace auspex::search {

/// How many plans that fit have a shorter step. All counts but `estimate` are certain.
struct FasterPlans {
    std::uint64_t at_least = 0, at_most = 0;
    double estimate = 0;
    Interval interval;  ///< 90 %, by Wilson's score, within at_least and at_most
    /// Plans whose bounds are below the step, and that the search has not decided: so many, of which so many were drawn
    /// and played.
    std::uint64_t undecided = 0, drawn = 0;
    [[nodiscard]] bool is_exact() const { return at_least == at_most; }
};

struct GivenPlan {
    std::string why_not;      ///< not empty: it is no plan of the space, and nothing else is filled
    RankedPlan ranked;        ///< against the best one
    double excess_bytes = 0;  ///< above 0: it does not fit by so much, and is not counted among others
    FasterPlans faster;
};

/// The plan of the space with the fields of inputs.plan (dp and micro-batches follow from tiles and batch) beside the
/// best of a search. Plans with bounds below its step are counted: those that the search decided exactly; of the others
/// `draws`, drawn by `seed`, are played. Exact where there are no more of them. `best`: the first of ranked_plans.
[[nodiscard]] GivenPlan place_given_plan(const models::Inputs& inputs, const SpaceRequest& request,
                                         const SearchResult& result, const RankedPlan& best, std::size_t draws = 256,
                                         std::uint64_t seed = 1);

}  // namespace auspex::search
