/// @file Tables of layouts, recoveries and optimizer bytes: words first, then Markdown, HTML and CSV.
#include "report/training/executor_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/json.hpp"
#include "report/parts/markdown_parts.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

using TextRows = std::vector<std::vector<std::string>>;

constexpr const char* kTitle = "The trainer against one rank, and against what is predicted";
constexpr const char* kCurves =
    "Loss of the first runs with learned routing: one rank, and layouts of several. They lie on one another as long as "
    "every token chooses the same experts.";

std::string seconds_of(const LayoutCheck& check) { return fixed(check.seconds, 1); }

TextRows layout_rows(const ExecutorReport& report) {
    TextRows rows{{"model", "layout", "with", "ranks", "forced", "norm", "learned", "first other choice", "replayed",
                   "memory", "counts", "seconds", "verdict"}};
    for (const LayoutCheck& check : report.layouts) {
        if (!check.error.empty()) {
            rows.push_back({check.workload, check.grid, check.choices, thousands(check.ranks), "-", "-", "-", "-", "-",
                            "-", "-", seconds_of(check), "failed: " + check.error});
            continue;
        }
        rows.push_back({check.workload, check.grid, check.choices, thousands(check.ranks),
                        difference_text(check.forced), difference_text(check.norm), difference_text(check.learned),
                        check.first_choice, difference_text(check.replayed), equality_text(check.memory),
                        equality_text(check.counts), seconds_of(check), check.passed() ? "ok" : "differs"});
    }
    return rows;
}

TextRows recovery_rows(const ExecutorReport& report) {
    TextRows rows{{"what happened", "what came of it", "verdict"}};
    for (const RecoveryCheck& check : report.recoveries) {
        rows.push_back({check.what, check.result, check.passed ? "ok" : "differs"});
    }
    return rows;
}

TextRows optimizer_rows(const ExecutorReport& report) {
    TextRows rows{{"optimizer", "layout", "measured bytes", "predicted bytes", "measured, of the first",
                   "predicted, of the first"}};
    const auto ratio = [](std::uint64_t bytes, std::uint64_t first) {
        return fixed(static_cast<double>(bytes) / static_cast<double>(first), 4);
    };
    for (const OptimizerCheck& check : report.optimizers) {
        const OptimizerCheck& first = report.optimizers.front();
        rows.push_back({check.sharding, check.grid, thousands(static_cast<double>(check.measured)),
                        thousands(static_cast<double>(check.predicted)), ratio(check.measured, first.measured),
                        ratio(check.predicted, first.predicted)});
    }
    return rows;
}

std::string layouts_in_words(const ExecutorReport& report) {
    return "Every layout trains the same model from the same weights on the same " + thousands(report.steps) +
           " batches of " + counted(report.global_batch, "sequence") +
           " as one rank does. All runs, recovery cases too, are fp32, with a learning rate of at most " +
           significant(kVerifyRate, 1) +
           " (above it, training of so small a model amplifies rounding). Given are the largest relative differences "
           "from one rank over all steps. Forced: of the loss, with experts forced on the tokens in a fixed even "
           "pattern (allowed: " +
           difference_text(kAllowedForced) +
           "). Norm: of the gradient's norm in the same run (allowed: " + difference_text(kAllowedNorm) +
           "); AdamW's epsilon is " + significant(kForcedEpsilon, 1) +
           " there, for with a small one its steps do not change when gradients are multiplied by a constant, and "
           "wrongly scaled ones would leave the loss as it is. Learned: of the loss with learned routing, up to the "
           "first token that chooses other experts than on one rank (allowed: " +
           difference_text(kAllowedLearned) +
           "), which two probabilities that differ in their last digits may bring about. Replayed: of the loss with "
           "the choices of the one rank (allowed: " +
           difference_text(kAllowedForced) +
           "). Parts of the loss are summed as fp32, so that its differences come in steps of about 3e-8. Memory: the "
           "peaks of every label on every rank, with forced and with learned routing, are equal to the prediction to "
           "the byte. Counts: operations and communicated bytes of every kind are those of the program.";
}

std::string recovery_in_words() {
    return "A supervised run saves checkpoints every few steps; a rank is killed, and the run goes on from the newest "
           "whole checkpoint on other slots. Its losses are compared with those of the same run left alone. These runs "
           "have " +
           std::to_string(kMinRecoverySteps) + " to " + std::to_string(kMaxRecoverySteps) +
           " steps, even if those of layouts have fewer or more.";
}

constexpr const char* kOptimizerWords =
    "The same layout with two ways to share optimizer states out (master weights and moments), on the rank that holds "
    "most of them. Plain sharding leaves the dense part whole on every place of an expert-parallel group; EP-aware "
    "sharding divides it there too.";

