/// @file The blocks of a job.
#include "sim/network/fabric/job_blocks.hpp"

#include <algorithm>

namespace auspex::network {

JobBlocks job_blocks(std::span<const int> nodes, int nodes_per_block) {
    JobBlocks job;
    job.nodes.assign(nodes.begin(), nodes.end());
    for (const int node : nodes) {
        const int block = node / nodes_per_block;
        if (job.blocks.empty() || job.blocks.back() != block) {
            job.blocks.push_back(block);
        }
    }
    std::sort(job.blocks.begin(), job.blocks.end());
    job.blocks.erase(std::unique(job.blocks.begin(), job.blocks.end()), job.blocks.end());
    job.block_of_node.reserve(nodes.size());
    auto at = job.blocks.begin();
    for (const int node : nodes) {
        const int block = node / nodes_per_block;
        at = *at == block ? at : std::lower_bound(job.blocks.begin(), job.blocks.end(), block);
        job.block_of_node.push_back(static_cast<std::uint32_t>(at - job.blocks.begin()));
    }
    return job;
}

}  // namespace auspex::network
