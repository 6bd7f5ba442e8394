#pragma once
/// @file What a checkpoint remembers of how its run was set up, and what has changed when another run goes on from it.
#include <map>
#include <string>

#include "exec/state/rank.hpp"

namespace auspex::exec {

/// Values by name, as text: {"top_k": "8", "rope_theta": "10000"}.
using Settings = std::map<std::string, std::string>;

/// Everything that decides which function the weights compute: shapes, activations, norms, positions, choices of
/// experts. A run that goes on must have all of it unchanged.
[[nodiscard]] Settings model_settings(const models::Workload& workload, const models::Training& training);
/// Everything else that decides how the weights move: the data, the batch, the optimizer, the losses, the end of the
/// cosine. A run that goes on may have others. `content_digest`: of the TrainingData.
[[nodiscard]] Settings training_settings(const RunInputs& run, const std::string& content_digest);

/// "rope_theta 10000, now 500000; top_k 8, now 2", by name; empty where nothing differs.
[[nodiscard]] std::string changes(const Settings& before, const Settings& now);

}  // namespace auspex::exec
