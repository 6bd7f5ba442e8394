/// @file Kernels and collectives of a pass, counted.
#include "sim/engine/host_issue.hpp"

namespace auspex::engine {
namespace {

bool is_backward(schedule::Phase phase) {
    return phase == schedule::Phase::kBackwardInput || phase == schedule::Phase::kBackwardWeight;
}

bool carries_many_tensors(const schedule::Operation& op) {
    return op.stream == schedule::Stream::kDp && op.comm != schedule::CommKind::kAllReduce;
}

double kernels_issue_s(const schedule::Program& program, const schedule::Operation& op, const models::Stack& stack) {
    double seconds = 0;
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        const bool is_cast = kernel.operands != models::Operands::kBf16;
        const bool several = kernel.type == models::KernelType::kMemory && is_backward(op.phase) && !is_cast;
        const double experts = stack.issues_each_expert ? kernel.groups : 1;
        const double count = kernel.launches * kernel.repeat * experts * (several ? stack.backward_launch_ratio : 1);
        seconds += count * (kernel.plain ? stack.plain_issue_s : stack.issue_s);
    }
    return seconds;
}

}  // namespace

double host_issue_s(const schedule::Program& program, const schedule::Block& block, const models::Stack& stack,
                    const models::Layout& layout) {
    double seconds = 0;
    for (const schedule::Operation& op : program.operations_of(block)) {
        if (op.comm == schedule::CommKind::kNone) {
            seconds += kernels_issue_s(program, op, stack);
            continue;
        }
        if (is_host_copy(op.comm)) {
            seconds += stack.issue_s;
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

}  // namespace auspex::engine
