#pragma once
/// @file What a machine and a stack say of the way from a job's start to its first step. Pure data.
#include <optional>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"

namespace auspex::models {

/// Programs and libraries, as one archive and as files.
struct EnvironmentFacts {
    double bytes = 0;               ///< of the archive
    double lookups = 0;             ///< names that one process asks a file system for as it imports them
    double unpack_bytes_per_s = 0;  ///< of the archive, on its node
    double copy_bytes_per_s = 0;    ///< of the archive, from a node to another, while every node sends one
    double copy_tail_s = 0;         ///< mean of an exponential tail of one copy's time
};

/// What the file systems give to a job that starts.
struct StartStorage {
    double node_read_bytes_per_s = 0;    ///< one node, of the shared one
    double shared_read_bytes_per_s = 0;  ///< all nodes together, of the shared one, where they read the same files
    double local_read_bytes_per_s = 0;   ///< one node, of its own
    double lookups_per_s = 0;            ///< names that the shared one finds, opens or makes, for all ranks together
    double local_lookups_per_s = 0;      ///< the same of a node's own, for all its ranks
};

/// Devices and communicators. Ranks from which public runs failed: 0 where none is known.
struct InitialiseFacts {
    double device_s = 0;
    double bootstrap_rank_s = 0;  ///< of each rank, at the one that all of them report to
    int shaky_ranks = 0;          ///< from here on some of them failed
    int wall_ranks = 0;           ///< from here on all of them
};

/// Of stacks that compile.
struct CompileFacts {
    double node_s = 0;         ///< on a node by itself
    double rank_lookups = 0;   ///< of the shared file system, by each rank: caches of compiled kernels
    int unfinished_nodes = 0;  ///< from here on public runs did not finish; 0: not known
};

/// Rates of the builder of a data index (models/data/index_build.hpp).
struct IndexFacts {
    double sequence_s = 0;  ///< one sequence, one worker
    double start_s = 0;     ///< of the workers, once
    int node_workers = 1;   ///< that build on one node
};

/// "startup" of a machine file; what it does not have is not known of this machine.
struct StartupFacts {
    std::optional<StartStorage> storage;
    std::optional<EnvironmentFacts> environment;
    std::optional<InitialiseFacts> initialise;
    std::optional<CompileFacts> compile;
    std::optional<IndexFacts> index;
};

/// "startup" of a stack file.
struct StackStartup {
    bool compiles = false;          ///< kernels are compiled before the first step
    bool broadcasts_model = false;  ///< one replica reads the model and sends it to the others; false: each reads it
    bool reads_all_shards = false;  ///< every rank looks at every file of a checkpoint; false: at its own
};

/// docs/formats-machine-stack.md has the keys. Constants join `constants` in the order of the table there. Throws
/// InputError (file, path, found, allowed).
[[nodiscard]] StartupFacts read_startup_facts(const JsonValue& section, std::vector<Constant>& constants);
/// `section`, where it is there, with what `release` has of its own; none where neither is.
[[nodiscard]] std::optional<StackStartup> read_stack_startup(const std::optional<JsonValue>& section,
                                                             const std::optional<JsonValue>& release);

}  // namespace auspex::models
