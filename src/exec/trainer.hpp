#pragma once
/// @file A run of many steps on one rank: data, steps, checkpoints, reports. The same function runs under every
/// transport.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/data/dataset.hpp"
#include "exec/interpreter.hpp"

namespace auspex {

struct InjectedFault {
    enum class Kind {
        kNan,               ///< a number of the rank's first attention output of the step is none
        kKill,              ///< SIGKILL before the step
        kKillInCheckpoint,  ///< SIGKILL after the step, while the others write the checkpoint that follows it
        kHang               ///< waits for ever before the step
    } kind = Kind::kNan;
    int rank = 0;
    int step = 0;
};

struct RunOptions {
    std::string data;               ///< folder of a Dataset
    int steps = 0;                  ///< the run ends after this many steps, counted from the first of the whole run
    std::string checkpoint_folder;  ///< empty: none
    int checkpoint_every = 0;
    int model_every = 0;                           ///< model-only: CHECKPOINT_FOLDER/model-STEP.safetensors
    bool resume = false;                           ///< from the newest checkpoint of the folder, if there is one
    std::string weights;                           ///< start from this WeightsFile
    std::string export_weights, export_gradients;  ///< after the last step; gradients of the last step
    std::string record_routing;
    bool wants_trace = false;   ///< of the last step
    bool probes_cores = false;  ///< between steps, on every rank: StepReport::probe_s
    std::optional<InjectedFault> fault;
    std::function<void(int step)> on_begin_step;  ///< on every rank, if set
};

struct StepReport {
    int step = 0;
    double loss = 0, cross_entropy = 0, auxiliary = 0, z = 0;
    double gradient_norm = 0, learning_rate = 0;
    double step_time_s = 0;  ///< of the slowest rank, from a barrier before the step
    double tokens_per_s = 0;
    double probe_s = 0;  ///< of the slowest rank, before or after the step (measure/core_probe.hpp); 0: not asked for
};

/// Of one rank, at the end.
struct RankReport {
    int rank = 0;
    LabelBytes peaks{}, at_peak{};
    std::size_t peak_bytes = 0, reserved_bytes = 0, transport_bytes = 0, blas_bytes = 0;
    std::vector<OperationCount> counts;  ///< by OpKind, of one step (the last)
};

struct RunReport {
    int first_step = 0;             ///< where it began: 0, or the checkpoint's
    std::vector<StepReport> steps;  ///< rank 0 only
    std::vector<RankReport> ranks;  ///< rank 0 only: of all
    Timeline timeline;              ///< rank 0 only: of all ranks, tracks "rank R"
    std::vector<std::string> notes;
};

/// Runs on the calling rank; precision follows the plan. `on_step` is called on rank 0 after each step, `on_note` with
/// what a user should know (which checkpoint is used and why). Throws InputError, SoftFailure, CheckpointError,
/// CommunicationError.
[[nodiscard]] RunReport train(const RunInputs& run, const RunOptions& options, Communicator& communicator,
                              const std::function<void(const StepReport&)>& on_step,
                              const std::function<void(const std::string&)>& on_note);

}  // namespace auspex
