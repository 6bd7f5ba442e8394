#pragma once
/// @file The best plans of a space, by branch and bound: bounds first, exact memory next, the folded lens for the rest.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "schedule/losses.hpp"
#include "sim/search/plan_space.hpp"

namespace auspex::search {

/// A plan that was played.
struct EvaluatedPlan {
    Candidate candidate;
    std::uint64_t index = 0;  ///< in the space: ties of `step` are in its order
    Picoseconds step = 0;     ///< folded
    double bound_s = 0;       ///< StepBound
    double memory_peak_bytes = 0;
    schedule::LossTimes losses{};
};

struct SearchProgress {
    std::uint64_t done = 0, all = 0;  ///< plans pruned or evaluated, of the space
    double best_s = 0;                ///< 0: none yet
};

struct SearchOptions {
    std::size_t top = 10;
    bool exhaustive = false;   ///< every plan that fits is evaluated, whatever its bound
    std::size_t checks = 100;  ///< evaluated plans that are computed once more, from nothing
    std::uint64_t seed = 1;    ///< of the checks' choice
    std::function<void(const SearchProgress&)> progress{};  ///< called now and then, from any thread but one at a time
    std::function<bool()> is_cut{};                         ///< asked often; true: end with what there is
};

struct SearchResult {
    std::uint64_t space = 0, pruned_memory = 0, pruned_bound = 0, evaluated = 0;
    std::map<std::string, std::uint64_t> rejected;
    std::vector<EvaluatedPlan> best;    ///< shortest step first, `top` of them at most
    std::vector<EvaluatedPlan> pareto;  ///< of the plans evaluated: none has both a shorter step and less memory
    EvaluatedPlan smallest;             ///< where nothing fits: the plan of those looked at that lacks least memory
    std::uint64_t checked = 0;          ///< plans computed from nothing that agreed; one that does not throws
    double capacity_bytes = 0;
    bool was_cut = false;
    double least_bound_left_s = 0;  ///< was_cut: no plan that was not looked at can be faster; else 0
    double elapsed_s = 0;
};

/// The plans of the space with the shortest folded steps that fit into memory, whatever the number of threads: of a
/// search that was not cut, the same as the exhaustive one's. A plan is pruned where its bound, or its exact memory
/// (stage_memory), says that it cannot be among them. Plans of one grid share a network. Throws InputError as
/// plan_space, std::logic_error where a plan's step is below its bound or differs when computed from nothing.
[[nodiscard]] SearchResult search_plans(const models::Inputs& inputs, const SpaceRequest& request,
                                        const SearchOptions& options);

}  // namespace auspex::search
