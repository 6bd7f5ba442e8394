#pragma once
/// @file The best plans of a space, by branch and bound: bounds first, exact memory next, the folded lens for the rest.
#include <cstdint>
#include <functional>
#include <limits>

#include "models/inputs.hpp"
#include "sim/search/part_source.hpp"
#include "sim/search/search_result.hpp"
#include "sim/search/state/search_state.hpp"

namespace auspex::search {

struct SearchProgress {
    std::uint64_t done = 0, all = 0;  ///< plans pruned or evaluated, of the space
    double best_s = 0;                ///< 0: none yet
};

struct SearchOptions {
    std::size_t top = 10;
    bool exhaustive = false;   ///< every plan that fits is evaluated, whatever its bound
    std::size_t checks = 100;  ///< evaluated plans that are computed once more, from nothing
    std::uint64_t seed = 1;    ///< of the checks' choice
    /// Plans that take longer are not looked for, unless `exhaustive`: whether any is as fast, is sooner known.
    double most_s = std::numeric_limits<double>::infinity();
    std::function<void(const SearchProgress&)> progress{};  ///< called now and then, from any thread but one at a time
    std::function<bool()> is_cut{};                         ///< asked often; true: end with what there is
    const SearchState* from = nullptr;                      ///< what the same search has found before it was cut
    std::string from_name{};                                ///< for messages: where that is
    /// Given what is known so far, now and then and at the end; from any thread but one at a time.
    std::function<void(const SearchState&)> keep{};
    PartSource* parts = nullptr;  ///< null: this process does all parts
    int threads = 0;              ///< 0: one for each core that the process may use
};

/// The plans of the space with the shortest folded steps that fit into memory, whatever the number of threads: of a
/// search that was not cut, the same as the exhaustive one's. A plan is pruned where its bound, or its memory
/// (stage_memory), says that it cannot be among them, and its play is broken off where its step turns out to be too
/// long and another with a lower bound is known with less memory. Plans of one grid share a network. Throws InputError
/// as plan_space, std::logic_error where a plan's step is below its bound or differs when computed from nothing,
/// InputError where the best plans of `from` take another step here. Where `parts` helps another process, the result is
/// empty.
[[nodiscard]] SearchResult search_plans(const models::Inputs& inputs, const SpaceRequest& request,
                                        const SearchOptions& options);

}  // namespace auspex::search
