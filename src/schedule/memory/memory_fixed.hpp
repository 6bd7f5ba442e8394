#pragma once
/// @file Bytes that a rank holds all the time, whatever runs: for memory.cpp and plan_memory.cpp.
#include <array>

#include "models/machine.hpp"
#include "schedule/memory/memory_label.hpp"
#include "schedule/memory/memory_walk.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

using FixedBytes = std::array<double, kMemoryLabelCount>;

/// Bytes of a stage beside its weights, whole on every rank: router biases and the counts that move them, fp32; weights
/// in 8 bits, as they are and transposed, but with fsdp; with Objective::kDpo the reference's.
[[nodiscard]] double bytes_beside_weights(const models::Workload& workload, const models::Plan& plan, int stage);
/// Parameters that a rank of a stage holds something of, all the time.
struct HeldParameters {
    double whole = 0;    ///< of the stage
    double states = 0;   ///< of the rank's optimizer shard
    double waiting = 0;  ///< whose gradients wait, whole, for a pass of their own: waiting_gradients
};
/// Where gradients are sharded and backward passes split: those of a stage that have to be summed.
[[nodiscard]] double waiting_gradients(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Layout& layout, int stage);
[[nodiscard]] FixedBytes fixed_bytes(const models::Plan& plan, const models::Stack& stack, const models::Layout& layout,
                                     const HeldParameters& held);
/// Of a prediction: shards are even.
[[nodiscard]] FixedBytes even_fixed_bytes(const models::Workload& workload, const models::Plan& plan,
                                          const models::Stack& stack, const models::Layout& layout, int stage);
/// Of bytes that come and go, what the allocator holds beside them.
[[nodiscard]] double fragment_bytes(const models::Stack& stack, const BytesByLabel& come_and_go);

}  // namespace auspex::schedule
