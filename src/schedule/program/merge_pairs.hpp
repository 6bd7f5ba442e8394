#pragma once
/// @file Passes that run beside one another, as the simulator plays them.
#include <vector>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// A program whose pairs of a forward and a backward pass are one block each, behind the blocks that it has anyway.
struct PairedProgram {
    Program program;
    std::vector<std::uint32_t> origin;  ///< by operation: its number in the program without merged blocks
};

/// True if some pass runs beside the next (BlockUse::beside_next).
[[nodiscard]] bool has_pairs(const Program& program);

/// Merges each pair into a block in which its passes take turns, the backward pass first: either goes on until it has
/// begun a communication of experts (Stream::kEp), which the other's kernels hide. So expert communication and kernels
/// follow one another as in Megatron-LM's --overlap-moe-expert-parallel-comm (return backward, dispatch forward,
/// dispatch backward, return forward). Any other communication that does not overlap blocks the kernels of both.
/// Operations of the backward pass are marked `second`.
[[nodiscard]] PairedProgram merge_pairs(const Program& program);

}  // namespace auspex::schedule
