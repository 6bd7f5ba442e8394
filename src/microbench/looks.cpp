/// @file Medians over calm looks.
#include "microbench/looks.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/quantiles.hpp"

namespace auspex {

Look joined(std::span<const Look> looks) {
    AUSPEX_CHECK(!looks.empty(), "at least one look");
    Look all{.is_calm = true};
    std::vector<double> seconds, spreads;
    for (const Look& look : looks) {
        if (look.is_calm) {
            seconds.push_back(look.seconds);
            spreads.push_back(look.spread);
            all.count += look.count;
        }
    }
    if (seconds.empty()) {
        return *std::ranges::min_element(looks, {}, &Look::seconds);
    }
    all.seconds = median(seconds);
    all.spread = std::max(median(spreads), relative_spread(seconds));
    return all;
}

}  // namespace auspex
