/// @file From sizes that were played to their page.
#include "cli/commands/search/sizes_page.hpp"

#include <filesystem>
#include <sstream>

#include "base/number_text.hpp"
#include "cli/flags/input_flags.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/plans/plan_request.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/plans/sizes_page.hpp"

namespace auspex::cli {
namespace {

report::SizeRow row_of(const models::Inputs& inputs, const search::SizePoint& point, const SizeFinishes& finishes,
                       std::size_t i) {
    report::SizeRow row;
    row.tiles = point.tiles;
    row.space = point.space;
    if (!point.best) {
        row.why_no_plan = why_no_plan(point);
        return row;
    }
    row.line = plan_line(plan_of(point.best->candidate, inputs.plan), inputs.workload.num_experts > 0);
    row.step_time_s = point.prediction.step_time_s;
    row.mfu = point.prediction.mfu;
    row.finish = *finishes.of_sizes[i];
    row.is_on_front = is_on_front(finishes, i);
    return row;
}

report::SizesPage page_of(const models::Inputs& inputs, const Options& options,
                          const std::vector<search::SizePoint>& points, const SizeFinishes& finishes) {
    report::SizesPage page;
    page.subject = inputs.workload.name + " on " + inputs.machine.name + " with " + inputs.stack.name + ", " +
                   thousands(options.global_batch) + " sequences a step";
    page.command = options.command_line;
    page.inputs = files_of(inputs);
    page.overrides = overrides_in_words(options);
    page.tokens = options.tokens;
    page.samples = options.campaign.samples;
    page.seed = options.seed.value_or(1);
    page.played = finishes.played;
    page.wanted = options.tiles.size();
    for (std::size_t i = 0; i < points.size(); ++i) {
        page.rows.push_back(row_of(inputs, points[i], finishes, i));
    }
    page.first = finishes.first;
    page.cheapest = finishes.cheapest;
    page.notes = points[finishes.first].prediction.notes;
    return page;
}

}  // namespace

void write_sizes_folder(const models::Inputs& inputs, const Options& options,
                        const std::vector<search::SizePoint>& points, const SizeFinishes& finishes,
                        const std::function<void(std::ostream&)>& answer) {
    const report::SizesPage page = page_of(inputs, options, points, finishes);
    const std::filesystem::path folder = report::make_report_folder(options.out, kSizesFiles);
    std::ostringstream json;
    answer(json);
    report::write_report_file(folder / "index.html", render_sizes_html(page));
    report::write_report_file(folder / "sizes.json", json.str());
    if (const std::string chart = sizes_chart(page, report::kPagePicture); !chart.empty()) {
        report::write_report_file(
            folder / "finish.svg",
            report::standalone_svg(chart, sizes_headline(page), report::source_line(page.command, page.inputs)));
    }
    write_plan_file(options, (folder / "best.json").string(),
                    plan_of(points[finishes.first].best->candidate, inputs.plan));
}

}  // namespace auspex::cli
