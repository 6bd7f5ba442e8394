#pragma once
/// @file From four inputs to a prediction: the simulator's front door.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/plan.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"
#include "schedule/timeline.hpp"
#include "sim/prediction.hpp"

namespace auspex {

/// The four inputs, as loaded and as documents (for overrides, hashes and sensitivity).
struct Inputs {
    JsonDocument machine_document, stack_document, workload_document, plan_document;
    Machine machine;
    Stack stack;
    Workload workload;
    Plan plan;  ///< as in the file, not yet resolved
};

struct PredictOptions {
    int tiles = 0;  ///< 0: what the plan's dp gives
    double run_tokens = 0;
    bool sensitivity = true;  ///< fill interval and top_constants (replays the step once per constant)
    bool timeline = false;
    /// Whether a trainer runs every operation of the program (exec knows); without it: not known to.
    std::function<bool(const Workload&, const Plan&, const Stack&, const Program&)> executor_runs = {};
    bool play_every_operation = false;  ///< no block advanced at once: for traces and for the test that both are equal
    Lens lens = Lens::kFolded;          ///< a machine with a host section is always played through Lens::kHost
    /// kHost: so many processes of others, by core of every computer, want it all the time. With any of them there is no
    /// interval: it is the step itself, and top_constants is empty.
    std::vector<int> others = {};
    // kUnfolded
    std::uint64_t seed = 1;
    int samples = 1;
    std::vector<std::string> slow = {};           ///< named slow parts: sim/slow_parts.hpp
    std::function<void(int, int)> progress = {};  ///< called after each sample: done, of all
};

struct PredictResult {
    Prediction prediction;
    std::optional<Timeline> timeline;
};

/// Loads the documents' contents again (after overrides). Throws InputError.
[[nodiscard]] Inputs load_inputs(JsonDocument machine, JsonDocument stack, JsonDocument workload, JsonDocument plan);
/// Simulates one step. kHost (machines with a host section, whatever lens is asked for): play_on_hosts; top_constants
/// are groups of the section's constants. kUnfolded: the folded step too, from which memory, times by operation, link
/// use and elasticities are. Throws InputError for a plan that does not match workload, machine or tiles, or that hosts
/// cannot run; a plan that does not fit in memory is a result.
[[nodiscard]] PredictResult predict(const Inputs& inputs, const PredictOptions& options);

/// The plan at another number of tiles. Weak: dp follows the tiles, micro_batches stay. Strong: the global batch of
/// the plan with its own dp (without one, with that of `reference_tiles`) is kept by changing micro_batches; throws
/// InputError when it does not divide.
enum class ScaleMode { kWeak, kStrong };
[[nodiscard]] Inputs at_scale(const Inputs& inputs, ScaleMode mode, int reference_tiles, int tiles);

/// One row of the ablation of expert kernels and optimizer sharding.
struct AblationRow {
    std::string name;  ///< baseline, fused-experts, ep-aware, both
    Prediction prediction;
    double optimizer_share = 0;
    double speedup_forward_backward = 1, speedup_optimizer = 1, speedup_training = 1;  ///< over the baseline
};
/// baseline: expert_kernels loop, optimizer sharded; the others change one or both. Everything else as the inputs say.
[[nodiscard]] std::vector<AblationRow> ablate(const Inputs& inputs, int tiles);

}  // namespace auspex
