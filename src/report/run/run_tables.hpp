#pragma once
/// @file A run beside its prediction as rows of text, for terminal and page.
#include <string>
#include <vector>

#include "compare/kineto/account/run_diff.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::report {

/// "measured 1.23 s, predicted 1.10 s: …", and how much of it is matched: one line each.
[[nodiscard]] std::vector<std::string> run_summary(const kineto::RunDiff& diff);

// Each below a head.
/// A row a part of the step that either of them has.
[[nodiscard]] std::vector<TextRow> spent_rows(const kineto::RunDiff& diff);
/// A row an operation name, at most `most`; those without a kernel too.
[[nodiscard]] std::vector<TextRow> operation_rows(const kineto::RunDiff& diff, std::size_t most);
/// Kernels that match nothing, at most `most`; the rest as one row.
[[nodiscard]] std::vector<TextRow> unmatched_rows(const kineto::RunDiff& diff, std::size_t most);
/// A row a constant.
[[nodiscard]] std::vector<TextRow> constant_rows(const kineto::RunDiff& diff);
/// A row a rank of the trace.
[[nodiscard]] std::vector<TextRow> rank_rows(const kineto::RunDiff& diff);

/// What the prediction would be with all constants of `diff`; empty where there are none.
[[nodiscard]] std::string explained_text(const kineto::RunDiff& diff);

/// Operations with all columns, for spreadsheets: operations.csv.
[[nodiscard]] std::string operations_csv(const kineto::RunDiff& diff);

}  // namespace auspex::report
