#pragma once
/// @file What a scaling report says in words, shared by the HTML and the Markdown page. Plain text: the pages escape
/// it.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics/interval.hpp"
#include "report/parts/loss_words.hpp"
#include "report/scaling/scale_points.hpp"

namespace auspex::report {

/// Refuses what no page can show: no points, or a point without a step.
void require_points(const ScalingReport& report);

/// What the page predicts and finds, as sentences for its top.
[[nodiscard]] std::vector<std::string> summary_sentences(const ScalingReport& report);

/// A loss at the first and at the last point.
struct LossGrowth {
    schedule::Loss loss{};
    double first_s = 0, last_s = 0;
    double first_share = 0, last_share = 0;  ///< of the step
};
/// First against last point, largest growth first (in seconds; of the share under strong scaling, where all seconds
/// shrink); losses that are zero in both are left out.
[[nodiscard]] std::vector<LossGrowth> loss_growth(const ScalingReport& report);

/// How many constants are of one kind, and what the kind means.
struct KindCount {
    ConstantKind kind{};
    std::size_t count = 0;
    const char* meaning = "";
};
/// Counts of ScalingReport::constants: measured, specified, derived, assumed, fitted.
[[nodiscard]] std::array<KindCount, 5> constants_by_kind(const ScalingReport& report);

/// The points' notes, each once; one that not every point carries names its points.
[[nodiscard]] std::vector<std::string> notes_of(const ScalingReport& report);

/// Word and meaning, for a reader who has never seen the tool.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& glossary();

/// "weak scaling: …" in one clause.
[[nodiscard]] std::string mode_in_words(const ScalingReport& report);

/// A published efficiency: "87 % to 94 %", or "97.0 %".
[[nodiscard]] std::string published_text(const PublishedPoint& point);

/// Low and high of the step time relative to it: {-0.08, 0.09}.
[[nodiscard]] Interval relative_interval(const predict::Prediction& prediction);
/// "9.10–11.4"
[[nodiscard]] std::string interval_text(const Interval& interval);

}  // namespace auspex::report
