/// @file The table of plans, its columns named for the filter.
#include <algorithm>
#include <set>

#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/plans/plan_page.hpp"

namespace auspex::report {
namespace {

/// A column: its name in the head and in filters, what it says, and its texts by row.
struct Column {
    std::string name, meaning;
    bool is_number = true;
    std::vector<std::string> texts{};
};

/// The fields in which the rows differ; in `constant`, the others in words.
std::vector<Column> field_columns(const PlanPage& page, std::string& constant) {
    std::vector<Column> columns;
    for (std::size_t field = 0; field < page.field_names.size(); ++field) {
        Column column{page.field_names[field], "field of the plan"};
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
    std::vector<Column> columns{{"plan", "place in the ranking; given: the plan of --plan", false},
                                {"step", "seconds"},
                                {"behind", "per cent longer than the best"},
                                {"best?", "probability to be the best, per cent"},
                                {"Mtokens/s", "millions of tokens a second"},
                                {"MFU", "per cent"},
                                {"memory", "GB of the fullest tile"}};
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

std::string row_class(const PlanRow& row) {
    return row.name == "1" ? " class=\"first\"" : row.name == "given" ? " class=\"given\"" : "";
}

}  // namespace

std::string plan_table_section(const PlanPage& page) {
    std::string constant;
    std::vector<Column> columns = result_columns(page);
    std::ranges::move(field_columns(page, constant), std::back_inserter(columns));
    std::string out = html_heading("plans-section", "The plans");
    out += html_paragraph("The " + std::to_string(page.ranked.size()) +
                              " fastest that fit; of slower ones those on the front of step and memory, and the best "
                              "that is known of each pair of "
                              "values in the first map below." +
                              (constant.empty() ? "" : " The same in all: " + constant + "."),
                          "soft");
    out +=
        "<div class=\"controls\"><label>Show only <input id=\"where\" type=\"search\" autocomplete=\"off\" "
        "spellcheck=\"false\" placeholder=\"pp&lt;=8 recompute=norm fused\"></label><span id=\"shown\" "
        "class=\"soft\" role=\"status\"></span></div>\n<div class=\"scroll\" id=\"plan-box\"><table "
        "id=\"plans\">\n<thead><tr>";
    for (const Column& column : columns) {
        out += std::string("<th") + (column.is_number ? " class=\"n\"" : "") + " data-name=\"" +
               html_escape(column.name) + "\" title=\"" + html_escape(column.meaning) + "\"><button type=\"button\">" +
               html_escape(column.name) + "</button></th>";
    }
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 0; row < page.rows.size(); ++row) {  // ends of cells and rows follow: half of the bytes
        out += "<tr" + row_class(page.rows[row]) + ">";
        for (const Column& column : columns) {
            out += (column.is_number ? "<td>" : "<td class=t>") + html_escape(column.texts[row]);
        }
        out += "\n";
    }
    return out + "</tbody></table></div>\n" +
           html_paragraph(
               "Step in seconds, behind and MFU in per cent, memory in GB. best?: the probability of being the fastest "
               "of those ranked, by the uncertainties of the constants that they lean on. A head sorts by its column, "
               "again to turn it round. Terms of the filter, with spaces between, all have to hold: COLUMN<=N, <, >=, "
               ">, =, !=, or a part of the row's text.",
               "soft");
}

}  // namespace auspex::report
