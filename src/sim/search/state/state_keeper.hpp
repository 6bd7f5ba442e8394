#pragma once
/// @file When a search that goes on is kept.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "sim/search/state/search_state.hpp"

namespace auspex::search {

/// The least time between two, and how much of the time they may take.
inline constexpr double kKeepEvery_s = 5, kKeepShare = 0.02;

/// Passes a search's state on, now and then. From one thread at a time.
class StateKeeper {
 public:
    /// `keep` may be empty: nothing is passed on.
    StateKeeper(std::function<void(const SearchState&)> keep, std::function<SearchState()> state)
        : keep_(std::move(keep)), state_(std::move(state)) {}

    void keep_if_due() {
        if (keep_ && Clock::now() >= next_) {
            keep();
        }
    }
    void keep() {
        if (!keep_) {
            return;
        }
        const Clock::time_point begin = Clock::now();
        keep_(state_());
        const double taken_s = std::chrono::duration<double>(Clock::now() - begin).count();
        next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::max(kKeepEvery_s, taken_s / kKeepShare)));
    }

 private:
    using Clock = std::chrono::steady_clock;
    std::function<void(const SearchState&)> keep_;
    std::function<SearchState()> state_;
    Clock::time_point next_{};  ///< at once, for places that cannot be written to
};

}  // namespace auspex::search
