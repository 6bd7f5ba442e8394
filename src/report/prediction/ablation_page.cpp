/// @file The page of an ablation.
#include "report/prediction/ablation_page.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/row_bars.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/headlines.hpp"

namespace auspex::report {
namespace {

/// A speed-up that is compared: what of the step, as predicted and as published.
struct Measure {
    const char* name;
    double predict::AblationRow::*predicted;
    std::optional<double> evaluate::PublishedSpeedup::*published;
};
constexpr std::array<Measure, 3> kMeasures{
    {{"training", &predict::AblationRow::speedup_training, &evaluate::PublishedSpeedup::training},
     {"forward-backward", &predict::AblationRow::speedup_forward_backward,
      &evaluate::PublishedSpeedup::forward_backward},
     {"optimizer", &predict::AblationRow::speedup_optimizer, &evaluate::PublishedSpeedup::optimizer}}};

std::string source_of(const AblationPage& page) { return source_line(page.command, page.inputs); }

std::optional<double> published_of(const AblationPage& page, const std::string& variant, const Measure& measure) {
    for (const evaluate::PublishedSpeedup& one : page.published) {
        if (one.variant == variant && one.*measure.published) {
            return one.*measure.published;
        }
    }
    return std::nullopt;
}

std::string times(double speedup) { return fixed(speedup, 2); }

const predict::AblationRow& row_of(const AblationPage& page, const std::string& name) {
    const auto found = std::ranges::find(page.rows, name, &predict::AblationRow::name);
    return found == page.rows.end() ? page.rows.back() : *found;
}

std::string speedups_table(const AblationPage& page) {
    TableRows rows{{{"variant"},
                    {"of"},
                    main_column(number("predicted")),
                    main_column(number("published")),
                    number("predicted over published")}};
    for (const predict::AblationRow& row : page.rows) {
        if (&row == &page.rows.front()) {
            continue;
        }
        for (const Measure& measure : kMeasures) {
            const std::optional<double> published = published_of(page, row.name, measure);
            const double predicted = row.*measure.predicted;
            rows.push_back({{row.name},
                            {measure.name},
                            number(times(predicted)),
                            number(published ? times(*published) : ""),
                            number(published ? signed_percent(predicted / *published - 1) : "")});
        }
    }
    return html_table(rows, "Speed-ups over the baseline (loop experts, sharded optimizer).") +
           (page.published.empty()
                ? html_paragraph("Nothing is known to be published of this job.", "note")
                : html_paragraph(
                      "Published: " + page.published.front().source + ", " + page.published.front().url + ".", "note"));
}

std::string steps_table(const AblationPage& page) {
    TableRows rows{{{"variant"},
                    main_column(number("step")),
                    number("forward-backward"),
                    number("optimizer phase"),
                    number("its share"),
                    main_column(number("MFU")),
                    number("bubble"),
                    number("node-hours a step"),
                    {"memory"}}};
    const auto seconds = [](double value) { return number_of(duration(value), value); };
    for (const predict::AblationRow& row : page.rows) {
        const predict::Prediction& p = row.prediction;
        rows.push_back({{row.name},
                        seconds(p.step_time_s),
                        seconds(p.forward_backward_s),
                        seconds(p.optimizer_s),
                        number(percent(row.optimizer_share)),
                        number(percent(p.mfu)),
                        number(percent(bubble_share(p))),
                        number(significant(p.step_node_hours)),
                        {p.memory.fits ? "fits" : "too much"}});
    }
    return html_table(rows, "Steps of the variants.");
}

std::string losses_section(const AblationPage& page) {
    std::vector<NamedStep> steps;
    for (const predict::AblationRow& row : page.rows) {
        steps.push_back({row.name, row.name, &row.prediction});
    }
    const std::string title = "Where the time of a step goes, by variant";
    return html_figure(
        picture_of([&](double width) { return step_loss_chart(steps, "variant", title, width); }),
        {title, "A bar is one step, as a mean over all tiles; its parts add up to the step.", source_of(page)});
}

}  // namespace

std::string ablation_headline(const AblationPage& page) {
    const predict::AblationRow& both = row_of(page, "both");
    const std::optional<double> published = published_of(page, "both", kMeasures[0]);
    return page.workload + " on " + counted(both.prediction.tiles, "tile") + " of " + page.machine + " is " +
           times(both.speedup_training) + " times as fast with fused experts and the ep-aware optimizer" +
           (published ? " (published: " + times(*published) + ")" : "") + "; fused experts alone give " +
           times(row_of(page, "fused-experts").speedup_training) + ", the ep-aware optimizer alone " +
           times(row_of(page, "ep-aware").speedup_training);
}

std::string ablation_chart(const AblationPage& page, double width) {
    RowBarChart chart{"Speed-ups over the baseline",
                      "predicted and, where it is known, published; a table has the numbers",
                      "times as fast as the baseline",
                      {},
                      {{0, "predicted"}}};
    if (!page.published.empty()) {
        chart.legend.emplace_back(2, "published");
    }
    chart.text_characters = 5;
    for (std::size_t i = 1; i < page.rows.size(); ++i) {
        for (const Measure& measure : kMeasures) {
            const double predicted = page.rows[i].*measure.predicted;
            BarRow row{page.rows[i].name + ", " + measure.name, {{0, predicted, 0, times(predicted), {}}}};
            if (const auto published = published_of(page, page.rows[i].name, measure)) {
                row.bars.push_back({0, *published, 2, times(*published), {}});
            }
            chart.rows.push_back(std::move(row));
        }
    }
    return row_bar_chart(chart, width);
}

std::string render_ablation_html(const AblationPage& page) {
    const predict::Prediction &baseline = page.rows.front().prediction, &both = row_of(page, "both").prediction;
    FirstScreen first;
    first.title = page.workload + " on " + page.machine + ": expert kernels and optimizer sharding";
    first.kind = "Ablation of expert kernels and optimizer sharding · workload " + page.workload + " · machine " +
                 page.machine + " · stack " + page.stack + " · plan " + page.plan;
    first.headline = ablation_headline(page);
    first.cards = {
        {duration(both.step_time_s), "a step with both; " + duration(baseline.step_time_s) + " without"},
        {percent(both.mfu), "MFU with both; " + percent(baseline.mfu) + " without"},
        {percent(bubble_share(both)), "of the step idle in the pipeline with both"},
        {significant(both.step_node_hours),
         "node-hours a step with both; " + significant(baseline.step_node_hours) + " without"},
        {percent(row_of(page, "both").optimizer_share),
         "of the step in the optimizer phase; " + percent(page.rows.front().optimizer_share) + " without"},
        {significant(both.memory.peak_bytes / 1e9) + " GB",
         std::string("in the fullest tile: ") + (both.memory.fits ? "fits" : "does NOT fit"), !both.memory.fits}};
    first.figure = html_figure(
        picture_of([&](double width) { return ablation_chart(page, width); }, kColumnPicture),
        {"Speed-ups over the baseline",
         "Baseline: experts in a loop, optimizer sharded over replicas only." +
             (page.published.empty() ? std::string() : " Published: " + page.published.front().source + "."),
         source_of(page)});
    return html_page(first, {{"speedups", "Speed-ups", speedups_table(page)},
                             {"steps", "Steps", steps_table(page)},
                             {"losses", "Where the time goes", losses_section(page)},
                             {"notes", "What to know", page.notes.empty() ? "" : html_list(page.notes)},
                             {"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)}});
}

std::string render_ablation_csv(const AblationPage& page) {
    std::string out =
        "variant,step_time_s,forward_backward_s,optimizer_s,optimizer_share,mfu,fits,speedup_training,"
        "speedup_forward_backward,speedup_optimizer,published_training,published_forward_backward,published_"
        "optimizer\n";
    for (const predict::AblationRow& row : page.rows) {
        const predict::Prediction& p = row.prediction;
        out += row.name;
        for (const double value : {p.step_time_s, p.forward_backward_s, p.optimizer_s, row.optimizer_share, p.mfu}) {
            out += "," + json_number(value);
        }
        out += std::string(",") + (p.memory.fits ? "true" : "false");
        for (const Measure& measure : kMeasures) {
            out += "," + json_number(row.*measure.predicted);
        }
        for (const Measure& measure : kMeasures) {
            const std::optional<double> published = published_of(page, row.name, measure);
            out += "," + (published ? json_number(*published) : std::string());
        }
        out += "\n";
    }
    return out;
}

void write_ablation_page(const AblationPage& page, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and ablation.csv");
    write_report_file(folder / "index.html", render_ablation_html(page));
    write_report_file(folder / "ablation.csv", render_ablation_csv(page));
}

}  // namespace auspex::report
