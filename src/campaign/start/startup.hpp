#pragma once
/// @file From a job's submission to its first step, phase by phase.
#include <cstdint>
#include <string>
#include <vector>

#include "campaign/start/start_job.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::campaign {

/// What happens one after another, in this order.
enum class StartPhase : std::uint8_t {
    kQueue,
    kRestart,        ///< all of what follows until the first step, where the machine's file knows no parts
    kEnvironment,    ///< programs and libraries to every node
    kLibraries,      ///< from there, or from the shared file system, into every process
    kInitialise,     ///< devices, communicators and compilation, where the machine's file has one number for them
    kDevices,        ///< of each node
    kCommunicators,  ///< between all ranks
    kCompile,        ///< kernels, by stacks that do
    kIndex,          ///< of the run's data
    kLoad,           ///< a checkpoint
    kFirstStep
};
/// "first_step": keys of the JSON. "first step": for people.
[[nodiscard]] const char* key_of(StartPhase phase);
[[nodiscard]] const char* words_of(StartPhase phase);

struct PhaseTime {
    StartPhase phase = StartPhase::kQueue;
    double seconds = 0;
    std::string bound_by;  ///< "metadata of the shared file system": the longest of its parts
};

struct Start {
    std::vector<PhaseTime> phases;   ///< those that this job has, in order
    std::vector<std::string> notes;  ///< what is not known, and what public runs of this size met

    [[nodiscard]] double total_s() const;
    /// 0 for a phase that is not there.
    [[nodiscard]] double seconds_of(StartPhase phase) const;
};

/// Phases by the machine's "startup" and the stack's; where the former does not know environment or initialisation, by
/// reliability.environment and initialise, and where these are not there either, reliability.restart as a whole.
/// With ranks R, lookups L of the shared file system, M of a node's own:
///   environment    environment_copy.hpp; not staged: none
///   libraries      max(imports x ranks of a node / M, archive x these / local_read);
///                  not staged: max(imports x R / L, archive x nodes / min(shared_read, nodes x node_read))
///   devices        device
///   communicators  bootstrap_rank x R
///   compile        node + rank_lookups x R / L
///   index          models::index_build_time of nodes x node_workers workers, or of one
///   load           load_time.hpp
/// Ignores: failed starts, the shell and the launcher, warming up beyond compilation.
[[nodiscard]] Start start_of(const models::Machine& machine, const models::Stack& stack, const StartJob& job);

/// What all of them are between a stop and the next step of a running job, in the words of campaign::Recovery:
/// without queue, index and first step.
struct StartParts {
    double environment_s = 0;  ///< to all nodes: not again while the job keeps them
    double restart_s = 0;      ///< libraries, or kRestart
    double initialise_s = 0;   ///< devices, communicators, compilation
    double load_s = 0;
};
[[nodiscard]] StartParts parts_of(const Start& start);

}  // namespace auspex::campaign
