/// @file The best plans, predicted, with what memory shut out.
#include "cli/plans/plan_answer.hpp"

#include <iostream>

#include "cli/output/search_output.hpp"
#include "cli/plans/plan_request.hpp"
#include "launch/train/child_run.hpp"

namespace auspex::cli {

void answer_search(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
                   const search::SearchResult& result, int signal) {
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
