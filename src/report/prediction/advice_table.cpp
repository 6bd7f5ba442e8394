/// @file Changes, their steps and what they need.
#include "report/prediction/advice_table.hpp"

#include "base/units.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

std::vector<Cell> numbers_of(const AdviceRow& row) {
    return {number_of(duration(row.step_time_s), row.step_time_s), number_of(percent(row.mfu), 100 * row.mfu),
            number_of(gain_text(row.gain), 100 * row.gain)};
}

std::string table_of(const std::vector<AdviceRow>& changes, const std::string& caption, bool of_plans,
                     bool with_reason) {
    if (changes.empty()) {
        return "";
    }
    TableRows rows{
        {{of_plans ? "change" : "constant"}, number("step"), number("MFU"), main_column(number("gain", "tokens/s"))}};
    if (of_plans) {
        rows.front().push_back(number("memory", "fullest tile"));
    }
    if (with_reason) {
        rows.front().push_back(main_column({"what is in the way"}));
    }
    for (const AdviceRow& change : changes) {
        std::vector<Cell>& row = rows.emplace_back(std::vector<Cell>{{change.change, "path"}});
        for (Cell& cell : numbers_of(change)) {
            row.push_back(std::move(cell));
        }
        if (of_plans) {
            row.push_back(number_of(format_quantity(change.memory_bytes, Dimension::kBytes), change.memory_bytes));
        }
        if (with_reason) {
            row.push_back({change.why_not});
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
                 true, false) +
        table_of(advice.not_to_be_had, "Changes of the plan that would help more, if they could be had.", true, true) +
        table_of(advice.one_after_another,
                 "The best change, the best one on top of it, and so on: each line with all those above it.", true,
                 false) +
        table_of(advice.constants,
                 "Constants of machine and stack, each by itself twice as good, or as good as its file may have it.",
                 false, false);
    if (!advice.without_gain.empty()) {
        std::string fields;
        for (const std::string& field : advice.without_gain) {
            fields += (fields.empty() ? "" : ", ") + field;
        }
        out += html_paragraph("Of " + std::to_string(advice.tried) + " changes of the plan tried, none gains of: " +
                                  fields + ". Tiles and global batch stay.",
                              "note");
    }
    return out;
}

}  // namespace auspex::report
