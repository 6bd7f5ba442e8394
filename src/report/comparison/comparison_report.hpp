#pragma once
/// @file What `auspex compare` has found, as a page, a table and words.
#include <string>
#include <vector>

#include "compare/evaluate/comparison.hpp"

namespace auspex::report {

/// What the page shows beside the comparison itself.
struct ComparisonReport {
    const evaluate::Comparison& comparison;
    std::string machine;  ///< its name
    std::string command;  ///< that makes the page again
};

/// Writes DIR/index.html and cases.csv (creating DIR). Throws InputError when it cannot.
void write_comparison_report(const ComparisonReport& report, const std::string& directory);

}  // namespace auspex::report
