#pragma once
/// @file Tables of a validation, the same for HTML and Markdown: rows of text, the first the head.
#include <string>
#include <vector>

#include "report/validation/validation_data.hpp"

namespace auspex::report {

using TextRows = std::vector<std::vector<std::string>>;

/// Errors by group; verified ones of a machine are left out where the machine has no others.
[[nodiscard]] TextRows group_rows(const std::vector<evaluate::ValidatedRun>& runs);
/// Errors where a part is large and where it is not; of verified runs.
[[nodiscard]] TextRows mechanism_rows(const std::vector<evaluate::ValidatedRun>& runs);
[[nodiscard]] TextRows trait_rows(const std::vector<evaluate::ValidatedRun>& runs);
/// The largest errors, with the parts of the predicted step, what was assumed, and reasons.
[[nodiscard]] TextRows worst_rows(const std::vector<evaluate::ValidatedRun>& runs);
[[nodiscard]] TextRows case_rows(const std::vector<evaluate::ValidatedRun>& runs);
/// Cases without a prediction; the head alone where there is none.
[[nodiscard]] TextRows unmapped_rows(const std::vector<evaluate::ValidatedRun>& runs);
[[nodiscard]] TextRows fitted_rows(const ValidationReport& report);
/// Errors with each fitted constant and without it.
[[nodiscard]] TextRows ablation_rows(const ValidationReport& report);
inline constexpr std::size_t kWorstCases = 10;

/// Texts below the tables: what columns mean.
extern const char* const kGroupsNote;
extern const char* const kMechanismsNote;
extern const char* const kTraitsNote;
extern const char* const kAblationNote;

}  // namespace auspex::report
