/// @file Infinite values are null.
#include "cli/output/campaign/quantiles_output.hpp"

#include <cmath>
#include <optional>

namespace auspex::cli {

void write_quantiles(JsonWriter& json, const campaign::Quantiles& of) {
    const auto finite = [](double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; };
    json.member_or_null("p10", finite(of.p10)).member_or_null("p50", finite(of.p50));
    json.member_or_null("p90", finite(of.p90)).member_or_null("mean", finite(of.mean));
}

}  // namespace auspex::cli
