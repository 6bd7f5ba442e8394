/// @file The host's time for a pass against the device's.
#include "sim/engine/host_issue.hpp"

#include <algorithm>

namespace auspex::engine {
namespace {

bool is_backward(schedule::Phase phase) {
    return phase == schedule::Phase::kBackwardInput || phase == schedule::Phase::kBackwardWeight;
}

bool carries_many_tensors(const schedule::Operation& op) {
    return op.stream == schedule::Stream::kDp && op.comm != schedule::CommKind::kAllReduce;
}

/// Sums of gradients run beside the passes, and messages wait for other stages.
bool belongs_to_pass(const schedule::Operation& op) {
    return op.stream == schedule::Stream::kTp || op.stream == schedule::Stream::kEp ||
           op.stream == schedule::Stream::kCp;
}

double kernels_issued(const schedule::Program& program, const schedule::Operation& op, const models::Stack& stack) {
    double count = 0;
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        const bool several = kernel.type == models::KernelType::kMemory && is_backward(op.phase);
        count += kernel.launches * kernel.repeat * (several ? stack.backward_launch_ratio : 1);
    }
    return count;
}

double device_s(const schedule::Program& program, const schedule::Block& block, const OperationCosts& costs) {
    double seconds = 0;
    for (const schedule::Operation& op : program.operations_of(block)) {
        const std::size_t index = program.index_of(op);
        if (op.comm == schedule::CommKind::kNone) {
            seconds += costs.compute[index].nominal_s;
        } else if (costs.transfer[index] != kNone && belongs_to_pass(op)) {
            seconds += to_seconds(costs.transfers[costs.transfer[index]].members.front().solo_time);
        }
    }
    return seconds;
}

}  // namespace

double host_issue_s(const schedule::Program& program, const schedule::Block& block, const models::Stack& stack,
                    const models::Layout& layout) {
    double seconds = 0;
    for (const schedule::Operation& op : program.operations_of(block)) {
        if (op.comm == schedule::CommKind::kNone) {
            seconds += kernels_issued(program, op, stack) * stack.issue_s;
            continue;
        }
        seconds += op.repeat * stack.collective_issue_s;
        const bool is_message = op.comm == schedule::CommKind::kSend || op.comm == schedule::CommKind::kReceive;
        if (layout.nodes > 1 && !is_message && !carries_many_tensors(op)) {
            seconds += op.repeat * stack.collective_check_s * group_size(layout, op.group);
        }
    }
    return seconds;
}

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

}  // namespace auspex::engine
