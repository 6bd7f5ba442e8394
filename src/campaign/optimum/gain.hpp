#pragma once
/// @file What a setting that was chosen saves, on samples that did not choose it.
#include <optional>

#include "base/statistics/interval.hpp"
#include "campaign/campaign.hpp"

namespace auspex::campaign {

/// Of one number: medians of both settings, and what lies between them (from - to), with a 95 % interval.
struct Saving {
    double from = 0, to = 0;
    Interval saved;

    [[nodiscard]] double value() const { return from - to; }
};

struct Gain {
    Saving elapsed_s, node_hours;
};

/// Plays both settings once more, with a seed of their own: the samples that made `to` the best of many flatter it.
/// Sample i of both has the same draws; intervals are of a bootstrap of such pairs (base/statistics/bootstrap.hpp).
/// None where a quarter of either's samples is given up.
[[nodiscard]] std::optional<Gain> gain_of(const Setting& from, const Setting& to, const Samples& samples);

}  // namespace auspex::campaign
