#pragma once
/// @file From four inputs to a prediction.

#include <optional>
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "schedule/timeline.hpp"
#include "sim/predict/options.hpp"
#include "sim/predict/trace_details.hpp"

namespace auspex::predict {

struct PredictResult {
    Prediction prediction;
    std::optional<schedule::Timeline> timeline;
    std::optional<TraceDetails> details;  ///< of the timeline; not of kCpu
};

/// Simulates one step. kCpu (machines with a section "host", whatever lens is asked for): play_on_cpus; top_constants
/// are groups of the section's constants. kUnfolded: the folded step too, from which memory, times by operation, link
/// use and elasticities are; its timeline has the tracks of trace_ranks, of the median sample. Throws InputError for a
/// plan that does not match workload, machine or tiles, or that the trainer cannot run on CPUs; a plan that does not
/// fit in memory is a result.
[[nodiscard]] PredictResult predict(const models::Inputs& inputs, const PredictOptions& options);

/// The plan at another number of tiles. Weak: dp follows the tiles, micro_batches stay. Strong: the global batch of
/// the plan with its own dp (without one, with that of `reference_tiles`) is kept by changing micro_batches; throws
/// InputError when it does not divide.
enum class ScaleMode { kWeak, kStrong };
[[nodiscard]] models::Inputs at_scale(const models::Inputs& inputs, ScaleMode mode, int reference_tiles, int tiles);

/// One row of the ablation of expert kernels and optimizer sharding.
struct AblationRow {
    std::string name;  ///< baseline, fused-experts, ep-aware, both
    Prediction prediction;
    double optimizer_share = 0;
    double speedup_forward_backward = 1, speedup_optimizer = 1, speedup_training = 1;  ///< over the baseline
};
/// baseline: expert_kernels loop, optimizer sharded; the others change one or both. Everything else as the inputs say.
[[nodiscard]] std::vector<AblationRow> ablate(const models::Inputs& inputs, int tiles);

}  // namespace auspex::predict
