#pragma once
/// @file What every operation of a program costs: kernels and transfers. Costed once, and read by all that ask.
#include <cstdint>
#include <map>
#include <vector>

#include "models/routing.hpp"
#include "schedule/operation_times.hpp"
#include "sim/engine/cost_transfers.hpp"
#include "sim/engine/costed_program.hpp"

namespace auspex::engine {

struct CostOptions {
    models::RoutingLoad load;  ///< imbalance of routed work
    std::vector<double>
        slowdown;  ///< by stage: how much longer rate-bound kernels take than on a median tile (1 or more)
    bool merge_operations = true;  ///< merge operations into one task where no event can fall inside
    Grain grain = Grain::kStages;
    std::vector<double> link_factors;  ///< kRanks: on the capacity of each link; empty: 1
};

/// Time of a compute operation by cause, on a tile of speed 1.
struct ComputeTime {
    double nominal_s = 0;     ///< with the mean load, or the heaviest where that is less
    double rate_bound_s = 0;  ///< of nominal_s: what a slower tile takes longer for
    double imbalance_s = 0;   ///< what the heaviest load of routing adds

    /// What a tile that takes `slowdown` times as long for rate-bound work adds.
    [[nodiscard]] double straggler_s(double slowdown) const { return (rate_bound_s + imbalance_s) * (slowdown - 1); }
};

/// Of the busiest rank in the layer of an operation whose kernels are routed; of others 1.
[[nodiscard]] double load_of(const schedule::Program& program, const schedule::Operation& op,
                             const models::RoutingLoad& load);

/// Of a compute operation; `heaviest_load`: of routing, 1 where it is even.
[[nodiscard]] ComputeTime compute_time(const schedule::Program& program, const schedule::Operation& op,
                                       const models::Machine& machine, const models::Stack& stack,
                                       double heaviest_load);

/// By index into Program::operations; operations of blocks that no role runs keep zeros and kNone.
struct OperationCosts {
    std::vector<ComputeTime> compute;     ///< of communications: nothing
    std::vector<std::uint32_t> transfer;  ///< into `transfers`; kNone: computes or receives
    std::vector<CostedTransfer> transfers;
    std::vector<std::uint32_t> shared_links;  ///< as CostedProgram's
    bool serial = false;  ///< of an actor, nothing but pipeline messages runs beside compute or another collective
};

/// Load, grain and link factors of `options` count here, slowdown and merge_operations do not. The network keeps the
/// patterns. Throws InputError for a transfer of kLongestTime or more.
[[nodiscard]] OperationCosts cost_operations(const schedule::Program& program, const models::Machine& machine,
                                             const models::Stack& stack, const models::Layout& layout,
                                             network::Network& network, const CostOptions& options);

/// Sums of time by operation over one step, the mean over roles; waiting excluded. Requires Grain::kStages.
[[nodiscard]] schedule::OperationTimes time_by_operation(const schedule::Program& program, const OperationCosts& costs,
                                                         const CostOptions& options);

/// Calls visit(block, stage) once for every block that a role runs.
template <class Visit>
void for_each_block(const schedule::Program& program, Visit&& visit) {
    std::vector<std::uint8_t> seen(program.blocks.size(), 0);
    for (const schedule::Role& role : program.roles) {
        for (const schedule::BlockUse& use : role.order) {
            if (seen[use.block] == 0) {
                seen[use.block] = 1;
                visit(use.block, role.stage);
            }
        }
    }
}

/// Calls visit(operation, stage, times) for every operation of every block that a role runs, role by role; `times` a
/// step.
template <class Visit>
void for_each_use(const schedule::Program& program, Visit&& visit) {
    for (const schedule::Role& role : program.roles) {
        std::map<std::uint32_t, int> uses;
        for (const schedule::BlockUse& use : role.order) {
            ++uses[use.block];
        }
        for (const auto& [block, times] : uses) {
            for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
                visit(op, role.stage, times);
            }
        }
    }
}

}  // namespace auspex::engine
