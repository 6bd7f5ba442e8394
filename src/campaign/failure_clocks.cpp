/// @file Draws of times between failures.
#include "campaign/failure_clocks.hpp"

#include <algorithm>
#include <cmath>

#include "base/mix64.hpp"

namespace auspex::campaign {

Rng stream_of(std::uint64_t seed, std::uint64_t sample, std::uint64_t purpose) {
    return Rng(mix64(mix64(mix64(seed) + sample) + purpose));
}

FailureClocks::FailureClocks(const std::vector<FailureSource>& sources, std::uint64_t seed, std::uint64_t sample)
    : sources_(sources) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
        clocks_.push_back({stream_of(seed, sample, i)});
        clocks_.back().due = draw(i);
    }
    find_next();
}

/// Time to the next one, at the pace that is now; of a trace, its exposure less that of the one before.
Nanoseconds FailureClocks::draw(std::size_t source) {
    const FailureSource& from = sources_[source];
    Clock& clock = clocks_[source];
    if (from.spacing == Spacing::kTrace) {
        const std::size_t at = clock.of_trace++;
        if (at >= from.times_s.size()) {
            return kNever;
        }
        return to_nanoseconds(from.times_s[at]) - (at > 0 ? to_nanoseconds(from.times_s[at - 1]) : 0);
    }
    const double hazard = -std::log1p(-clock.rng.uniform());
    const double pace = from.nodes > 0 ? factor_ : 1;
    if (from.spacing == Spacing::kWeibull) {
        const double scale = from.mean_s / std::tgamma(1 + 1 / from.shape);
        return to_nanoseconds(scale * std::pow(hazard, 1 / from.shape) / pace);
    }
    return to_nanoseconds(from.mean_s * hazard / pace);
}

void FailureClocks::strike() {
    Clock& clock = clocks_[next_];
    clock.due = std::min(clock.due + draw(next_), kNever);
    find_next();
}

void FailureClocks::quicken(Nanoseconds exposed, double factor) {
    if (factor == factor_) {
        return;
    }
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
        Clock& clock = clocks_[i];
        if (sources_[i].nodes > 0 && sources_[i].spacing != Spacing::kTrace && clock.due < kNever) {
            const double left = static_cast<double>(clock.due - exposed) * factor_ / factor;
            clock.due = std::min(exposed + to_nanoseconds(left * 1e-9), kNever);
        }
    }
    factor_ = factor;
    find_next();
}

void FailureClocks::find_next() {
    const auto first = std::ranges::min_element(clocks_, {}, &Clock::due);
    due_ = first == clocks_.end() ? kNever : first->due;
    next_ = static_cast<std::size_t>(first - clocks_.begin());
}

}  // namespace auspex::campaign
