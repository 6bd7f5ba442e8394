#pragma once
/// @file From a predicted step on a machine to the campaign that the machine's and the stack's files make of it.
#include <string>
#include <vector>

#include "base/statistics/interval.hpp"
#include "campaign/setting.hpp"
#include "campaign/start/start_job.hpp"
#include "models/inputs.hpp"

namespace auspex::campaign {

/// Features of Optimus (arXiv:2604.00785) that a campaign has.
struct Features {
    bool dual = true;        ///< two checkpoints in turn
    bool async = true;       ///< written beside the steps that follow
    bool scattered = true;   ///< each replica writes a part, one copy that is read goes to the others
    bool persistent = true;  ///< one of kPersistentEvery checkpoints is kept for ever as the model alone
    bool final_save = true;  ///< a checkpoint before a block or a maintenance ends the job
};

/// What a prediction says of a run.
struct PredictedRunSize {
    int nodes = 1, tiles = 1, dp = 1;
    double step_s = 0;
    Interval step_interval_s;  ///< about 90 %; the step itself where it has none
    std::int64_t steps = 0;
    double tokens_of_new_index = 0;  ///< 0: the index of the run's data is there already
};

/// One of so many checkpoints is kept for ever as the model alone, until anybody says otherwise (assumed).
inline constexpr int kPersistentEvery = 10;

/// A campaign of a machine, and what it was made of.
struct MachineSetting {
    Setting setting;
    CheckpointBytes bytes;
    double swap_s = 0;               ///< of nodes alone: setting.recovery.swap_s has the environment of one, too
    std::vector<std::string> notes;  ///< of the start
};

/// Steps of the predicted length, with its interval as a log-normal (a 90 % interval is 2 x 1.645 standard deviations
/// of the logarithm wide); bytes of checkpoints by model and plan; failures, storage and start of the files. It starts
/// cold, has no blocks, always another node at hand, and no interval of checkpoints yet.
[[nodiscard]] MachineSetting machine_setting(const models::Inputs& inputs, const PredictedRunSize& run,
                                             const Features& features);

/// A run has no more steps.
inline constexpr double kMostSteps = 1e9;
/// ceil(tokens / tokens of a step). Throws InputError that names `where` for more than kMostSteps.
[[nodiscard]] std::int64_t steps_of_tokens(double tokens, double tokens_per_step, const char* where);
/// "4T", as --tokens takes it, where that is short; else all digits.
[[nodiscard]] std::string tokens_text(double tokens);

}  // namespace auspex::campaign
