#pragma once
/// @file Puts a time on every operation of a program: kernels, transfers, noise.
#include <vector>

#include "models/routing.hpp"
#include "schedule/operation_times.hpp"
#include "sim/engine/cost_transfers.hpp"
#include "sim/engine/costed_program.hpp"

namespace auspex {

struct CostOptions {
    RoutingLoad load;  ///< imbalance of routed work
    std::vector<double>
        slowdown;      ///< by stage: how much longer rate-bound kernels take than on a median tile (1 or more)
    bool fold = true;  ///< advance stretches of operations at once where nothing can happen inside
    Grain grain = Grain::kStages;
    std::vector<double> link_factors;  ///< kRanks: on the capacity of each link; empty: 1
};

/// Noise: a synchronisation of n ranks after compute of length t waits on average d (1 - exp(-rate n t)) for the
/// operating system's interruptions (rate, mean length d); a transfer between nodes of r rounds takes time * jitter *
/// E[max of n normals] / sqrt(r) longer. kRanks: no expected noise, slowdown or imbalance of compute is in the times;
/// the engine draws them.
[[nodiscard]] CostedProgram cost_program(const Program& program, const Machine& machine, const Stack& stack,
                                         const Layout& layout, Network& network, const CostOptions& options);

/// Sums of time by operation over one step, the mean over roles.
[[nodiscard]] OperationTimes time_by_operation(const Program& program, const Machine& machine, const Stack& stack,
                                               Network& network, const CostOptions& options);

}  // namespace auspex
