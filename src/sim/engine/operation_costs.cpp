/// @file Kernels and transfers of every operation.
#include "sim/engine/operation_costs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/kernel_cost.hpp"
#include "sim/engine/host_issue.hpp"

namespace auspex::engine {
namespace {

/// Sums of gradients run beside the passes, and messages wait for other stages.
bool belongs_to_pass(const schedule::Operation& op) {
    return op.stream == schedule::Stream::kTp || op.stream == schedule::Stream::kEp ||
           op.stream == schedule::Stream::kCp;
}

/// Of the busiest rank.
double device_s(const schedule::Program& program, const schedule::Block& block, const OperationCosts& costs) {
    double seconds = 0;
    for (const schedule::Operation& op : program.operations_of(block)) {
        const std::size_t index = program.index_of(op);
        if (op.comm == schedule::CommKind::kNone) {
            seconds += costs.compute[index].nominal_s + costs.compute[index].imbalance_s;
        } else if (costs.transfer[index] != kNone && belongs_to_pass(op)) {
            seconds += to_seconds(costs.transfers[costs.transfer[index]].members.front().solo_time);
        }
    }
    return seconds;
}

/// Gives every kHostIssue its time: what issuing its block takes longer than the block's compute and the communications
/// of tp, ep and cp. So a pass takes the longer of both; where communications run beside compute a little less. Ignores
/// that the host may be ahead by more than a pass, and that slow tiles (jitter) are hidden by it, too.
void cost_host_issue(const schedule::Program& program, const models::Stack& stack, const models::Layout& layout,
                     OperationCosts& costs) {
    for_each_block(program, [&](std::uint32_t index, int) {
        const schedule::Block& block = program.blocks[index];
        for (const schedule::Operation& op : program.operations_of(block)) {
            if (op.kind == schedule::OpKind::kHostIssue) {
                costs.compute[program.index_of(op)].nominal_s =
                    std::max(0.0, host_issue_s(program, block, stack, layout) - device_s(program, block, costs));
            }
        }
    });
}

}  // namespace

double load_of(const schedule::Program& program, const schedule::Operation& op, const models::RoutingLoad& load) {
    const auto kernels = program.kernels_of(op);
    const bool routed = std::ranges::any_of(kernels, [](const models::Kernel& kernel) { return kernel.routed; });
    return routed ? load.heaviest_rank_of(op.layer) : 1;
}

ComputeTime compute_time(const schedule::Program& program, const schedule::Operation& op,
                         const models::Machine& machine, const models::Stack& stack, double heaviest_load) {
    ComputeTime time;
    time.nominal_s = op.host_s;
    const double usual = std::min(1.0, heaviest_load);  // the busiest may have less where rows are dropped
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        const models::KernelTime even = kernel_time(kernel, machine, stack, usual);
        time.nominal_s += even.rate_bound_s + even.overhead_s;
        time.rate_bound_s += even.rate_bound_s;
        if (kernel.routed && heaviest_load > 1) {
            const models::KernelTime heavy = kernel_time(kernel, machine, stack, heaviest_load);
            time.imbalance_s += std::max(0.0, heavy.rate_bound_s - even.rate_bound_s);
        }
    }
    return time;
}

OperationCosts cost_operations(const schedule::Program& program, const models::Machine& machine,
                               const models::Stack& stack, const models::Layout& layout, network::Network& network,
                               const CostOptions& options) {
    TransferCosts transfers(program, machine, stack, layout, network, options.load, options.grain,
                            options.link_factors);
    OperationCosts costs;
    costs.serial = transfers.is_serial();
    costs.compute.resize(program.operations.size());
    costs.transfer.assign(program.operations.size(), kNone);
    const auto visit_all = [&](auto&& visit) {
        for_each_block(program, [&](std::uint32_t block, int stage) {
            for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
                visit(op, program.index_of(op), stage);
            }
        });
    };
    // A network keeps no links of patterns that it meets as kWorld first, which meet nobody: others may be the same.
    for (const bool world : {false, true}) {
        visit_all([&](const schedule::Operation& op, std::size_t index, int stage) {
            if (op.comm != schedule::CommKind::kNone && op.comm != schedule::CommKind::kReceive &&
                is_world(op) == world) {
                costs.transfer[index] = transfers.index_of(op, stage);
            }
        });
    }
    // Operations that share their kernels take the same time, but for the host's part of it.
    std::map<std::tuple<std::uint32_t, std::uint32_t, double, double>, ComputeTime> known;
    visit_all([&](const schedule::Operation& op, std::size_t index, int) {
        if (op.comm == schedule::CommKind::kNone) {
            const double load = load_of(program, op, options.load);
            const auto [time, is_new] = known.try_emplace({op.kernel_begin, op.kernel_end, op.host_s, load});
            if (is_new) {
                time->second = compute_time(program, op, machine, stack, load);
            }
            costs.compute[index] = time->second;
        }
    });
    transfers.decide_sharing();
    costs.transfers = transfers.take_transfers();
    costs.shared_links = transfers.take_shared_links();
    cost_host_issue(program, stack, layout, costs);
    return costs;
}

schedule::OperationTimes time_by_operation(const schedule::Program& program, const OperationCosts& costs,
                                           const CostOptions& options) {
    schedule::OperationTimes times;
    times.seconds.assign(schedule::kOperationNames, 0);
    times.count.assign(schedule::kOperationNames, 0);
    const auto roles = static_cast<double>(program.roles.size());
    for_each_use(program, [&](const schedule::Operation& op, int stage, int uses) {
        const auto index = program.index_of(op);
        const std::size_t name = operation_name_index(op.kind, op.phase);
        const ComputeTime& compute = costs.compute[index];
        double seconds = compute.nominal_s + compute.imbalance_s +
                         compute.straggler_s(options.slowdown[static_cast<std::size_t>(stage)]);
        if (costs.transfer[index] != kNone) {
            seconds = to_seconds(costs.transfers[costs.transfer[index]].members.front().solo_time);
        }
        times.seconds[name] += seconds * uses / roles;
        times.count[name] += uses / roles;
    });
    return times;
}

}  // namespace auspex::engine
