/// @file Finishes of layouts in words and as a table.
#include "report/plans/plan_finish.hpp"

#include <algorithm>
#include <cmath>

#include "base/number_text.hpp"
#include "base/units.hpp"
#include "report/campaign/campaign_words.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

/// A cell that sorts by a value, which may be infinite.
Cell sorted_by(std::string text, double value) { return number_of(std::move(text), std::min(value, 1e300)); }

}  // namespace

std::string finish_sentence(const PlanFinishes& finishes) {
    const PlanFinish& first = finishes.plans.front();
    if (!std::isfinite(first.elapsed_s.p50)) {
        return "As a whole run it gets nowhere: it loses as much as it does";
    }
    return "Half of the runs of " + short_count(finishes.tokens) + " tokens are over after " +
           span_words(first.elapsed_s.p50) + ", nine of ten after " + span_words(first.elapsed_s.p90) + "; " +
           count_words(first.node_hours.p50) + " node-hours, goodput " + percent(first.goodput, 1) +
           ", a checkpoint every " + span_words(first.interval_s) + " (" + finishes.terms + ")";
}

std::string others_sentence(const PlanFinishes& finishes) {
    const std::string played = "Played were the " + std::to_string(finishes.played) +
                               " layouts with the shortest steps" + (finishes.was_cut ? " found so far, " : ", ") +
                               thousands(static_cast<double>(finishes.samples)) + " campaigns each";
    if (finishes.was_cut) {
        return played + ". One that the search left untried might be over before.";
    }
    if (!finishes.least_of_others_s) {
        return played + ": all that fit.";
    }
    return played +
           (finishes.is_certain() ? ": but for the noise of samples no other can be over before "
                                  : ". One with a longer step might be over before: after ") +
           span_words(*finishes.least_of_others_s) +
           (finishes.is_certain() ? ", with the least that checkpoints and restarts can take."
                                  : " at the least; --top N plays more.");
}

std::string finish_section(const PlanFinishes& finishes, const std::vector<std::string>& lines) {
    TableRows rows{{{"plan"},
                    {"over after (median)", "n"},
                    {"10 %", "n"},
                    {"90 %", "n"},
                    {"node hours (median)", "n"},
                    {"goodput", "n"},
                    {"checkpoint every", "n"},
                    {"layout"}}};
    for (std::size_t i = 0; i < finishes.plans.size(); ++i) {
        const PlanFinish& one = finishes.plans[i];
        rows.push_back({{std::to_string(i + 1)},
                        sorted_by(span_words(one.elapsed_s.p50), one.elapsed_s.p50),
                        sorted_by(span_words(one.elapsed_s.p10), one.elapsed_s.p10),
                        sorted_by(span_words(one.elapsed_s.p90), one.elapsed_s.p90),
                        sorted_by(count_words(one.node_hours.p50), one.node_hours.p50),
                        sorted_by(percent(one.goodput, 2), one.goodput),
                        sorted_by(span_words(one.interval_s), one.interval_s),
                        {lines[i], "line"}});
    }
    return html_paragraph(finish_sentence(finishes) + ".") +
           html_table(rows,
                      "Whole runs with failures, checkpoints, restarts and queue, from the begin to the last "
                      "checkpoint.") +
           html_paragraph(
               finishes.is_objective
                   ? others_sentence(finishes)
                   : "Of the best layout alone: --objective finish-by plays others, and ranks by the median. "
                     "auspex campaign with best.json says where the time goes.",
               "note");
}

}  // namespace auspex::report
