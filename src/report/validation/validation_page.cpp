/// @file The page, section by section.
#include <cmath>

#include "compare/evaluate/runs/run_groups.hpp"
#include "report/parts/page.hpp"
#include "report/parts/text.hpp"
#include "report/validation/validation_charts.hpp"
#include "report/validation/validation_report.hpp"
#include "report/validation/validation_rows.hpp"

namespace auspex::report {
namespace {

using evaluate::RunSummary;
using evaluate::ValidatedRun;

constexpr const char* kScatter =
    "A mark is a case; on the dashed line predicted and measured steps are equal, in the band within 10 %. Both axes "
    "are "
    "logarithmic. A mark under the pointer says its case.";

std::string source_of(const ValidationReport& report) { return source_line(report.command, {}); }

/// A table of these rows; nothing of a head alone. The last column is text or a number.
std::string table_of(const TextRows& rows, std::size_t left, bool is_last_number, const char* caption,
                     const TableSkills& skills) {
    if (rows.size() < 2) {
        return "";
    }
    TableRows cells = cells_of(rows, left);
    for (std::vector<Cell>& row : cells) {
        if (is_last_number) {
            row.back() = number(row.back().text);
        }
    }
    return html_table(cells, caption, skills);
}

RunSummary summary_of_group(const ValidationReport& report, const std::string& group) {
    const std::map<std::string, RunSummary> groups = evaluate::summaries(report.runs);
    const auto found = groups.find(group);
    return found == groups.end() ? RunSummary{} : found->second;
}

std::vector<Card> cards_of(const ValidationReport& report) {
    const RunSummary verified = summary_of_group(report, "verified"), all = summary_of_group(report, "all");
    const std::size_t unmapped = unmapped_rows(report.runs).size() - 1;
    std::vector<Card> cards{
        {std::to_string(all.errors.n),
         "cases predicted; " + std::to_string(verified.errors.n) + " gave no constant and were not corrected"},
        {percent(verified.mape), "mean |error| of these"},
        {percent(verified.errors.median_abs_error),
         "median; 90 % are within " + percent(verified.errors.p90_abs_error)},
        {signed_percent(verified.errors.mean_error), "bias: below 0 predictions are too short"},
        {percent(verified.coverage),
         "of 90 % intervals hold the measured step; of constants alone " + percent(verified.constants_coverage)},
        {std::to_string(unmapped), "cases not predicted", unmapped > 0}};
    if (verified.memory_n > 0) {
        cards.push_back({percent(verified.memory_mape),
                         "mean |error| of memory, " + counted(verified.memory_n, "case") + " of which it is known"});
    }
    return cards;
}

std::string pictures(const ValidationReport& report) {
    std::string out;
    for (const ScatterGroup& machine : by_machine(report.runs)) {
        const std::string title = machine.name + ": predicted against measured, by source";
        out +=
            html_figure(picture_of([&](double width) { return scatter_chart(title, by_source(machine), true, width); }),
                        {title, "Thin lines: 90 % intervals, cut at the edge of the picture.", source_of(report)});
    }
    return out;
}

/// Columns behind the numbers are texts.
std::string worst_table(const ValidationReport& report) {
    constexpr std::size_t kTexts = 4;
    TableRows cells = cells_of(worst_rows(report.runs), 1);
    for (std::vector<Cell>& row : cells) {
        row.front().css = "path";  // a long id breaks, so that reasons have room
        for (std::size_t i = kTexts; i < row.size(); ++i) {
            row[i] = Cell{row[i].text, "source"};
        }
    }
    return html_table(cells,
                      "The largest errors. Reasons are found by people and stand in machines/published/runs.json.",
                      {.is_sorted = true});
}

std::string worst_section(const ValidationReport& report) {
    std::vector<const ValidatedRun*> worst = evaluate::worst_first(report.runs);
    if (worst.empty()) {
        return "";
    }
    worst.resize(std::min(worst.size(), kWorstCases));
    return html_figure(picture_of([&](double width) { return parts_chart(worst, width); }),
                       {"What the predicted steps of the largest errors are made of",
                        "A bar ends where the predicted step does; at 1 is the measured one.", source_of(report)}) +
           worst_table(report);
}

std::string mechanisms_section(const ValidationReport& report) {
    return table_of(mechanism_rows(report.runs), 1, true, "Errors by what the predicted step is made of.", {}) +
           html_paragraph(kMechanismsNote, "note") +
           table_of(trait_rows(report.runs), 1, true, "Errors by what runs are like.", {.is_sorted = true}) +
           html_paragraph(kTraitsNote, "note");
}

std::string cases_section(const ValidationReport& report) {
    return table_of(case_rows(report.runs), 3, false, "Every case, the largest errors first.",
                    {.row_name = "cases",
                     .filter_example = "h100, or interval=misses",
                     .keeps_address = true,
                     .is_tall = true}) +
           html_paragraph(
               "What each was predicted from is beside this page: inputs/CASE/workload.json and plan.json, "
               "and in command.txt the command that predicts it again. validation.csv has every number of "
               "this page.",
               "note");
}

FirstScreen first_screen(const ValidationReport& report) {
    FirstScreen first;
    first.title = "Published training runs, predicted";
    first.kind = "Published training runs, each predicted as its source describes it";
    first.headline = validation_headline(report);
    first.cards = cards_of(report);
    const std::vector<ScatterGroup> machines = by_machine(report.runs);
    if (!machines.empty()) {
        first.figure = html_figure(
            picture_of(
                [&](double width) { return scatter_chart("Predicted against measured steps", machines, false, width); },
                kColumnPicture),
            {"Predicted against measured steps, by machine", kScatter, source_of(report)});
    }
    return first;
}

}  // namespace

std::string validation_headline(const ValidationReport& report) {
    const RunSummary verified = summary_of_group(report, "verified"), all = summary_of_group(report, "all");
    const bool has_verified = verified.errors.n > 0;
    const RunSummary& s = has_verified ? verified : all;
    if (s.errors.n == 0) {
        return "None of " + counted(static_cast<double>(report.runs.size()), "published run") + " could be predicted";
    }
    return counted(s.errors.n, "published run") +
           (has_verified ? " that gave no constant and were not corrected" : ", none verified") + ": steps predicted " +
           percent(s.mape) + " off in the mean, half of them within " + percent(s.errors.median_abs_error);
}

std::string render_validation_html(const ValidationReport& report) {
    const std::string groups =
        table_of(group_rows(report.runs), 1, false, "Errors by group.", {}) + html_paragraph(kGroupsNote, "note");
    return html_page(
        first_screen(report),
        {{"groups", "Errors", groups},
         {"mechanisms", "Where errors come from", mechanisms_section(report)},
         {"worst", "The largest errors", worst_section(report)},
         {"machines", "Machine by machine", pictures(report)},
         {"cases", "All cases", cases_section(report)},
         {"unmapped", "Cases that were not predicted",
          table_of(unmapped_rows(report.runs), 1, false, "Cases that could not be mapped, and why.", {})},
         {"fitted", "Fitted constants",
          table_of(fitted_rows(report), 1, false, "Cases that gave a constant; all others gave none.", {}) +
              table_of(ablation_rows(report), 3, true, "What each is worth: errors with it and without.", {}) +
              (report.ablations.empty() ? "" : html_paragraph(kAblationNote, "note"))},
         {"provenance", "Provenance", html_provenance(report.command, report.files, report.overrides)}});
}

}  // namespace auspex::report
