#pragma once
/// @file The dragonfly groups, leaves or units that a job's nodes lie in, numbered in the order of the machine.
#include <cstdint>
#include <span>
#include <vector>

namespace auspex::network {

/// Blocks that hold no node of the job are left out.
struct JobBlocks {
    std::vector<int> nodes;                    ///< number in the machine of each node of the job
    std::vector<int> blocks;                   ///< number in the machine of each block of the job, rising
    std::vector<std::uint32_t> block_of_node;  ///< index into `blocks` of each node of the job
};

/// Node n of the machine lies in block floor(n / nodes_per_block).
[[nodiscard]] JobBlocks job_blocks(std::span<const int> nodes, int nodes_per_block);

}  // namespace auspex::network
