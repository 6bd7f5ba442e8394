/// @file The page, section by section.
#include "report/run/run_page.hpp"

#include <algorithm>
#include <cmath>

#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/run/run_charts.hpp"
#include "report/run/run_tables.hpp"
#include "report/timeline/timeline_figure.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kMostKernels = 40, kMostRanks = 12;

constexpr std::size_t kMostTimelineBytes = 1'500'000;

/// Columns up to `left` and the last `right` ones are text, those between numbers.
std::string table_of(const std::vector<TextRow>& rows, std::size_t left, std::size_t right, std::string_view caption,
                     const TableSkills& skills = {}) {
    TableRows cells;
    for (const TextRow& row : rows) {
        std::vector<Cell>& line = cells.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_text = i < left || i + right >= row.size();
            line.push_back(is_text ? Cell{row[i], i == 0 ? "part" : "any"} : number(row[i]));
        }
    }
    for (std::size_t i = 1; i < std::min<std::size_t>(3, cells.front().size()); ++i) {
        cells.front()[i].is_main = true;
    }
    return html_table(cells, caption, skills);
}

double matched_share(const kineto::RunDiff& diff) {
    double kernels = 0, matched = 0;
    for (const kineto::RankRow& rank : diff.ranks) {
        kernels += rank.kernel_s;
        matched += rank.matched_s;
    }
    return kernels > 0 ? matched / kernels : 0;
}

/// "Predicted 8.31 s, 5 % less than the measured 8.75 s: most of it in expert communication, 0.3 s more than predicted"
std::string headline(const kineto::RunDiff& diff) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        if (std::abs(diff.measured[i] - diff.predicted[i]) >
            std::abs(diff.measured[largest] - diff.predicted[largest])) {
            largest = i;
        }
    }
    const double error = diff.predicted_s / diff.measured_s - 1;
    const double change = diff.measured[largest] - diff.predicted[largest];
    return "Measured " + duration(diff.measured_s) + " a step, predicted " + duration(diff.predicted_s) + " (" +
           signed_percent(error) + "); the largest difference is in " + to_string(static_cast<kineto::Spent>(largest)) +
           ", measured " + duration(std::abs(change)) + (change < 0 ? " less" : " more") + " than predicted";
}

std::vector<Card> cards_of(const kineto::RunDiff& diff) {
    const double share = matched_share(diff);
    std::vector<Card> list{{duration(diff.measured_s), "measured step"},
                           {duration(diff.predicted_s), "predicted step"},
                           {signed_percent(diff.predicted_s / diff.measured_s - 1), "error of the prediction"},
                           {percent(share), "of kernel time matches the plan", share < 0.8}};
    if (diff.explained_s) {
        list.push_back({duration(*diff.explained_s), "predicted with the constants below"});
    }
    return list;
}

std::string timeline_section(const kineto::RunDiff& diff, const std::string& source) {
    return html_timeline({{"measured, " + duration(diff.measured_s), &diff.measured_timeline},
                          {"predicted, " + duration(diff.predicted_s), &diff.predicted_timeline}},
                         {"One step, measured above predicted",
                          "A row a rank, on one time axis. Each rank's step begins at its first kernel. Empty: the "
                          "device did nothing.",
                          source},
                         kMostTimelineBytes);
}

std::string constants_section(const kineto::RunDiff& diff) {
    if (diff.constants.empty()) {
        return "";
    }
    std::string out =
        html_paragraph(
            "Explains: the value with which these operations would take as long as they were measured to, "
            "one by one; behind it: measured operations; spread: of measured over predicted about their "
            "middle; step with it: predicted, with this constant changed and nothing else. A constant that "
            "the trace tells nothing of is not listed.") +
        table_of(constant_rows(diff), 2, 0, "") + html_paragraph(explained_text(diff));
    std::vector<std::string> notes;
    for (const kineto::ExplainingConstant& one : diff.constants) {
        if (!one.note.empty()) {
            notes.push_back(one.path + ": " + one.note);
        }
    }
    return notes.empty() ? out : out + html_list(notes);
}

std::string operations_section(const kineto::RunDiff& diff) {
    return html_paragraph(
               "Kernel times, mean over ranks; launches and gaps are not in them. Predicted: of the "
               "operations that are matched (without any match: of all). Kernels: measured; expected: "
               "those that the stack file has.") +
           table_of(operation_rows(diff, diff.operations.size()), 1, 0, "", {.row_name = "operations"});
}

std::string unmatched_section(const kineto::RunDiff& diff) {
    std::string out = diff.kernels.empty()
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

std::string ranks_section(const kineto::RunDiff& diff) {
    std::vector<TextRow> rows = rank_rows(diff);
    const std::size_t left_out = rows.size() > kMostRanks + 1 ? rows.size() - kMostRanks - 1 : 0;
    rows.resize(rows.size() - left_out);
    return table_of(rows, 2, 1, left_out > 0 ? "And " + std::to_string(left_out) + " others." : "");
}

std::string parts_section(const kineto::RunDiff& diff) {
    std::vector<TextRow> meanings{{"part", "meaning"}};
    for (std::size_t i = 0; i < kineto::kSpentCount; ++i) {
        const auto spent = static_cast<kineto::Spent>(i);
        meanings.push_back({to_string(spent), meaning_of(spent)});
    }
    return table_of(spent_rows(diff), 1, 0, "", {.is_sorted = true}) +
           html_details("What the parts of a step mean", table_of(meanings, 2, 0, ""));
}

}  // namespace

std::string render_run_html(const RunPage& page) {
    const kineto::RunDiff& diff = page.diff;
    const std::string source = source_line(page.command, page.inputs);
    FirstScreen first;
    first.title = first.kind = page.title;
    first.headline = headline(diff);
    first.cards = cards_of(diff);
    first.figure =
        html_figure(picture_of([&](double width) { return spent_bars(diff, width); }, kColumnPicture),
                    {"Where the step goes, measured and predicted", "Mean over the ranks that were traced.", source});
    for (const std::string& line : run_summary(diff)) {
        first.remarks += html_paragraph(line);
    }
    return html_page(first, {{"parts", "Where the step goes", parts_section(diff)},
                             {"timeline", "Both timelines", timeline_section(diff, source)},
                             {"constants", "Constants that would explain the difference", constants_section(diff)},
                             {"operations", "Operations", operations_section(diff)},
                             {"unmatched", "What matches nothing", unmatched_section(diff)},
                             {"ranks", "Ranks", ranks_section(diff)},
                             {"notes", "Notes", diff.notes.empty() ? "" : html_list(diff.notes)},
                             {"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)}});
}

void write_run_page(const RunPage& page, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and operations.csv");
    write_report_file(folder / "index.html", render_run_html(page));
    write_report_file(folder / "operations.csv", operations_csv(page.diff));
}

}  // namespace auspex::report
