#pragma once
/// @file What a search has found out, as data: to go on later or elsewhere.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/losses.hpp"

namespace auspex::search {

/// A part of a search, its unit of work: the plans of a grid, all decided.
struct DonePart {
    std::uint64_t first_shape = 0;  ///< the least number of its shapes: what it is known by
    std::uint64_t plans = 0;
    std::uint64_t too_large = 0;  ///< of them, by weights and gradients alone
};

/// A plan that was simulated, by its number in the space.
struct PlayedPlan {
    std::uint64_t index = 0;
    Picoseconds step = 0;
    double bound_s = 0, memory_peak_bytes = 0;
    schedule::LossTimes losses{};
};

/// A plan that was looked at and does not fit.
struct UnfitPlan {
    std::uint64_t index = 0;
    double bound_s = 0, memory_peak_bytes = 0;
};

/// Parts that are done, and all plans that were looked at, those of other parts too.
struct SearchState {
    bool has_first_plans = false;  ///< the plans that give a step to beat were played; without them nothing is known
    double elapsed_s = 0;          ///< that it took
    std::vector<DonePart> parts;
    std::vector<PlayedPlan> played;
    std::vector<UnfitPlan> unfit;
};

/// As bytes of this kind of processor, and back. Throws InputError that names `name` where they are not such.
[[nodiscard]] std::string bytes_of(const SearchState& state);
[[nodiscard]] SearchState state_of(std::string_view bytes, const std::string& name);

}  // namespace auspex::search
