#pragma once
/// @file Where in a step a rank first had numbers that are not finite.
///
/// They spread: once they have met a communication of a pass, every rank that takes part has them, and at the end of a
/// step most ranks. So each rank checks what it is about to send in the forward and backward passes, its own
/// contribution, and remembers the first position where that is not finite, in an order in which causes precede
/// effects. The ranks with the smallest position are those it came from. The price is one more read of everything that
/// is sent, cheaper than the copy that a transport makes of it.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "exec/kernels/elementwise.hpp"
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// A position is (micro-batch, stop, operation of the block) as one number, in lexicographic order: a micro-batch stops
/// at virtual stage v of V as its stop v going forward and 2 V - 1 - v coming back. Positions of passes are below
/// kPositionOfCheck (larger numbers are cut off), which is where a rank checks its loss and gradients: 1 + position
/// is sent as a float and exact.
[[nodiscard]] std::int32_t position_in_step(const schedule::Program& program, const models::Plan& plan,
                                            const CurrentOperation& current);

/// To be called with what a rank hands to a communication of a pass, before it does; integers need no check.
template <class P, typename T>
void check_contribution(Rank<P>& rank, const CurrentOperation& current, std::span<const T> values) {
    if constexpr (!std::is_integral_v<T>) {
        const std::int32_t position = position_in_step(rank.run->program, rank.plan(), current);
        if (position < rank.first_not_finite && !all_finite(values.size(), values.data())) {
            rank.first_not_finite = position;
        }
    }
}

/// The kHealth vector's entry of a rank: 0, or 1 + its first position.
[[nodiscard]] float health_flag(std::int32_t first_not_finite);
/// The ranks with the smallest flag above 0.
[[nodiscard]] std::vector<int> first_unhealthy(std::span<const float> flags);

}  // namespace auspex::exec
