/// @file Tables in words first, then Markdown, HTML and CSV.
#include <cmath>

#include "base/json.hpp"
#include "report/endurance/endurance_report.hpp"
#include "report/parts/markdown_parts.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

using TextRows = std::vector<std::vector<std::string>>;

constexpr const char* kTitle = "Runs that are killed at random, and what campaigns say of them";
constexpr const char* kFigure = "Goodput by interval between checkpoints";
constexpr const char* kCaption =
    "Curves: predicted in the mean; bands: 10 to 90 % of campaigns as long as the measured ones. Marks: measured.";

std::string setting_of(const EnduranceRow& row) {
    return "every " + counted(row.every, "step") + ", a kill each " + duration(row.mtbf_s);
}

TextRows goodput_rows(const EnduranceReport& report) {
    TextRows rows{{"setting", "kills", "measured", "same kills played", "points", "predicted", "10 to 90 %", "points",
                   "closed form"}};
    for (const EnduranceRow& row : report.rows) {
        if (row.runs == 0) {
            rows.push_back({setting_of(row), "0", "failed: " + row.error, "-", "-", "-", "-", "-", "-"});
            continue;
        }
        rows.push_back({setting_of(row), thousands(row.kills), percent(row.measured.goodput),
                        percent(row.replayed.goodput), points(row.replayed.goodput - row.measured.goodput),
                        percent(row.predicted.goodput), percent(row.p10) + " to " + percent(row.p90),
                        points(row.predicted.goodput - row.measured.goodput), percent(row.closed_form)});
    }
    return rows;
}

TextRows detail_rows(const EnduranceReport& report) {
    TextRows rows{{"setting", "steps in runs", "all time", "same kills", "predicted", "kills predicted", "lost steps",
                   "same kills", "predicted", "recovery of a kill", "same kills", "predicted", "step beside",
                   "step in killed runs", "losses"}};
    for (const EnduranceRow& row : report.rows) {
        rows.push_back({setting_of(row), thousands(row.steps) + " in " + std::to_string(row.runs),
                        duration(row.measured.wall_s), duration(row.replayed.wall_s), duration(row.predicted.wall_s),
                        fixed(row.predicted_kills, 1), thousands(row.measured.lost_steps),
                        thousands(row.replayed.lost_steps), thousands(row.predicted.lost_steps),
                        duration(row.measured.recovery_s), duration(row.replayed.recovery_s),
                        duration(row.predicted.recovery_s), duration(row.step_s), duration(row.own_step_s),
                        row.passed() ? "equal" : "DIFFER"});
    }
    return rows;
}

TextRows piece_rows(const EnduranceReport& report) {
    TextRows rows{{"piece", "what it is", "mean", "standard error", "timed"}};
    for (const EndurancePiece& piece : report.pieces) {
        rows.push_back(
            {piece.key, piece.meaning, duration(piece.mean_s), duration(piece.error_s), thousands(piece.count)});
    }
    return rows;
}

TextRows best_rows(const EnduranceReport& report) {
    TextRows rows{{"a kill each", "best measured", "best predicted", "best of all, closed form"}};
    for (const EnduranceBest& best : report.best) {
        rows.push_back({duration(best.mtbf_s), counted(best.measured, "step"), counted(best.predicted, "step"),
                        fixed(best.closed_form_steps, 1) + " steps"});
    }
    return rows;
}

std::string goodput_words(const EnduranceReport& report) {
    return "Goodput is steps times the time of one that nothing happens to, over all time from a command's begin to "
           "its "
           "end: measured, with the steps of the killed runs themselves; predicted, with those beside them. Kills come "
           "at random (exponential times, seed " +
           std::to_string(report.seed) +
           ", a random rank, kill -9) as long as there is something to kill, in restarts, too. \"Same kills played\": "
           "a "
           "campaign that is killed when the measured runs were, so that no chance is left. \"Predicted\": the mean "
           "over 1,000 campaigns with kills of their own, and what 10 and 90 % of them have; a measured run is one of "
           "these. Points: predicted less measured. Everything is predicted from the pieces below.";
}

std::string piece_words(const EnduranceReport& report) {
    return "Timed in " + counted(report.calibrations, "run") +
           " of their own before, between and behind the runs that are compared, each with one kill near its end; "
           "never "
           "in a run that is compared. A run is predicted from the two right before and behind it, for a shared "
           "computer "
           "is not always as fast; the table has all of them. From a kill to a process that can be killed again "
           "(detection, relaunch, start) the clock of kills stands still; a kill in the rest (initialise, load, "
           "warm_up) "
           "begins all of it anew.";
}

std::string where_words(const EnduranceReport& report) {
    return report.workload + " on " + counted(report.ranks, "rank") + " of " + report.computer + "; checkpoints in " +
           report.folder + " (TMPDIR). These are numbers of that computer, shared with whatever else ran on it.";
}