std::string render_markdown(const ExecutorReport& report) {
    std::string out = std::string("# ") + kTitle + "\n\n" + markdown_escape(verdict_of(report)) + "\n\n";
    if (!report.curves.empty()) {
        out += "![" + std::string("Loss of one rank and of several layouts") + "](loss.svg)\n\n" + kCurves + "\n\n";
    }
    out +=
        "## Layouts\n\n" + markdown_escape(layouts_in_words(report)) + "\n\n" + markdown_table(layout_rows(report), 3);
    if (!report.left_out.empty()) {
        out += "Left out:\n\n" + markdown_list(report.left_out);
    }
    if (!report.recoveries.empty()) {
        out += std::string("## Failures and restarts\n\n") + recovery_in_words() + "\n\n" +
               markdown_table(recovery_rows(report), 3);
    }
    if (!report.optimizers.empty()) {
        out += std::string("## Optimizer states\n\n") + kOptimizerWords + "\n\n" +
               markdown_table(optimizer_rows(report), 2);
    }
    return out +
           "## Where this comes from\n\nThis command makes the report again; seconds, and the moments at which ranks "
           "are killed, differ:\n\n" +
           markdown_code(report.command);
}

std::vector<Card> cards_of(const ExecutorReport& report) {
    const auto passed = std::ranges::count_if(report.layouts, &LayoutCheck::passed);
    const auto recovered = std::ranges::count_if(report.recoveries, &RecoveryCheck::passed);
    double forced = 0, learned = 0;
    for (const LayoutCheck& check : report.layouts) {
        forced = std::max(forced, check.forced.value_or(0));
        learned = std::max(learned, check.learned.value_or(0));
    }
    const auto of = [](std::ptrdiff_t some, std::size_t all) {
        return thousands(static_cast<double>(some)) + " of " + thousands(static_cast<double>(all));
    };
    std::vector<Card> cards{
        {of(passed, report.layouts.size()), "layouts within what is allowed", passed != std::ssize(report.layouts)},
        {difference_text(forced),
         "largest difference of a loss with forced routing; allowed " + difference_text(kAllowedForced),
         forced > kAllowedForced},
        {difference_text(learned), "with learned routing; allowed " + difference_text(kAllowedLearned),
         learned > kAllowedLearned}};
    if (!report.recoveries.empty()) {
        cards.push_back({of(recovered, report.recoveries.size()), "recoveries to the same losses",
                         recovered != std::ssize(report.recoveries)});
    }
    return cards;
}

TableRows layout_cells(const ExecutorReport& report) {
    TableRows cells = cells_of(layout_rows(report), 3);
    for (Cell& head : cells.front()) {
        head.is_main = head.text == "layout" || head.text == "verdict";
    }
    for (std::size_t i = 0; i < report.layouts.size(); ++i) {
        const LayoutCheck& check = report.layouts[i];
        const std::array<std::pair<std::size_t, const std::optional<double>*>, 4> values{
            {{4, &check.forced}, {5, &check.norm}, {6, &check.learned}, {8, &check.replayed}}};
        for (const auto& [column, value] : values) {
            if (value->has_value() && std::isfinite(**value)) {
                cells[i + 1][column].value = **value;
            }
        }
    }
    return cells;
}

std::string render_html(const ExecutorReport& report) {
    FirstScreen first;
    first.title = first.kind = kTitle;
    first.headline = verdict_of(report);
    first.cards = cards_of(report);
    if (!report.curves.empty()) {
        first.figure = html_figure(
            picture_of([&](double width) { return training_loss_chart("Loss", report.curves, width); }, kColumnPicture),
            {"Loss of one rank and of several layouts", kCurves, source_line(report.command, {})});
    }
    const std::string layouts =
        html_table(layout_cells(report), "Layouts beside one rank.",
                   {.row_name = "layouts", .filter_example = "pp, or verdict=ok"}) +
        html_paragraph(layouts_in_words(report), "note") +
        (report.left_out.empty() ? "" : html_paragraph("Left out:") + html_list(report.left_out));
    const std::string recoveries =
        report.recoveries.empty() ? ""
                                  : html_table(cells_of(recovery_rows(report), 3), "Failures, and what came of them.") +
                                        html_paragraph(recovery_in_words(), "note");
    const std::string optimizers = report.optimizers.empty()
                                       ? ""
                                       : html_table(cells_of(optimizer_rows(report), 2), "Bytes of optimizer states.") +
                                             html_paragraph(kOptimizerWords, "note");
    return html_page(first,
                     {{"layouts", "Layouts", layouts},
                      {"recovery", "Failures and restarts", recoveries},
                      {"optimizer", "Optimizer states", optimizers},
                      {"provenance", "Provenance",
                       html_paragraph("Seconds, and the moments at which ranks are killed, differ from run to run.") +
                           html_provenance(report.command, {}, {})}});
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return out + "\"";
}

