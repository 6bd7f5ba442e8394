#pragma once
/// @file What a search ends with.
#include "cli/flags/options.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::cli {

/// Prints what was found, as text or JSON, and writes --out. `signal`: that cut the search, or 0. Throws InputError
/// where there is no plan or none fits, launch::Interrupted behind the best so far where it was cut.
void answer_search(const Options& options, const models::Inputs& inputs, const search::SpaceRequest& request,
                   search::SearchResult result, int signal);

}  // namespace auspex::cli
