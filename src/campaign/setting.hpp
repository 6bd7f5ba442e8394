#pragma once
/// @file What a campaign is: work, checkpoints, failures, recovery, nodes, blocks of walltime. Pure data.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auspex::campaign {

/// Times between failures of one source, in time that the job runs: exponential, Weibull, or given.
enum class Spacing : std::uint8_t { kExponential, kWeibull, kTrace };

/// What fails, in the whole job. Shares say how a failure shows; what is left of 1 stops the job at once.
struct FailureSource {
    std::string component;  ///< "gpu"
    std::string cause;      ///< "HBM"
    Spacing spacing = Spacing::kExponential;
    double mean_s = 0;            ///< between two failures in the job, with ordinary nodes
    double shape = 1;             ///< kWeibull: below 1 failures come in bunches
    std::vector<double> times_s;  ///< kTrace: when, in time that the job runs, ascending
    int nodes = 1;                ///< that one takes out of the job (a switch, a chassis: several); 0: none
    double hang_share = 0;        ///< silent: steps stop, and nothing tells but the watchdog
    double soft_share = 0;        ///< NaN: found at the end of the step
    double corruption_share = 0;  ///< wrong numbers: found later, and all since then is worth nothing
    double detection_s = 0;       ///< from a failure that stops the job to the begin of recovery
    double outage_s = 0;          ///< until anything can be started again: power, file system
};

/// Every so many steps the steps stop for `stall_s`; what was copied then is written in `write_s` beside the steps
/// that follow (0: the stall is all of it) and counts as a checkpoint when its write is done.
struct Checkpoints {
    std::int64_t every_steps = 1;
    double stall_s = 0, write_s = 0;
    int copies = 2;            ///< 1: a write overwrites the last one, and neither is there until it is done
    int persistent_every = 0;  ///< so many checkpoints: one more, of the model alone, is kept for ever; 0: none
    double persistent_stall_s = 0;
    bool at_block_end = true;  ///< one more before the walltime or a maintenance ends the job
};

/// From a stop to the next step: swap of nodes (or a wait for them), environment, restart, initialisation, load. An
/// interruption meanwhile begins it anew; what nodes have got by then they keep until they are given back.
struct Recovery {
    double swap_s = 0;               ///< a failed node against a spare one, which gets the environment, too
    double environment_s = 0;        ///< programs to all nodes: once for nodes that the job gets together
    double restart_s = 0;            ///< processes, on nodes that have the environment
    double initialise_s = 0;         ///< communicators, compilation
    double load_s = 0;               ///< the checkpoint
    double failed_start_share = 0;   ///< of starts that come to the end of initialisation: they fail there
    double watchdog_s = 1800;        ///< a silent hang lasts so long
    double corruption_s = 86400;     ///< mean time (exponential) until wrong numbers are found
    bool software_requeues = false;  ///< in blocks: an interruption that takes no node ends the job, too
    bool is_interruptible = true;    ///< failures strike while it goes on
    bool loses_work = true;          ///< false: steps go on where they stopped
};

struct Nodes {
    int count = 1;
    std::optional<int> spares;   ///< held beside them; none: there is always another node at hand, which costs nothing
    double replenish_s = 0;      ///< until a failed node is back, or another in its place; 0: not before the next block
    double replenish_sigma = 0;  ///< of its logarithm, `replenish_s` being the median; 0: always as long
    double lemon_share = 0;      ///< of all nodes, those that fail more often
    double lemon_factor = 1;     ///< how much more often
};

/// Jobs of a batch system, and the machine's maintenance. 0: none.
struct Blocks {
    double walltime_s = 0;
    double queue_wait_s = 0;         ///< in front of every block but the first
    double queue_wait_sigma = 0;     ///< of its logarithm, `queue_wait_s` being the median; 0: always as long
    double maintenance_every_s = 0;  ///< from one begin to the next
    double maintenance_s = 0;
    double first_maintenance_s = 0;  ///< begin of the first
};

/// A node that is slow makes every step take `factor` as long for `lasts_s`; the next one comes after that.
struct SlowNodes {
    double mean_s = 0;  ///< from the end of one to the begin of the next, in the whole job; 0: none
    double factor = 1, lasts_s = 0;
};

struct Setting {
    std::int64_t steps = 0;
    double step_s = 0;
    double step_sigma = 0;     ///< standard deviation of the logarithm of the whole run's step time
    bool starts_cold = false;  ///< the first step comes after restart, initialisation and load, too
    double prepare_s =
        0;  ///< of a cold start alone, between initialisation and load: the index of the run's data. Once
    Checkpoints checkpoints;
    Recovery recovery;
    Nodes nodes;
    Blocks blocks;
    SlowNodes slow;
    std::vector<FailureSource> failures;
};

}  // namespace auspex::campaign
