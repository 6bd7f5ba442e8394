#pragma once
/// @file How jobs are started on a machine: batch system, launcher, cores of ranks, environment. Words with a source;
/// no prediction depends on them.
#include <optional>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"

namespace auspex::models {

/// A text of a file with its provenance; empty where the file has none.
struct SourcedText {
    std::string value, source;
    ConstantKind kind = ConstantKind::kAssumed;
};

/// A variable of the environment, whose value is taken as it stands.
struct EnvironmentVariable {
    std::string name;
    SourcedText text;
};
using Environment = std::vector<EnvironmentVariable>;

enum class BatchSystem { kPbs, kSlurm };
/// "PBS", "Slurm".
[[nodiscard]] const char* to_string(BatchSystem);

/// What programs reach the tiles through.
enum class Platform { kUnknown, kCuda, kRocm, kLevelZero };

/// The longest job of at most so many nodes, and of more than the limit before it is for.
struct WalltimeLimit {
    int up_to_nodes = 0;
    double walltime_s = 0;
};

/// Section "launch" of a machine file.
struct LaunchSettings {
    bool is_known = false;  ///< the file has the section; without it the rest means nothing
    BatchSystem batch = BatchSystem::kSlurm;
    Platform platform = Platform::kUnknown;
    SourcedText submit;                   ///< the command that hands a script over, without the script's name
    std::vector<SourcedText> directives;  ///< of the batch system, beside nodes, ranks and time
    SourcedText launcher;  ///< that starts the ranks, with {nodes}, {ranks}, {ranks_per_node}, {cores}, {core_masks}
    SourcedText rank, local_rank;     ///< variables in which a rank finds its number, and that on its node
    bool sees_own_tile_only = false;  ///< a rank sees one tile, as number 0; else those of its node
    std::vector<std::string> cores;   ///< of the rank of each tile of a node, "0-7" or "0-7,52-59"; empty: not known
    SourcedText cores_source;
    std::vector<WalltimeLimit> walltime_limits;  ///< by nodes, least first; empty: not known
    SourcedText walltime_limits_source;
    Environment environment;
};

/// Reads NAME: {value, source, kind}, by name. Throws InputError.
[[nodiscard]] Environment read_environment(const JsonValue& section);
/// Reads the section. Throws InputError for unknown placeholders, and cores that are none.
[[nodiscard]] LaunchSettings read_launch_settings(const JsonValue& section);

/// Of a machine's document that load_machine takes; is_known false where it has no such section. Throws InputError
/// unless there are cores for each tile of a node, or none: predictions may ask what nodes of other sizes would do.
[[nodiscard]] LaunchSettings launch_settings_of(const JsonDocument& machine);
/// Section "environment" of a stack's document that load_stack takes; empty where it has none.
[[nodiscard]] Environment environment_of(const JsonDocument& stack);

/// The limit of a job of so many nodes; nothing where the machine names none for them.
[[nodiscard]] std::optional<WalltimeLimit> walltime_limit(const LaunchSettings& settings, int nodes);

/// The numbers of cores of "0-7,52-59". Throws InputError, at `where`, for anything else.
[[nodiscard]] std::vector<int> core_numbers(const std::string& text, const std::string& where);

}  // namespace auspex::models
