#pragma once
/// @file From flags to a space of plans to search, and what to say where there is nothing in it.
#include <functional>

#include "cli/flags/options.hpp"
#include "launch/progress_line.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::cli {

/// Machine, stack (or the machine's default_stack), workload and what does not vary of the plan, overridden. Throws
/// InputError, also for --what-if with a machine of CPU cores.
[[nodiscard]] models::Inputs search_inputs(const Options& options);
/// The space for a number of tiles. Throws InputError.
[[nodiscard]] search::SpaceRequest search_request(const Options& options, int tiles);
/// --top (or, to be ranked by --objective finish-by, kFinalists where that is more), --exhaustive, and an end after
/// --time-limit from now or at a caught signal.
[[nodiscard]] search::SearchOptions search_options(const Options& options);

/// Shows how many plans are decided, and the best step so far.
[[nodiscard]] std::function<void(const search::SearchProgress&)> progress_on(launch::ProgressLine& line);

/// Nothing divides tiles and batch: throws InputError with the nearest batch and the nearest number of tiles that work.
[[noreturn]] void refuse_empty(const Options& options, const models::Inputs& inputs,
                               const search::SpaceRequest& request, const search::SearchResult& result);
/// Nothing fits: throws InputError with the plan of least memory, and the least number of tiles on which one fits.
[[noreturn]] void refuse_unfit(const Options& options, const models::Inputs& inputs,
                               const search::SpaceRequest& request, const search::SearchResult& result);

/// One line on standard error about a machine whose constants are not to be trusted (models::background_note), if so.
void warn_of_machine(const models::Machine& machine);

/// True if --out is a folder for a page: its name does not end in .json.
[[nodiscard]] bool writes_folder(const Options& options);
/// Writes a plan that a search has picked to a file.
void write_plan_file(const Options& options, const std::string& file, const models::Plan& plan);

}  // namespace auspex::cli
