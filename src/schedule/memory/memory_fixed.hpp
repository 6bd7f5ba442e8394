#pragma once
/// @file Bytes that a rank holds all the time, whatever runs: for memory.cpp and plan_memory.cpp.
#include <array>

#include "models/machine.hpp"
#include "schedule/memory/memory_label.hpp"
#include "schedule/memory/memory_walk.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

using FixedBytes = std::array<double, kMemoryLabelCount>;

/// Bytes of the units that fsdp has gathered at a time: two of a stage's largest layer, embedding or LM head, and
/// their gradients.
[[nodiscard]] double gathered_units(const models::Workload& workload, const models::Plan& plan, int stage);
/// Bytes of router biases and of the counts that move them, of a stage: fp32, whole on every rank.
[[nodiscard]] double router_bias_bytes(const models::Workload& workload, const models::Plan& plan, int stage);
/// Of `held` parameters, `states` optimizer states and so many bytes of gathered units.
[[nodiscard]] FixedBytes fixed_bytes(const models::Plan& plan, const models::Stack& stack, const models::Layout& layout,
                                     double held, double states, double units);
/// Of a prediction: shards are even.
[[nodiscard]] FixedBytes even_fixed_bytes(const models::Workload& workload, const models::Plan& plan,
                                          const models::Stack& stack, const models::Layout& layout, int stage);
/// The machine's reserve, and of bytes that come and go what the allocator holds beside them.
[[nodiscard]] double runtime_bytes(const models::Stack& stack, const models::Machine& machine,
                                   const BytesByLabel& come_and_go);

}  // namespace auspex::schedule
