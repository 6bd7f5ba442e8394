#pragma once
/// @file auspex import chakra: traces of any framework, played on a machine.
#include <optional>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "models/stack.hpp"
#include "sim/graph/graph_player.hpp"

namespace auspex::workflows {

/// So many nodes are kept, of files that differ and of all ranks, and so many dependencies of one file: some GB.
inline constexpr std::uint64_t kMostStoredNodes = 20'000'000, kMostPlayedNodes = 400'000'000,
                               kMostDependencies = 100'000'000;

enum class TraceDurations : std::uint8_t {
    kRecorded,  ///< duration_micros
    kRoofline   ///< of COMP nodes from num_ops and tensor_size: as a kernel of the machine, with one launch each
};

struct ChakraImport {
    std::string folder = {}, groups_file = {};
    TraceDurations durations = TraceDurations::kRecorded;
    bool one_communication = false;  ///< graph::PlayOptions
    std::vector<int> recorded = {};
    bool record_all = false;
};

/// A folder of traces as a graph.
struct ReadTraces {
    graph::GraphJob job;
    std::string version;  ///< of the schema, as the first file says it
    std::vector<std::string> notes;
    std::uint64_t nodes = 0;  ///< of all ranks
};

/// Reads all files; those that say the same, but for groups and peers, are kept once. Throws InputError naming file,
/// node and value for what cannot be read or played.
[[nodiscard]] ReadTraces read_traces(const ChakraImport& request, const models::Machine& machine,
                                     const models::Stack& stack);

struct PlayedTraces {
    graph::GraphResult result;
    int ranks = 0, nodes_of_machine = 0;
    std::uint64_t nodes = 0;
    std::string version;
    std::vector<std::string> notes;
    double read_s = 0, play_s = 0;  ///< what both took here
};
/// Rank r sits on tile r % node.tiles of node r / node.tiles.
[[nodiscard]] PlayedTraces play_traces(const ChakraImport& request, const models::Machine& machine,
                                       const models::Stack& stack);

}  // namespace auspex::workflows
