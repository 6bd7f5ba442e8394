/// @file auspex plan: the best layouts of a model over a number of tiles, out of all that there are.
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/commands/plan_request.hpp"
#include "cli/commands/plan_sizes.hpp"
#include "cli/commands/plan_vary.hpp"
#include "cli/output/search_output.hpp"
#include "launch/child_process.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::cli {
void run_plan(const Options& options) {
    if (!options.search.against.empty()) {
        return run_plan_against(options);
    }
    if (!options.search.vary.empty()) {
        return run_plan_vary(options);
    }
    if (options.search.deadline_s > 0) {
        return run_plan_deadline(options);
    }
    if (options.tiles.size() > 1) {
        return run_plan_sizes(options);
    }
    const models::Inputs inputs = search_inputs(options);
    const search::SpaceRequest request = search_request(options, options.tiles.front());
    search::SearchOptions how = search_options(options);
    launch::ProgressLine line("plans decided");
    how.progress = [&line](const search::SearchProgress& p) { line.show(p.done, p.all); };
    search::SearchResult result;
    {
        const launch::SignalsCaught signals;
        result = search_plans(inputs, request, how);
    }
    const int signal = launch::take_caught_signal();
    if (result.space == 0) {
        refuse_empty(inputs, request, result);
    }
    if (result.best.empty() && result.was_cut) {
        throw launch::Interrupted(signal);
    }
    if (result.best.empty()) {
        refuse_unfit(inputs, request, result);
    }
    constexpr std::size_t kShutOutShown = 3;
    const FoundPlans found{result, ranked_plans(inputs, result, options.tokens),
                           shut_out_by_memory(inputs, request, result, kShutOutShown)};
    if (!options.out.empty()) {
        write_plan_file(options, found.ranked.front().plan);
    }
    if (options.json) {
        write_search(inputs, options, found);
    } else {
        print_search(inputs, options, found);
    }
    if (result.was_cut) {
        std::cout.flush();
        throw launch::Interrupted(signal);
    }
}

}  // namespace auspex::cli
