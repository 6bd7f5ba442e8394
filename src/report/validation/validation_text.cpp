/// @file Tables of errors.
#include "report/validation/validation_text.hpp"

#include <ostream>

#include "base/number_text.hpp"
#include "report/parts/text_table.hpp"

namespace auspex::report {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;

void print_groups(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    std::vector<TextRow> table{{"group", "n", "mean |error|", "median", "90 %", "bias", "intervals hold",
                                "constants' hold", "memory |error|"}};
    for (const auto& [group, s] : evaluate::summaries(runs)) {
        table.push_back({group, std::to_string(s.errors.n), percent(s.mape), percent(s.errors.median_abs_error),
                         percent(s.errors.p90_abs_error), signed_percent(s.errors.mean_error), percent(s.coverage),
                         percent(s.constants_coverage),
                         s.memory_n > 0 ? percent(s.memory_mape) + " of " + std::to_string(s.memory_n) : "-"});
    }
    out << text_table(table, {0}) << "\n";
}

void print_cases(std::ostream& out, const std::vector<const ValidatedRun*>& worst) {
    std::vector<TextRow> table{{"error", "measured", "predicted", "from", "interval", "case", "machine", "stack"}};
    for (const ValidatedRun* const one : worst) {
        table.push_back({signed_percent(one->error()), duration(one->measured.seconds), duration(one->predicted_s),
                         one->measured.from, one->interval_holds() ? "holds" : "misses",
                         one->run.id + (one->is_fitted ? " (fitted)" : ""), one->machine, one->stack});
    }
    if (!worst.empty()) {
        out << "Cases, the largest errors first\n\n" << text_table(table, {3, 4, 5, 6, 7}) << "\n";
    }
}

}  // namespace

void print_validation(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    print_cases(out, evaluate::worst_first(runs));
    print_groups(out, runs);
    out << "error: predicted over measured time, minus 1; fitted: the case, or its group, gave a constant\n"
           "intervals: of 90 %, constants with the spread of other sources' cases (same stack and machine, else stack, "
           "else machine, else all); constants': without that spread\n";
    for (const ValidatedRun& one : runs) {
        if (!one.why_unmapped.empty()) {
            out << "not mapped: " << one.why_unmapped << "\n";
        }
    }
}

}  // namespace auspex::report
