#pragma once
/// @file Constants of a machine file replaced by measured ones, all else left as it is.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "models/measurement.hpp"

namespace auspex::fit {

/// A constant as measurements give it, in SI.
struct Estimate {
    double value = 0;
    double low = 0,
           high = 0;         ///< of a law the 95 % interval, of single rows the smallest and the largest; both `value`
                             ///< where nothing is known
    bool is_fitted = false;  ///< from a law over several sizes; else the median of single rows
};

/// A multiple or share of an estimate; and 1 over one.
[[nodiscard]] Estimate scaled(const Estimate& estimate, double factor);
[[nodiscard]] Estimate inverse(const Estimate& estimate);

/// Every source of the rows once, in their order; what is before the colon is not said again.
[[nodiscard]] std::string sources_of(const std::vector<models::Measurement>& rows);
/// "4 rows of gemm shape"; of several names the kind alone. Requires rows of one kind.
[[nodiscard]] std::string rows_in_words(const std::vector<models::Measurement>& rows);

/// Replaces the constant at `path` ("node.nic.bandwidth"): its value, the sources of `rows`, kind "measured" or
/// "fitted", and one standard deviation of the estimate where there is an interval (of single rows: sigma_of_median of
/// all `rows`, interval.hpp). Throws InputError where the file has no such constant.
void replace_constant(JsonDocument& machine, const std::string& path, Dimension dimension, const Estimate& estimate,
                      const std::vector<models::Measurement>& rows);

/// The document with a line for every constant. Requires what JsonDocument::dump gives.
[[nodiscard]] std::string laid_out(const std::string& compact_json);

}  // namespace auspex::fit
