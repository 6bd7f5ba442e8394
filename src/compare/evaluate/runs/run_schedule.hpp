#pragma once
/// @file The pipeline of a published run, in the plan's words.
#include <string>
#include <vector>

#include "compare/evaluate/names/run_names.hpp"
#include "compare/evaluate/published/published_run.hpp"

namespace auspex::evaluate {

struct RunSchedule {
    std::string word;        ///< plan.schedule
    int virtual_stages = 1;  ///< plan.virtual_stages
    std::string stages;      ///< plan.stages; empty: one stage
    std::vector<std::string> notes;
};

/// As the case's `schedule` and `vpp` say; where it has neither, as many virtual stages as divide a rank's layers, and
/// the framework's at most; two at least where it says interleaved, one where it says 1f1b. Throws InputError where the
/// order has none with these stages and micro-batches.
[[nodiscard]] RunSchedule schedule_of(const PublishedRun& run, const RunNames::Framework& framework, int micro_batches);

}  // namespace auspex::evaluate
