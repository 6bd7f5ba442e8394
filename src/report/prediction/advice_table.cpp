/// @file Changes, their steps and what they need.
#include "report/prediction/advice_table.hpp"

#include "base/units.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

/// What is to know of a change stands below it.
std::string table_of(const std::vector<AdviceRow>& changes, const std::string& caption, bool of_plans) {
    if (changes.empty()) {
        return "";
    }
    TableRows rows{
        {{of_plans ? "change" : "constant"}, number("step"), number("MFU"), main_column(number("gain", "tokens/s"))}};
    if (of_plans) {
        rows.front().push_back(number("memory", "fullest tile"));
    }
    for (const AdviceRow& change : changes) {
        rows.push_back({{change.change, "path", change.remark},
                        number_of(duration(change.step_time_s), change.step_time_s),
                        number_of(percent(change.mfu), 100 * change.mfu),
                        number_of(gain_text(change.gain), 100 * change.gain)});
        if (of_plans) {
            rows.back().push_back(
                number_of(format_quantity(change.memory_bytes, Dimension::kBytes), change.memory_bytes));
        }
    }
    return html_table(rows, caption, {.is_sorted = true});
}

}  // namespace

std::string gain_text(double gain) { return signed_percent(gain); }

std::string advice_section(const AdviceRows& advice) {
    std::string out =
        table_of(advice.plans,
                 advice.fits
                     ? "Changes of the plan, each by itself and each what --set takes."
                     : "Changes of the plan, each by itself and each what --set takes, that make it fit or gain.",
                 true) +
        table_of(advice.not_to_be_had, "Changes of the plan that would help more, if they could be had.", true) +
        table_of(advice.one_after_another,
                 "The best change, the best one on top of it, and so on: each line with all those above it.", true) +
        table_of(advice.constants,
                 "Constants of machine and stack, each by itself twice as good, or as good as its file may have it.",
                 false);
    if (!advice.without_gain.empty()) {
        std::string fields;
        for (const std::string& field : advice.without_gain) {
            fields += (fields.empty() ? "" : ", ") + field;
        }
        out += html_paragraph("Of " + std::to_string(advice.tried) + " changes of the plan tried, none gains of: " +
                                  fields + ". Tiles and global batch stay.",
                              "note");
    }
    if (!advice.not_tried.empty()) {
        out += html_paragraph("Not tried: " + advice.not_tried + ".", "note");
    }
    return out;
}

}  // namespace auspex::report
