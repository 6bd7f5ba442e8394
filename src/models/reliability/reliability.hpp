#pragma once
/// @file What fails on a machine, what a restart takes, and how fast checkpoints go to its storage.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"

namespace auspex::models {

struct Storage {
    double write_bytes_per_s = 0, read_bytes_per_s = 0;
    // Of one job's checkpoints, as measured; 0: not known.
    double checkpoint_write_bytes_per_s = 0, checkpoint_read_bytes_per_s = 0;
    double checkpoint_start_s = 0;  ///< of every write, whatever its size
    double stall_share = 0;  ///< of a checkpoint's whole time, what steps wait for where it is written beside them
};

enum class FailureUnit { kNode, kTile, kSwitch };

/// A part of the machine that fails, or a cause.
struct FailingPart {
    std::string name, cause;
    FailureUnit unit = FailureUnit::kNode;
    double mtbf_s = 0;  ///< of one unit in a running job
    double shape = 1;   ///< of a Weibull distribution of times between failures in a job; 1: exponential
    int nodes = 1;      ///< that one failure takes out of the job; 0: none
    double silent = 0, soft = 0, corrupt = 0;  ///< shares: hangs, NaN at once, wrong numbers that are found late
};

struct Reliability {
    double node_mtbf_s = 0;  ///< mean time between interrupts caused by one node
    double restart_s = 0;
    std::vector<FailingPart> parts;  ///< instead of node_mtbf_s, where there are any
    // Of a restart; 0: not known apart.
    double detection_s = 0, swap_s = 0, environment_s = 0, initialise_s = 0, watchdog_s = 0;
    double node_failed_start = 0;  ///< share of starts that one node keeps from coming up
};

/// Each reads its section; docs/formats-machine-stack.md describes them. Constants join `constants` in the order of the
/// table there. Throws InputError (file, path, found, allowed).
[[nodiscard]] Storage read_storage(const JsonValue& section, std::vector<Constant>& constants);
[[nodiscard]] Reliability read_reliability(const JsonValue& section, std::vector<Constant>& constants);

}  // namespace auspex::models