std::string render_markdown(const EnduranceReport& report) {
    std::string out = std::string("# ") + kTitle + "\n\n" + markdown_escape(verdict_of(report)) + "\n\n" +
                      markdown_escape(where_words(report)) + "\n\n";
    if (!goodput_chart(report, kPagePicture).empty()) {
        out += std::string("![") + kFigure + "](goodput.svg)\n\n" + kCaption + "\n\n";
    }
    return out + "## Goodput\n\n" + markdown_table(goodput_rows(report), 1) + markdown_escape(goodput_words(report)) +
           "\n\n## Kills and recoveries\n\n" + markdown_table(detail_rows(report), 1) + "## Best interval\n\n" +
           markdown_table(best_rows(report), 1) + "## Pieces\n\n" + markdown_escape(piece_words(report)) + "\n\n" +
           markdown_table(piece_rows(report), 2) +
           "## Where this comes from\n\nThis command makes the report again; times are those of the computer:\n\n" +
           markdown_code(report.command);
}

std::vector<Card> cards_of(const EnduranceReport& report) {
    const EnduranceErrors replay = errors_of(report, of_replay), mean = errors_of(report, of_mean);
    const auto of_all = [&](int some) { return std::to_string(some) + " of " + std::to_string(replay.all); };
    return {{fixed(100 * replay.largest, 1) + " points",
             "largest error of goodput, the same kills played; " + of_all(replay.inside) + " settings within 3",
             replay.largest > kAllowedGoodput},
            {fixed(100 * mean.largest, 1) + " points",
             "largest difference from the mean over kills that could have come; " + of_all(mean.inside) + " within 3"},
            {of_all(rows_in_band(report)), "measured within 10 to 90 % of campaigns"},
            {thousands(report.kills()), "kills"},
            {report.passed() ? "equal" : "DIFFER", "losses, bit for bit, to a run that nothing happened to",
             !report.passed()}};
}

std::string render_html(const EnduranceReport& report) {
    FirstScreen first;
    first.title = first.kind = kTitle;
    first.headline = verdict_of(report);
    first.cards = cards_of(report);
    const Picture picture = picture_of([&](double width) { return goodput_chart(report, width); }, kColumnPicture);
    if (!picture.wide.empty()) {
        first.figure = html_figure(picture, {kFigure, kCaption, source_line("auspex endure", {})});
    }
    first.remarks = html_paragraph(where_words(report), "note");
    return html_page(
        first,
        {{"goodput", "Goodput",
          html_table(cells_of(goodput_rows(report), 1), "Goodput, measured beside predicted.") +
              html_paragraph(goodput_words(report), "note")},
         {"recoveries", "Kills and recoveries",
          html_table(cells_of(detail_rows(report), 1), "What kills cost, measured beside predicted.")},
         {"best", "Best interval", html_table(cells_of(best_rows(report), 1), "Interval of the largest goodput.")},
         {"pieces", "Pieces",
          html_table(cells_of(piece_rows(report), 2), "What predictions are made of.") +
              html_paragraph(piece_words(report), "note")},
         {"provenance", "Provenance",
          html_paragraph("Times are those of the computer.") + html_provenance(report.command, {}, {})}});
}

std::string settings_csv(const EnduranceReport& report) {
    std::string out =
        "every_steps,mtbf_s,runs,steps,kills,predicted_kills,wall_s,replayed_wall_s,predicted_wall_s,goodput,replayed_"
        "goodput,predicted_goodput,p10,p90,"
        "closed_form_goodput,lost_steps,replayed_lost_steps,predicted_lost_steps,recovery_s,replayed_recovery_s,"
        "predicted_recovery_s,step_s,own_step_s,losses_equal\n";
    for (const EnduranceRow& row : report.rows) {
        for (const double value : {double(row.every),
                                   row.mtbf_s,
                                   double(row.runs),
                                   double(row.steps),
                                   double(row.kills),
                                   row.predicted_kills,
                                   row.measured.wall_s,
                                   row.replayed.wall_s,
                                   row.predicted.wall_s,
                                   row.measured.goodput,
                                   row.replayed.goodput,
                                   row.predicted.goodput,
                                   row.p10,
                                   row.p90,
                                   row.closed_form,
                                   row.measured.lost_steps,
                                   row.replayed.lost_steps,
                                   row.predicted.lost_steps,
                                   row.measured.recovery_s,
                                   row.replayed.recovery_s,
                                   row.predicted.recovery_s,
                                   row.step_s,
                                   row.own_step_s}) {
            out += json_number(value) + ",";
        }
        out += row.losses_equal ? "true\n" : "false\n";
    }
    return out;
}

std::string pieces_csv(const EnduranceReport& report) {
    std::string out = "piece,mean_s,error_s,count\n";
    for (const EndurancePiece& piece : report.pieces) {
        out += piece.key + "," + json_number(piece.mean_s) + "," + json_number(piece.error_s) + "," +
               std::to_string(piece.count) + "\n";
    }
    return out;
}

}  // namespace

void write_endurance_report(const EnduranceReport& report, const std::string& directory) {
    const std::filesystem::path folder =
        make_report_folder(directory, "index.html, report.md, settings.csv, pieces.csv and goodput.svg");
    write_report_file(folder / "index.html", render_html(report));
    write_report_file(folder / "report.md", render_markdown(report));
    write_report_file(folder / "settings.csv", settings_csv(report));
    write_report_file(folder / "pieces.csv", pieces_csv(report));
    if (const std::string chart = goodput_chart(report, kPagePicture); !chart.empty()) {
        write_report_file(folder / "goodput.svg", standalone_svg(chart, kFigure, source_line("auspex endure", {})));
    }
}

}  // namespace auspex::report
