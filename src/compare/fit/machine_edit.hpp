#pragma once
/// @file Constants of a machine file replaced by measured ones, all else left as it is.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"
#include "base/units.hpp"
#include "compare/fit/cost_models/fitted_number.hpp"
#include "models/measurement.hpp"

namespace auspex::fit {

/// Every source of the rows once, in their order; what is before the colon is not said again.
[[nodiscard]] std::string sources_of(const std::vector<models::Measurement>& rows);
/// "4 rows of gemm shape"; of several names the kind alone. Requires rows of one kind.
[[nodiscard]] std::string rows_in_words(const std::vector<models::Measurement>& rows);

/// A plain number, or a text with its unit, as JSON; six digits.
[[nodiscard]] std::string quantity_json(double value, Dimension dimension);

/// Replaces the constant at `path` ("node.nic.bandwidth") by one with source, kind and, where it is above 0,
/// uncertainty: one standard deviation over the value, 0.002 at least.
void replace_constant(JsonDocument& document, const std::string& path, Dimension dimension, double value,
                      const std::string& source, ConstantKind kind, double uncertainty);

/// Replaces the constant at `path`: its value, the sources of `rows`, its kind, and one standard
/// deviation of the estimate where there is an interval: 95 % where it is fitted, else the smallest and the largest of
/// `rows` (sigma_of_median, base/statistics/bootstrap.hpp). Throws InputError where the file has no such constant.
void replace_constant(JsonDocument& machine, const std::string& path, Dimension dimension, const FittedNumber& number,
                      const std::vector<models::Measurement>& rows);

/// The document with a line for every constant. Requires what JsonDocument::dump gives.
[[nodiscard]] std::string laid_out(const std::string& compact_json);

}  // namespace auspex::fit
