#pragma once
/// @file Costed operations to what the engine plays: merged tasks, noise, stragglers.

#include "sim/engine/costed_program.hpp"
#include "sim/engine/operation_costs.hpp"

namespace auspex::engine {

/// Noise: a synchronisation of n ranks after compute of length t waits on average d (1 - exp(-rate n t)) for the
/// operating system's interruptions (rate, mean length d); a transfer between nodes of r rounds takes time * jitter *
/// E[max of n normals] / sqrt(r) longer. kRanks: no expected noise, slowdown or imbalance of compute is in the times;
/// the engine draws them.
/// `costs`: cost_operations() of the same program and options.
[[nodiscard]] CostedProgram cost_program(const schedule::Program& program, const models::Machine& machine,
                                         const models::Stack& stack, const models::Layout& layout, OperationCosts costs,
                                         const CostOptions& options);

}  // namespace auspex::engine
