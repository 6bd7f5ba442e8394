#pragma once
/// @file What of layers a published run computes again, in the plan's words.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

struct RunRecompute {
    std::vector<std::string> words;  ///< plan.recompute
    int layers = 0;                  ///< plan.recompute_layers; 0: all
    std::vector<std::string> notes;
};

/// The case does not say what was recomputed.
[[nodiscard]] bool is_recompute_unstated(const PublishedRun& run);
/// As the case says, or its choice of what it leaves open, or the framework's default. Throws InputError for words that
/// mean nothing here.
///   none, off, no, false: nothing; full, true, uniform, activation checkpointing: layers; block N: N of each stage;
///   some layers in other words (layers_said): that share of each stage, of which there are pp virtual_stages;
///   selective: the framework's, or the parts that are named; parts: Megatron-LM's --recompute-modules, the plan's own
[[nodiscard]] RunRecompute recompute_of(const PublishedRun& run, const RunNames::Framework& framework,
                                        int virtual_stages);

}  // namespace auspex::evaluate
