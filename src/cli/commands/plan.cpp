/// @file auspex plan: the best layouts of a model over a number of tiles, out of all that there are.
#include <iostream>
#include <sstream>

#include "base/output_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/plan_request.hpp"
#include "cli/output/plan_output.hpp"
#include "cli/output/search_output.hpp"
#include "launch/child_process.hpp"
#include "launch/progress_line.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::cli {
namespace {

void write_winner(const Options& options, const models::Plan& plan) {
    std::ostringstream text;
    {
        JsonWriter json(text);
        json.begin_object().member("source", "the best of " + options.command_line);
        write_plan(json, plan);
        json.end_object();
    }
    write_file(options.out, text.str());
}

}  // namespace

void run_plan(const Options& options) {
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
    const FoundPlans found{result, ranked_plans(inputs, result),
                           shut_out_by_memory(inputs, request, result, kShutOutShown)};
    if (!options.out.empty()) {
        write_winner(options, found.ranked.front().plan);
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
