/// @file The page, section by section.
#include "report/run/run_page.hpp"

#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/parts/timeline_chart.hpp"
#include "report/run/run_charts.hpp"
#include "report/run/run_tables.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kMostKernels = 40, kMostRanks = 12;

/// Columns up to `left` and the last `right` ones are text, those between numbers.
std::string table_of(const std::vector<TextRow>& rows, std::size_t left, std::size_t right, std::string_view caption) {
    std::vector<std::vector<Cell>> cells;
    for (const TextRow& row : rows) {
        std::vector<Cell>& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_text = i < left || i + right >= row.size();
            line.push_back(is_text ? Cell{row[i], i == 0 ? "part" : ""} : number(row[i]));
        }
    }
    return html_table(cells, caption);
}

std::string cards(const kineto::RunDiff& diff) {
    double kernels = 0, matched = 0;
    for (const kineto::RankRow& rank : diff.ranks) {
        kernels += rank.kernel_s;
        matched += rank.matched_s;
    }
    const double error = diff.predicted_s / diff.measured_s - 1;
    std::vector<Card> list{
        {duration(diff.measured_s), "measured step"},
        {duration(diff.predicted_s), "predicted step"},
        {signed_percent(error), "error of the prediction"},
        {percent(kernels > 0 ? matched / kernels : 0), "of kernel time matches the plan", matched < 0.8 * kernels}};
    if (diff.explained_s) {
        list.push_back({duration(*diff.explained_s), "predicted with the constants below"});
    }
    return html_cards(list);
}

std::string timeline_section(const kineto::RunDiff& diff) {
    return html_heading("timeline", "Both timelines") +
           html_figure(
               timeline_chart("One step, measured above predicted", diff.measured_timeline, diff.predicted_timeline),
               "A row a rank, on one time axis. Each rank's step begins at its first kernel. A point of time "
               "has the colour of what took most of it; white: the device did nothing.");
}

std::string constants_section(const kineto::RunDiff& diff) {
    if (diff.constants.empty()) {
        return "";
    }
    std::string out = html_heading("constants", "Constants that would explain the difference");
    out += table_of(constant_rows(diff), 2, 0,
                    "The value with which these operations would take as long as they were measured to, one by one; "
                    "behind it: measured operations; spread: of measured over predicted about their middle; step with "
                    "it: predicted, with this constant changed and nothing else. A constant that the trace tells "
                    "nothing of is not listed.");
    out += html_paragraph(explained_text(diff));
    std::vector<std::string> notes;
    for (const kineto::ExplainingConstant& one : diff.constants) {
        if (!one.note.empty()) {
            notes.push_back(one.path + ": " + one.note);
        }
    }
    return notes.empty() ? out : out + html_list(notes);
}

std::string unmatched_section(const kineto::RunDiff& diff) {
    std::string out = html_heading("unmatched", "What matches nothing");
    out += diff.kernels.empty()
               ? html_paragraph("Every kernel matches an operation of the plan.")
               : table_of(unmatched_rows(diff, kMostKernels), 3, 0,
                          "Kernels and collectives that match no operation, by name; mean over ranks.");
    std::vector<TextRow> rows{{"operation", "times", "predicted"}};
    for (const kineto::OperationRow& row : diff.operations) {
        if (row.matched < row.expected - 0.01) {
            const double left = row.all_predicted_s - row.predicted_s;
            rows.push_back({row.name, significant(row.expected - row.matched), duration(left)});
        }
    }
    return rows.size() == 1 ? out
                            : out + table_of(rows, 1, 0,
                                             "Operations of the plan without a kernel in the trace: fused into others, "
                                             "not recorded, or not run.");
}

}  // namespace

std::string render_run_html(const RunPage& page) {
    const kineto::RunDiff& diff = page.diff;
    std::string body;
    for (const std::string& line : run_summary(diff)) {
        body += html_paragraph(line, "summary");
    }
    body += cards(diff);
    body += html_figure(spent_bars(diff), "Mean over the ranks that were traced, measured / predicted.");
    body += timeline_section(diff) + constants_section(diff);
    body += html_heading("operations", "Operations") +
            table_of(operation_rows(diff, diff.operations.size()), 1, 0,
                     "Kernel times, mean over ranks; launches and gaps are not in them. Predicted: of the operations "
                     "that are matched (without any match: of all). Kernels: measured; expected: those that the stack "
                     "file has.");
    body += unmatched_section(diff);
    std::vector<TextRow> meanings{{"part", "meaning"}};
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        const auto spent = static_cast<kineto::Spent>(i);
        meanings.push_back({to_string(spent), meaning_of(spent)});
    }
    std::vector<TextRow> ranks = rank_rows(diff);
    const std::size_t left_out = ranks.size() > kMostRanks + 1 ? ranks.size() - kMostRanks - 1 : 0;
    ranks.resize(ranks.size() - left_out);
    body += html_heading("ranks", "Ranks") +
            table_of(ranks, 2, 1, left_out > 0 ? "And " + std::to_string(left_out) + " others." : "");
    if (!diff.notes.empty()) {
        body += html_heading("notes", "Notes") + html_list(diff.notes);
    }
    body +=
        "<details><summary>What the parts of a step mean</summary>\n" + table_of(meanings, 2, 0, "") + "</details>\n";
    return html_document(page.title, {}, body + html_provenance(page.command, page.inputs, page.overrides));
}

void write_run_page(const RunPage& page, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and operations.csv");
    write_report_file(folder / "index.html", render_run_html(page));
    write_report_file(folder / "operations.csv", operations_csv(page.diff));
}

}  // namespace auspex::report
