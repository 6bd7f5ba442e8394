#pragma once
/// @file A machine file in the making: rows of measured tables to laws, laws to constants, and how well they fit.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "compare/fit/cost_models/calibration_result.hpp"
#include "compare/fit/cost_models/non_negative_fit.hpp"
#include "compare/fit/machine_edit.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::fit {

using Rows = std::vector<models::Measurement>;
using SizeOf = std::function<double(const models::Measurement&)>;

/// Of the bootstrap behind every law's intervals.
inline constexpr std::uint64_t kSeed = 1;

/// Rows of this kind check laws and make none.
inline constexpr const char* kCollective = "collective";

/// What is worked on.
struct TableCalibration {
    JsonDocument document;
    models::Machine machine;  ///< of the document as it is now
    const models::Stack& stack;
    Calibration calibration;
};

/// seconds = start + size / rate.
struct RateFit {
    FittedNumber rate;
    std::optional<FittedNumber> start_s;
};

/// rows_of; those of fewer busy tiles than others have are left out, and a warning says so.
[[nodiscard]] Rows busiest_rows_of(TableCalibration& work, const Rows& all, std::string_view kind,
                                   std::string_view name);

/// The rate of products, FLOP/s, that shares of the row's precision are of.
[[nodiscard]] inline double sustained_rate(const models::Tile& tile, const models::Measurement& row) {
    return row.precision == "fp32" ? tile.gemm_fp32_flop_per_s : tile.gemm_bf16_flop_per_s;
}

[[nodiscard]] Rows of_precision(const Rows& rows, std::string_view precision);

/// Rows enough for a law with a start or a depth, over sizes that differ enough.
[[nodiscard]] bool can_be_fitted(const Rows& rows, const SizeOf& size);

/// Median of a value of single rows, with the smallest and the largest: measured.
[[nodiscard]] FittedNumber median_of(const Rows& rows, const SizeOf& value);

/// 1 over a number; its high end is the value where the number's low end is not above 0.
[[nodiscard]] FittedNumber inverse(const FittedNumber& number);

/// Of rows that carry a law by least squares with a bootstrap, else the median rate alone. Throws InputError where
/// times do not grow with size.
[[nodiscard]] RateFit fit_rate(const Rows& rows, const SizeOf& size);

[[nodiscard]] double predicted_s(const RateFit& fit, double size);

/// Says how well a law describes its rows, each of which counts, for they are few and published (many timings:
/// judge_timings, cost_models/verdict.hpp); warns of a poor one; gives the verdict to constants that have none yet; and
/// adds all that to the calibration.
void judge_table_rows(TableCalibration& work, const Rows& rows, std::vector<FitQuality::Term> terms,
                      const SizeOf& predicted);

/// Replaces a constant, reads the machine again, and gives the constant as a term. Throws InputError, naming the rows,
/// for what the machine cannot take.
FitQuality::Term put(TableCalibration& work, const std::string& path, Dimension dimension, const FittedNumber& number,
                     const Rows& rows);

/// A share cannot be above 1: the rows then contradict the rate that they are a share of.
FitQuality::Term put_share(TableCalibration& work, const std::string& path, FittedNumber number, const Rows& rows);

}  // namespace auspex::fit
