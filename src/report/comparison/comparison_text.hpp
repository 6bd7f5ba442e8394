#pragma once
/// @file A comparison in words and rows, for page and terminal.
#include <string>
#include <vector>

#include "compare/evaluate/comparison.hpp"

namespace auspex::report {

/// How to read a single operation that is far off.
inline constexpr const char* kWhereWaitsShow =
    "A rank that loses its core or waits shows it in the operation it is in: a short one may be far off for that "
    "alone.";

/// Largest |error| first.
[[nodiscard]] std::vector<const evaluate::ComparedCase*> worst_first(const evaluate::Comparison& comparison);
/// "1.2 %", or that it is not known.
[[nodiscard]] std::string noise_floor_text(const evaluate::Comparison& comparison);
/// Kendall's tau of one half of the repeats against the other, or that it is not judged.
[[nodiscard]] std::string tau_of_repeats_text(const evaluate::Comparison& comparison);
/// "60 layouts trained here: the step is predicted 3.1 % off in the median, 7.7 % or less for nine of ten; Kendall's
/// tau of their order is 0.98".
[[nodiscard]] std::string comparison_headline(const evaluate::Comparison& comparison);
/// A row a layout, the worst error first, below a head: layout, workload, ranks, measured, noise, predicted, error,
/// interval, what is notable.
[[nodiscard]] std::vector<std::vector<std::string>> comparison_rows(const evaluate::Comparison& comparison);
/// A row a mechanism, below a head: errors over all layouts, first with all of them, then without each; empty where
/// that was not asked for.
[[nodiscard]] std::vector<std::vector<std::string>> mechanism_rows(const evaluate::Comparison& comparison);
/// Errors, intervals, noise, rankings in words, a line each.
[[nodiscard]] std::vector<std::string> summary_lines(const evaluate::Comparison& comparison);
/// "2 layouts never ran to an end: dp2 on small-moe, …"; empty where none failed.
[[nodiscard]] std::string failed_text(const evaluate::Comparison& comparison);
/// Of how many layouts the operations and the timeline are of a step unlike the others of its run; empty: of none.
[[nodiscard]] std::string operations_note(const evaluate::Comparison& comparison);
/// "most of the error: attention -22.1 ms (-18.9 %), …": the three operations with the largest |predicted - measured|,
/// summed over layouts; empty without operations.
[[nodiscard]] std::string largest_errors_text(const evaluate::Comparison& comparison);

}  // namespace auspex::report
