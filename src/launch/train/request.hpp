#pragma once
/// @file What one run of `auspex train` is to do, whoever asks for it: a user, or a command that makes many runs.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auspex::launch {

/// What supervise() takes where nothing else is asked for: seconds without a finished step that mean a hang, longer
/// than any step or checkpoint of the models that run on CPU cores; relaunches.
inline constexpr int kDefaultHangTimeout_s = 600;
inline constexpr int kDefaultMaxRestarts = 3;

/// An empty string or list, or zero: not asked for.
struct TrainRequest {
    std::string stack = "auspex", workload, plan;  ///< files, or names (launch/input_files.hpp)
    std::vector<std::string> overrides;            ///< ROLE.PATH=VALUE, in order
    std::string data;                              ///< folder of a dataset, or file of a blend
    int ranks = 0;                                 ///< 0: what the plan's dp gives
    int steps = 0;                                 ///< of the whole run; 0: weights are only exported
    std::uint64_t seed = 1;                        ///< of the initial weights
    std::string checkpoint;                        ///< folder
    int checkpoint_every = 0, model_every = 0;     ///< steps
    bool resumes = false;                          ///< from the newest checkpoint
    std::string weights;                           ///< file to begin with
    std::string export_weights, export_gradients, record_routing, trace, plot;  ///< files to write
    bool probes_cores = false;                                                  ///< between steps
    std::string fault;  ///< to strike on purpose, as parse_fault() (launch/train/setup.hpp) reads it
    bool is_supervised = false;
    int buffer_ranks = 0;             ///< spare slots
    double hang_timeout_s = 0;        ///< seconds without a finished step; 0: kDefaultHangTimeout_s
    std::optional<int> max_restarts;  ///< none: kDefaultMaxRestarts
    std::string hostfile;
    std::string mpirun_flags;  ///< separated by spaces
    std::string command_line;  ///< that others are told who want what the run holds
};

/// As flags of `auspex train`; the command line is not among them.
[[nodiscard]] std::vector<std::string> to_arguments(const TrainRequest& request);

}  // namespace auspex::launch
