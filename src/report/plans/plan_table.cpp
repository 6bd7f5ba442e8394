/// @file The table of plans, its columns named for the filter.
#include <algorithm>
#include <set>

#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/plans/plan_page.hpp"

namespace auspex::report {
namespace {

/// A column: its name in the head and in filters, the unit below it, and its texts by row.
struct Column {
    std::string name, unit;
    bool is_number = true, is_main = false;
    std::vector<std::string> texts{};
};

/// The fields in which the rows differ; in `constant`, the others in words.
std::vector<Column> field_columns(const PlanPage& page, std::string& constant) {
    std::vector<Column> columns;
    for (std::size_t field = 0; field < page.field_names.size(); ++field) {
        Column column{page.field_names[field], ""};
        for (const PlanRow& row : page.rows) {
            column.texts.push_back(row.fields[field]);
        }
        if (std::set<std::string>(column.texts.begin(), column.texts.end()).size() == 1) {
            constant += (constant.empty() ? "" : ", ") + column.name + " " + column.texts.front();
            continue;
        }
        column.is_number = std::ranges::all_of(column.texts, [](const std::string& text) {
            return text.find_first_not_of("0123456789") == std::string::npos;
        });
        columns.push_back(std::move(column));
    }
    return columns;
}

std::vector<Column> result_columns(const PlanPage& page) {
    const predict::Prediction& best = page.ranked.front().prediction;
    std::vector<Column> columns{{"plan", "", false},         {"step", "s", true, true},
                                {"behind", "%", true, true}, {"best?", "%"},
                                {"Mtokens/s", ""},           {"MFU", "%"},
                                {"memory", "GB", true, true}};
    for (const PlanRow& row : page.rows) {
        const double ratio = row.step_time_s / best.step_time_s;
        std::size_t i = 0;
        for (const std::string& text :
             {row.name.empty() ? row.why : row.name, fixed(row.step_time_s, 4), fixed((ratio - 1) * 100, 2),
              row.probability_best ? fixed(*row.probability_best * 100, 1) : std::string(),
              fixed(best.tokens_per_s / ratio / 1e6, 3), fixed(best.mfu / ratio * 100, 2),
              fixed(row.memory_peak_bytes / 1e9, 2)}) {
            columns[i++].texts.push_back(text);
        }
    }
    return columns;
}

std::string row_class(const PlanRow& row) { return row.name == "1" ? "best" : row.name == "given" ? "given" : ""; }

}  // namespace

std::string plan_table_section(const PlanPage& page) {
    std::string constant;
    std::vector<Column> columns = result_columns(page);
    std::ranges::move(field_columns(page, constant), std::back_inserter(columns));
    TableRows rows(1);
    TableSkills skills{.id = "plans",
                       .row_name = "plans",
                       .filter_example = "pp<=8 recompute=norm fused",
                       .keeps_address = true,
                       .is_tall = true};
    for (const Column& column : columns) {
        Cell head = column.is_number ? number(column.name, column.unit) : Cell{column.name, {}, column.unit};
        head.is_main = column.is_main;
        head.name = column.name;
        rows.front().push_back(std::move(head));
    }
    for (std::size_t row = 0; row < page.rows.size(); ++row) {
        std::vector<Cell>& cells = rows.emplace_back();
        for (const Column& column : columns) {
            cells.push_back({column.texts[row], column.is_number ? "n" : ""});
        }
        skills.row_classes.push_back(row_class(page.rows[row]));
    }
    return html_paragraph("The " + std::to_string(page.ranked.size()) + " fastest " +
                              (page.result.was_cut ? "found so far " : "") +
                              "that fit; of slower ones those on the front of step and memory, and the best "
                              "that is known of each pair of values in the first map below." +
                              (constant.empty() ? "" : " The same in all: " + constant + "."),
                          "note") +
           html_table(rows, "Plans, the fastest first.", skills) +
           html_paragraph(
               "best?: the probability of being the fastest of those ranked, by the uncertainties of the constants "
               "that "
               "they lean on. A head sorts by its column, again to turn it round. Terms of the filter, with spaces "
               "between, all have to hold: COLUMN<=N, <, >=, >, =, !=, or a part of the row's text.",
               "note");
}

}  // namespace auspex::report
