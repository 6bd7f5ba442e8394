#pragma once
/// @file What an allocator reserves of the device for the steps of a stage's rank.
#include <optional>

#include "models/machine.hpp"
#include "models/routing.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Bytes, the most at any time of a step of a run that goes on.
struct ReservedMemory {
    double reserved = 0;   ///< of all segments
    double allocated = 0;  ///< of all blocks
};
/// Stack::allocator is played: with fsdp whose weights are gathered anew backward, by more than one rank and without
/// neighbours that hold more than their shard, whole backward passes, stages that hand nothing to themselves, and no
/// prediction modules, reference model or ring of keys. Elsewhere Stack::fragmentation stands for it.
[[nodiscard]] bool plays_allocator(const models::Workload& workload, const models::Plan& plan,
                                   const models::Stack& stack);

/// Plays the allocator (CachingAllocator): shards, then steps until one reserves no more than the one before it, four
/// at most; states of the optimizer are made by the first update. Tensors are those of docs/memory.md, one allocation
/// each, made and released in the order of the program, but for weights and their gradients, which ShardedUnits has.
/// Of the micro-batches of p stages the first 2 p + 1 and the last are played, but with gpipe, which has all in flight.
/// The device has the tile's capacity less what other libraries hold (reserved_bytes).
/// None where plays_allocator is false. Requires a resolved plan and its program.
[[nodiscard]] std::optional<ReservedMemory> reserved_memory(const models::Workload& workload, const models::Plan& plan,
                                                            const models::Stack& stack, const models::Machine& machine,
                                                            const models::Layout& layout, const Program& program,
                                                            int stage, const models::RoutingLoad& load);

}  // namespace auspex::schedule