std::string csv_number(const std::optional<double>& value) {
    return !value ? "" : std::isfinite(*value) ? json_number(*value) : "inf";
}

std::string layouts_csv(const ExecutorReport& report) {
    std::string out =
        "model,layout,with,ranks,forced,norm,learned,first_other_choice_step,replayed,memory,counts,seconds,verdict\n";
    for (const LayoutCheck& check : report.layouts) {
        const std::string verdict = !check.error.empty() ? "failed: " + check.error : check.passed() ? "ok" : "differs";
        const std::array<std::string, 13> cells{check.workload,
                                                check.grid,
                                                check.choices,
                                                std::to_string(check.ranks),
                                                csv_number(check.forced),
                                                csv_number(check.norm),
                                                csv_number(check.learned),
                                                check.first_step ? std::to_string(*check.first_step) : "",
                                                csv_number(check.replayed),
                                                equality_text(check.memory),
                                                equality_text(check.counts),
                                                seconds_of(check),
                                                verdict};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            out += (i > 0 ? "," : "") + csv_cell(cells[i]);
        }
        out += "\n";
    }
    return out;
}

std::string recovery_csv(const ExecutorReport& report) {
    std::string out = "what,result,verdict\n";
    for (const RecoveryCheck& check : report.recoveries) {
        out += csv_cell(check.what) + "," + csv_cell(check.result) + "," + (check.passed ? "ok" : "differs") + "\n";
    }
    return out;
}

}  // namespace

bool LayoutCheck::passed() const {
    return error.empty() && memory.empty() && counts.empty() && forced.value_or(0) <= kAllowedForced &&
           norm.value_or(0) <= kAllowedNorm && learned.value_or(0) <= kAllowedLearned &&
           replayed.value_or(0) <= kAllowedForced;
}

bool ExecutorReport::passed() const {
    return !layouts.empty() &&
           std::all_of(layouts.begin(), layouts.end(), [](const LayoutCheck& check) { return check.passed(); }) &&
           std::all_of(recoveries.begin(), recoveries.end(), [](const auto& check) { return check.passed; }) &&
           std::all_of(optimizers.begin(), optimizers.end(),
                       [](const OptimizerCheck& check) { return check.measured == check.predicted; });
}

std::string verdict_of(const ExecutorReport& report) {
    const auto bad_layouts = std::count_if(report.layouts.begin(), report.layouts.end(),
                                           [](const LayoutCheck& check) { return !check.passed(); });
    const auto bad_recoveries = std::count_if(report.recoveries.begin(), report.recoveries.end(),
                                              [](const auto& check) { return !check.passed; });
    const auto with_recoveries = [&report](const std::string& layouts, std::size_t recoveries) {
        return report.recoveries.empty()
                   ? layouts
                   : layouts + " and " + counted(static_cast<double>(recoveries), "recovery case");
    };
    const std::string checked = with_recoveries(
        thousands(static_cast<double>(report.layouts.size())) + " of " + counted(report.all_layouts, "layout"),
        report.recoveries.size());
    if (report.layouts.empty()) {
        return checked + ": nothing was compared with one rank, for the model fits no layout that was asked for.";
    }
    return report.passed()
               ? checked + ": every one is within what is allowed; memory and counts are equal to the prediction."
               : checked + ": not within what is allowed: " +
                     with_recoveries(counted(static_cast<double>(bad_layouts), "layout"),
                                     static_cast<std::size_t>(bad_recoveries)) +
                     ".";
}

std::string difference_text(const std::optional<double>& difference) {
    if (!difference) {
        return "-";
    }
    std::array<char, 32> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), *difference > 0 ? "%.1e" : "%.0f", *difference));
    return text.data();
}

std::string equality_text(const std::string& difference) { return difference.empty() ? "equal" : difference; }

void write_executor_report(const ExecutorReport& report, const std::string& directory) {
    const std::filesystem::path folder =
        make_report_folder(directory, "index.html, report.md, layouts.csv, recovery.csv and loss.svg");
    write_report_file(folder / "index.html", render_html(report));
    write_report_file(folder / "report.md", render_markdown(report));
    write_report_file(folder / "layouts.csv", layouts_csv(report));
    write_report_file(folder / "recovery.csv", recovery_csv(report));
    if (!report.curves.empty()) {
        write_report_file(folder / "loss.svg",
                          standalone_svg(training_loss_chart("Loss", report.curves),
                                         "Loss of one rank and of several layouts", source_line(report.command, {})));
    }
}

}  // namespace auspex::report
