#pragma once
/// @file What `auspex compare` has found, as a page, a table and words.
#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace auspex {

struct ComparisonReport {
    const Comparison& comparison;
    std::string machine;  ///< its name
    std::string command;  ///< that makes the page again
};

/// "+3.1 %": predicted over measured, minus 1.
[[nodiscard]] std::string error_text(double error);
/// A row a layout, the worst error first, below a head: layout, workload, ranks, measured, noise, predicted, error,
/// interval, what is notable.
[[nodiscard]] std::vector<std::vector<std::string>> comparison_rows(const Comparison& comparison);
/// Errors, noise, rankings in words, a line each.
[[nodiscard]] std::vector<std::string> summary_lines(const Comparison& comparison);

/// Writes DIR/index.html and cases.csv (creating DIR). Throws InputError when it cannot.
void write_comparison_report(const ComparisonReport& report, const std::string& directory);

}  // namespace auspex
