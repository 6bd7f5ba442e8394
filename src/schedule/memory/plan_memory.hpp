#pragma once
/// @file The peak memory of a stage without the program of all stages: effects of passes are found once for the many
/// plans that share them.
#include <array>
#include <vector>

#include "models/machine.hpp"
#include "models/routing.hpp"
#include "schedule/memory/memory_fixed.hpp"
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

/// What each pass of a stage does to memory, by chunk and PassKind. Plans share it that differ in nothing but the order
/// of such passes, number of micro-batches, rank order, replicas, overlap of tp, ep and pp, and optimizer states'
/// sharding without fsdp.
struct PassEffects {
    std::vector<std::array<BlockMemory, 4>> passes;
    std::vector<std::array<BlockMemory, 4>> last_passes;  ///< of the last micro-batch
    BlockMemory optimizer;
};
/// `load` as in stage_memory. Requires a resolved plan; throws as build_program.
[[nodiscard]] PassEffects pass_effects(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Layout& layout, int stage,
                                       const models::RoutingLoad& load);

/// What the first forward pass of a stage of a program leaves for its backward pass.
[[nodiscard]] std::int64_t kept_bytes(const models::Workload& workload, const models::Plan& plan,
                                      const models::Stack& stack, const Program& program, int stage,
                                      const models::RoutingLoad& load);

/// StageMemory::peak_bytes, to the bit. `effects` and `fixed` (even_fixed_bytes) are those of plan and stage.
[[nodiscard]] double stage_peak_bytes(const PassEffects& effects, const FixedBytes& fixed, const models::Plan& plan,
                                      const models::Stack& stack, const models::Machine& machine, int stage);

}  // namespace auspex::schedule
