/// @file auspex plan: the best layouts of a model over a number of tiles, out of all that there are.
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/commands/search/plan_sizes.hpp"
#include "cli/commands/search/plan_vary.hpp"
#include "cli/output/csv_file.hpp"
#include "cli/plans/plan_answer.hpp"
#include "cli/plans/plan_checkpoint.hpp"
#include "cli/plans/plan_request.hpp"
#include "launch/child_process.hpp"
#include "launch/mpirun.hpp"
#include "launch/output_locks.hpp"
#include "launch/progress_line.hpp"

namespace auspex::cli {

void run_plan(const Options& options) {
    require_csv_place(options);
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
    if (options.answers == nullptr && launch::rank_of_launcher(options.ranks)) {
        std::vector<std::string> arguments{launch::kSearchRole};
        arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
        launch::become_rank(arguments);
    }
    launch::OutputLocks locks(options.command_line);
    if (writes_folder(options)) {
        locks.take_folder("--out", options.out);
    }
    const models::Inputs inputs = search_inputs(options);
    const search::SpaceRequest request = search_request(options, options.tiles.front());
    search::SearchOptions how = search_options(options);
    KeptSearch kept(options, search_key(inputs, request, how));
    kept.attach(how);
    launch::ProgressLine line("plans decided");
    how.progress = progress_on(line);
    search::SearchResult result;
    {
        const launch::SignalsCaught signals;
        result = search_plans(inputs, request, how);
    }
    const int signal = launch::take_caught_signal();
    answer_search(options, inputs, request, std::move(result), signal);
}

}  // namespace auspex::cli
