#pragma once
/// @file auspex predict --chakra: a step as Chakra execution traces.
#include <functional>
#include <string>
#include <vector>

#include "models/inputs.hpp"

namespace auspex::workflows {

/// Traces of more bytes are written only where it is asked for.
inline constexpr double kMostChakraBytes = 4e9;

struct ChakraExport {
    std::string folder;
    int tiles = 0;         ///< of the job; 0: what the plan's dp gives
    bool by_role = false;  ///< one file a pipeline stage, and roles.json, instead of one a rank
    double most_bytes = kMostChakraBytes;
    std::string generator = {};                                   ///< "auspex 0.1.0": for the metadata
    std::function<void(std::size_t, std::size_t)> progress = {};  ///< files written, of all
};

struct ChakraExported {
    int ranks = 0;
    std::size_t files = 0, groups = 0;
    std::uint64_t nodes = 0;         ///< of all ranks
    double bytes = 0;                ///< of the files of traces
    std::vector<std::string> notes;  ///< what the format does not hold
};

/// Writes FOLDER/trace.RANK.et, comm_groups.json and, by role, roles.json. The folder must be there, without traces in
/// it. Throws InputError for one with traces, for more than `most_bytes` (with what it would take), for a machine of
/// CPU cores, and as predict() does.
[[nodiscard]] ChakraExported export_chakra(const models::Inputs& inputs, const ChakraExport& request);

}  // namespace auspex::workflows
