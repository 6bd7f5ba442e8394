/// @file Passes that take the host longer than the device.
#include "sim/engine/host_issue.hpp"

#include <gtest/gtest.h>

#include "../step_fixture.hpp"

namespace auspex::engine {
namespace {

using namespace testing_steps;

/// A dense model on two nodes, tensor parallelism inside a node; nothing but kernels takes time on the device.
models::Inputs two_nodes(double issue_s, double collective_s, double check_s) {
    models::Inputs inputs = shipped_inputs("mula-1b");
    make_communication_free(inputs);
    inputs.plan.dp = 6;
    inputs.plan.tp = inputs.plan.etp = 4;
    inputs.plan.etp_given = false;
    inputs.plan.pp = 1;
    inputs.plan.micro_batches = 3;
    inputs.plan.overlap_tp = inputs.plan.overlap_dp = false;
    inputs.stack.issue_s = issue_s;
    inputs.stack.collective_issue_s = collective_s;
    inputs.stack.collective_check_s = check_s;
    return inputs;
}

struct Issued {
    double kernels = 0, collectives = 0, ranks = 0, host_s = 0;
};

Issued issued_by(const predict::SimulatedStep& step, const models::Inputs& inputs, schedule::BlockKind kind) {
    Issued sum;
    for (const schedule::Block& block : step.program.blocks) {
        if (block.kind != kind) {
            continue;
        }
        for (const schedule::Operation& op : step.program.operations_of(block)) {
            const bool backward =
                op.phase == schedule::Phase::kBackwardInput || op.phase == schedule::Phase::kBackwardWeight;
            for (const models::Kernel& kernel : step.program.kernels_of(op)) {
                const bool several = backward && kernel.type == models::KernelType::kMemory;
                sum.kernels += kernel.launches * kernel.repeat * (several ? inputs.stack.backward_launch_ratio : 1.0);
            }
            const bool is_sum = op.comm == schedule::CommKind::kAllReduce || op.stream == schedule::Stream::kTp;
            sum.collectives += op.comm == schedule::CommKind::kNone ? 0 : op.repeat;
            sum.ranks +=
                op.comm != schedule::CommKind::kNone && is_sum ? op.repeat * group_size(step.layout, op.group) : 0;
        }
        sum.host_s = host_issue_s(step.program, block, inputs.stack, step.layout);
        return sum;
    }
    return sum;
}

TEST(HostIssue, counts_kernels_collectives_and_the_ranks_of_their_groups) {
    for (const auto kind : {schedule::BlockKind::kForward, schedule::BlockKind::kBackward}) {
        const models::Inputs inputs = two_nodes(3e-6, 5e-5, 7e-4);
        const predict::SimulatedStep step = prepare_step(inputs, plain_options(24));
        const Issued issued = issued_by(step, inputs, kind);
        EXPECT_GT(issued.kernels, 100);
        EXPECT_GT(issued.collectives, 16);
        EXPECT_EQ(issued.ranks, 4 * issued.collectives);
        EXPECT_NEAR(issued.host_s, issued.kernels * 3e-6 + issued.collectives * 5e-5 + issued.ranks * 7e-4, 1e-12);
    }
}

TEST(HostIssue, of_a_job_of_one_node_checks_nothing) {
    models::Inputs inputs = two_nodes(0, 0, 1);
    inputs.plan.dp = 3;
    const predict::SimulatedStep step = prepare_step(inputs, plain_options(12));
    EXPECT_EQ(issued_by(step, inputs, schedule::BlockKind::kForward).host_s, 0);
}

// Biases that are added expert by expert are operations of the framework, with a time of their own: of E experts on the
// rank 2 E + 2 kernels of a layer forward, 6 E + 2 backward.
TEST(HostIssue, plain_operations_have_a_time_of_their_own) {
    models::Inputs inputs = shipped_inputs("gpt-oss-120b");
    inputs.stack.biases_by_expert = true;
    inputs.stack.issue_s = inputs.stack.collective_issue_s = inputs.stack.collective_check_s = 0;
    inputs.stack.plain_issue_s = 1;
    inputs.stack.backward_launch_ratio = 2;
    inputs.plan.expert_kernels = models::ExpertKernels::kGrouped;
    const predict::SimulatedStep step = prepare_step(inputs, plain_options(64));
    const double layers = 1.0 * inputs.workload.layers / inputs.plan.pp;
    const double experts = 1.0 * inputs.workload.num_experts / inputs.plan.ep;
    for (const schedule::Block& block : step.program.blocks) {
        const double each = block.kind == schedule::BlockKind::kForward    ? 2 * experts + 2
                            : block.kind == schedule::BlockKind::kBackward ? 6 * experts + 2
                                                                           : 0;
        EXPECT_NEAR(host_issue_s(step.program, block, inputs.stack, step.layout), layers * each, 1e-9);
    }
    // A step waits for them, though nothing else takes the host any time.
    models::Inputs free = inputs;
    free.stack.plain_issue_s = 0;
    EXPECT_GT(step_s(inputs, 64), step_s(free, 64) + 0.9 * inputs.plan.micro_batches * layers * (8 * experts + 4));
}

TEST(HostIssue, a_pass_takes_the_longer_of_host_and_device) {
    // No stage waits for another: step(issue) - step(0) = m (max(0, H_f - D_f) + max(0, H_b - D_b)). With H far above D
    // two rates of issue differ by m (H_f + H_b) times their difference.
    const double none = step_s(two_nodes(0, 0, 0), 24), little = step_s(two_nodes(1e-12, 0, 0), 24);
    EXPECT_NEAR(little, none, 1e-9);
    const models::Inputs slow = two_nodes(1, 0, 0);
    const predict::SimulatedStep step = prepare_step(slow, plain_options(24));
    const double kernels = issued_by(step, slow, schedule::BlockKind::kForward).kernels +
                           issued_by(step, slow, schedule::BlockKind::kBackward).kernels;
    EXPECT_NEAR(step_s(two_nodes(1, 0, 0), 24) - step_s(two_nodes(0.5, 0, 0), 24), 3 * kernels * 0.5, 1e-6);
    // All that is added is the host's: the loss of that name, and of the others none.
    const predict::SimulatedStep played = simulate_step(slow, plain_options(24), false);
    const auto host_bound = static_cast<std::size_t>(schedule::Loss::kHostBound);
    EXPECT_NEAR(to_seconds(played.losses[host_bound]), to_seconds(played.step) - none, 1e-9);
    double last = none;
    for (const double issue_s : {1e-6, 1e-5, 1e-4, 1e-3}) {
        const double now = step_s(two_nodes(issue_s, 0, 0), 24);
        EXPECT_GE(now, last);
        last = now;
    }
}

/// Uneven experts take a pass nothing longer while the device waits for its host: its kernels are hidden, the busiest
/// rank's, too. Without the host they do.
TEST(HostIssue, uneven_experts_are_hidden_behind_the_host) {
    models::Inputs inputs = shipped_inputs("mula-7b-a1b");
    make_communication_free(inputs);
    inputs.plan.ep = 8;
    inputs.plan.dp = 6;
    inputs.stack.issue_s = 1;
    models::Inputs uneven = inputs;
    uneven.plan.routing = {models::RoutingDistribution::kZipf, 1, {}, {}, {}, {}};
    EXPECT_NEAR(step_s(uneven, 48), step_s(inputs, 48), 1e-6);
    inputs.stack.issue_s = uneven.stack.issue_s = 0;
    EXPECT_GT(step_s(uneven, 48), 1.05 * step_s(inputs, 48));
}

TEST(HostIssue, stacks_without_it_have_no_such_operation) {
    const predict::SimulatedStep step = prepare_step(two_nodes(0, 0, 0), plain_options(24));
    for (const schedule::Operation& op : step.program.operations) {
        EXPECT_NE(op.kind, schedule::OpKind::kHostIssue);
    }
}

}  // namespace
}  // namespace auspex::engine
