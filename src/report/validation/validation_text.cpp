/// @file Tables of errors.
#include "report/validation/validation_text.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>

#include "base/input_text.hpp"
#include "base/number_text.hpp"
#include "base/text/text_list.hpp"
#include "report/parts/text_table.hpp"
#include "report/validation/validation_rows.hpp"

namespace auspex::report {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;

void print_groups(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    std::vector<TextRow> table{{"group", "n", "mean |error|", "median", "90 %", "bias", "intervals hold", "their ±",
                                "constants' hold", "memory |error|"}};
    for (const auto& [group, s] : evaluate::summaries(runs)) {
        table.push_back({group, std::to_string(s.errors.n), percent(s.mape), percent(s.errors.median_abs_error),
                         percent(s.errors.p90_abs_error), signed_percent(s.errors.mean_error), percent(s.coverage),
                         percent(s.median_half_width), percent(s.constants_coverage),
                         s.memory_n > 0 ? percent(s.memory_mape) + " of " + std::to_string(s.memory_n) : "-"});
    }
    out << text_table(table, {0}) << "\n";
}

void print_cases(std::ostream& out, const std::vector<const ValidatedRun*>& worst) {
    std::vector<TextRow> table{
        {"error", "measured", "predicted", "memory", "from", "interval", "case", "machine", "stack"}};
    for (const ValidatedRun* const one : worst) {
        table.push_back({signed_percent(one->error()), duration(one->measured.seconds), duration(one->predicted_s),
                         one->memory_error() ? signed_percent(*one->memory_error()) : "", one->measured.from,
                         one->interval_holds() ? "holds" : "misses",
                         one->run.id + (one->is_fitted      ? " (fitted)"
                                        : one->is_corrected ? " (corrected)"
                                                            : ""),
                         one->machine, one->stack});
    }
    out << "Cases, the largest errors first\n\n" << text_table(table, {4, 5, 6, 7, 8}) << "\n";
}

/// What the largest errors rest on beside what their sources say.
void print_notes(std::ostream& out, const std::vector<const ValidatedRun*>& worst) {
    constexpr std::size_t kMost = 10;
    bool is_first = true;
    for (std::size_t i = 0; i < std::min(kMost, worst.size()); ++i) {
        if (worst[i]->notes.empty()) {
            continue;
        }
        out << (is_first ? "Assumed or passed over, of the ten largest errors\n\n" : "") << "  " << worst[i]->run.id
            << ": ";
        const char* separator = "";
        for (const std::string& note : worst[i]->notes) {
            out << std::exchange(separator, "; ") << note;
        }
        out << "\n";
        is_first = false;
    }
    out << (is_first ? "" : "\n");
}

/// What no case's notes should hide, wherever they are in the list: keys that nobody reads, and how many cases have
/// them.
void print_passed_over(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    std::map<std::string, int> cases;
    for (const ValidatedRun& one : runs) {
        for (const std::string& note : one.run.passed_over) {
            ++cases[note];
        }
    }
    const char* separator = "Keys: ";
    for (const auto& [note, times] : cases) {
        out << std::exchange(separator, "; ") << note << " (" << counted(times, "case") << ")";
    }
    out << (cases.empty() ? "" : "\n\n");
}

void print_words(std::ostream& out) {
    out << "error: predicted over measured time, minus 1; fitted: the case, or its group, gave a constant; corrected: "
           "what it says was changed; verified: neither\n"
           "intervals: of 90 %, constants with the spread of other sources' cases (same stack and machine, else stack, "
           "else machine, else all; where these have too few, that of the published runs that came with the program); "
           "their "
           "±: half their width, median; constants': without that spread; what was assumed of a case is in none; "
           "memory: of its peak, where one was "
           "measured\n";
}

/// One line a reason.
void print_unmapped(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    constexpr std::size_t kLongestName = 1000;
    const TextRows rows = unmapped_rows(runs);
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        auto found = std::ranges::find(reasons, rows[i][1], [](const auto& one) { return one.first; });
        if (found == reasons.end()) {
            found = reasons.emplace(reasons.end(), rows[i][1], std::vector<std::string>{});
        }
        found->second.push_back(printable(rows[i][0], kLongestName));
    }
    if (!reasons.empty()) {
        out << "\n"
            << rows.size() - 1 << " of " << counted(static_cast<double>(runs.size()), "case") << " not mapped\n";
    }
    for (const auto& [reason, ids] : reasons) {
        out << "not mapped: " << joined(ids, ", ") << ": " << reason << "\n";
    }
}

}  // namespace

void print_validation(std::ostream& out, const std::vector<ValidatedRun>& runs) {
    const std::vector<const ValidatedRun*> worst = evaluate::worst_first(runs);
    if (worst.empty()) {
        out << "none of " << counted(static_cast<double>(runs.size()), "case") << " could be predicted\n";
    } else {
        print_cases(out, worst);
        print_notes(out, worst);
        print_passed_over(out, runs);
        print_groups(out, runs);
        print_words(out);
    }
    print_unmapped(out, runs);
}

}  // namespace auspex::report
