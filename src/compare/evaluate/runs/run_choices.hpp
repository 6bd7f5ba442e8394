#pragma once
/// @file What a published run leaves open, each way of it a run of its own.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

/// The run with each way of what it leaves open, by size of micro-batches: 1, 2, 4 and 8 sequences, as far as they
/// divide what a data-parallel rank has of a batch (or as many micro-batches as stages, where that is the framework's
/// default), each with the framework's choices of what is recomputed, the cheapest first, and in front of them, of
/// frameworks that shard nothing unless they are told to and cases that do not say, whole states: sharded ones take
/// their place where these do not fit. Behind each size, of frameworks that can and runs of dense models with sharded
/// weights and without stages, a list of the same with more and more layers in host memory (plan.offloaded_layers), for
/// those that have no room. Who publishes a rate has looked for the fastest that fits. One of one, where nothing is
/// open.
[[nodiscard]] std::vector<std::vector<PublishedRun>> open_choices(const PublishedRun& run,
                                                                  const RunNames::Framework& framework);
/// What the choice has that the run does not say.
[[nodiscard]] std::vector<std::string> notes_of_choice(const PublishedRun& run, const PublishedRun& choice);

}  // namespace auspex::evaluate
