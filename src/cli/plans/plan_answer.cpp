/// @file The best plans, predicted, with what memory shut out; printed, and written to --out.
#include "cli/plans/plan_answer.hpp"

#include <filesystem>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/output/plan_page.hpp"
#include "cli/output/search_output.hpp"
#include "cli/plans/finish_by.hpp"
#include "cli/plans/plan_request.hpp"
#include "launch/child_process.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "sim/search/answers/shut_out.hpp"

namespace auspex::cli {
namespace {

FoundPlans judge_plans(const models::Inputs& inputs, const Options& options, const search::SpaceRequest& request,
                       search::SearchResult result) {
    constexpr std::size_t kShutOutShown = 3;
    FoundPlans found{std::move(result), {}, {}, {}, {}, {}, {}};
    found.ranked = ranked_plans(inputs, found.result, options.tokens);
    if (plays_runs(options, inputs.machine)) {
        launch::ProgressLine line("layouts played as whole runs");
        found.finish = play_finalists(options, inputs, found.result, found.ranked,
                                      [&line](std::size_t done, std::size_t all) { line.show(done, all); });
    }
    found.shut_out = shut_out_by_memory(inputs, request, found.result, kShutOutShown);
    found.choice = judge_choice(found.ranked);
    found.room = memory_room(inputs.machine, found.ranked, found.result.capacity_bytes);
    if (!options.plan.empty() && !found.result.was_cut) {
        found.given = place_given_plan(inputs, request, found.result, found.ranked.front());
    }
    return found;
}

void write_out(const models::Inputs& inputs, const Options& options, const search::SpaceRequest& request,
               const FoundPlans& found) {
    if (options.out.empty()) {
        return;
    }
    if (!writes_folder(options)) {
        return write_plan_file(options, options.out, found.ranked.front().plan);
    }
    search::PlanMap map;
    {
        const launch::SignalsCaught signals;
        map = map_plans(inputs, request, found.result,
                        [&] { return found.result.was_cut || launch::caught_signal() != 0; });
    }
    static_cast<void>(launch::take_caught_signal());
    const report::PlanPage page = plan_page_of(inputs, options, found, map);
    const std::filesystem::path folder = report::make_report_folder(options.out, kPlanFiles);
    std::ostringstream text;
    {
        JsonWriter json(text, JsonLayout::kOneLine);
        write_search(json, inputs, options, found);
    }
    report::write_report_file(folder / "index.html", render_plan_html(page));
    report::write_report_file(folder / "plans.json", text.str());
    report::write_report_file(folder / "memory.svg",
                              report::standalone_svg(pareto_chart(page), plan_headline(page),
                                                     report::source_line(page.command, page.inputs)));
    write_plan_file(options, (folder / "best.json").string(), found.ranked.front().plan);
}

}  // namespace

void answer_search(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
                   search::SearchResult result, int signal) {
    if (result.space == 0) {
        refuse_empty(options, inputs, request, result);
    }
    if (result.best.empty() && result.was_cut && signal != 0) {
        throw launch::Interrupted(signal);
    }
    if (result.best.empty() && result.was_cut) {
        throw InputError("--time-limit " + duration(options.search.time_limit_s),
                         "found no plan that fits in this time; expected a longer one");
    }
    if (result.best.empty()) {
        refuse_unfit(options, inputs, request, result);
    }
    warn_of_machine(inputs.machine);
    const FoundPlans found = judge_plans(inputs, options, request, std::move(result));
    write_out(inputs, options, request, found);
    const auto answer = [&](std::ostream& out) {
        JsonWriter json(out);
        write_search(json, inputs, options, found);
    };
    CsvFile(options).write(answer);
    if (options.json) {
        answer(answer_stream(options));
    } else {
        print_search(inputs, options, found);
        if (writes_folder(options)) {
            std::cout << "The page is in " << options.out << ": " << kPlanFiles << "\n";
        }
    }
    if (signal != 0) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

}  // namespace auspex::cli
