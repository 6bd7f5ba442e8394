#pragma once
/// @file Blocks of a job of which one stands for all.
#include <cstdint>
#include <vector>

namespace auspex::network {

/// Links that every block of a job has alike: those of block b are first + b * of_block and on.
struct BlockLinks {
    std::uint32_t first, of_block;
};

/// Blocks that a job fills one after the other, node by node: block and place of node n are n / nodes and n % nodes,
/// and switches, links and ways are the same in each. The other links between nodes join a block with another one
/// (first_pair + from * blocks + to) or are common to all blocks.
struct AlikeBlocks {
    static constexpr std::uint32_t kNoPairs = ~0U;
    int nodes = 0;  ///< of a block; 0: the job's blocks are not alike
    int blocks = 0;
    std::vector<BlockLinks> links;        ///< by rising number
    std::uint32_t first_pair = kNoPairs;  ///< kNoPairs: the machine has one block
    /// The range of links that holds one of the first block; null: it is none.
    [[nodiscard]] const BlockLinks* links_with(std::uint32_t link) const {
        for (const BlockLinks& range : links) {
            if (link >= range.first && link - range.first < range.of_block) {
                return &range;
            }
        }
        return nullptr;
    }
    /// The same link of the first block, if every block has it; else itself.
    [[nodiscard]] std::uint32_t of_first_block(std::uint32_t link) const {
        for (const BlockLinks& range : links) {
            if (link >= range.first && link - range.first < range.of_block * static_cast<std::uint32_t>(blocks)) {
                return range.first + (link - range.first) % range.of_block;
            }
        }
        return link;
    }
    [[nodiscard]] bool is_pair(std::uint32_t link) const {
        return first_pair != kNoPairs && link >= first_pair &&
               link - first_pair < static_cast<std::uint32_t>(blocks) * static_cast<std::uint32_t>(blocks);
    }
};

}  // namespace auspex::network
