#pragma once
/// @file What a run is asked for.
#include <functional>
#include <optional>
#include <string>

namespace auspex::exec {

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
    std::string data;               ///< folder of a Dataset, or file of a Blend
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
    std::function<void(int steps)> on_saved;      ///< on every rank, if set: a checkpoint after so many steps is whole
};

}  // namespace auspex::exec
