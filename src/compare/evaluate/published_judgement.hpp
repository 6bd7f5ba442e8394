#pragma once
/// @file Predictions of published collectives against what was measured.
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compare/evaluate/error_summary.hpp"
#include "compare/evaluate/published_names.hpp"

namespace auspex::evaluate {

/// Sizes of buffers that are judged together: messages that cost their latency, those between, and those that cost
/// their bytes.
enum class SizeClass { kSmall, kMedium, kLarge, kHuge };
inline constexpr std::array kSizeClasses{SizeClass::kSmall, SizeClass::kMedium, SizeClass::kLarge, SizeClass::kHuge};
/// "up to 8 KiB", "up to 1 MiB", "up to 64 MiB", "above 64 MiB".
[[nodiscard]] const char* to_string(SizeClass size);
[[nodiscard]] SizeClass size_class_of(double buffer_bytes);

/// A row with what is predicted of it.
struct PredictedCollective {
    PublishedCollective row;
    PublishedQuery query;  ///< refused: no prediction
    double predicted_s = 0;
    std::string algorithm;  ///< that was played: "ring, 1 level"

    /// predicted / measured - 1. Requires a prediction.
    [[nodiscard]] double error() const { return predicted_s / query.measured_s - 1; }
};

struct PublishedJudgement {
    /// Of rows with a prediction that are alike.
    struct Part {
        ErrorSummary all;
        std::map<std::string, ErrorSummary> by_machine, by_library, by_kind;
        std::map<SizeClass, ErrorSummary> by_size;
    };
    /// Machine, library, kind and size of rows.
    using Cell = std::tuple<std::string, std::string, std::string, SizeClass>;

    Part all, fitted, not_fitted;
    std::map<Cell, ErrorSummary> fitted_cells, not_fitted_cells;
    std::vector<std::size_t> worst;            ///< rows with a prediction, the largest |error| first
    std::map<std::string, int> not_predicted;  ///< why, and how many rows
};

[[nodiscard]] PublishedJudgement judge_published(const std::vector<PredictedCollective>& rows);

}  // namespace auspex::evaluate
