/// @file What a step on CPUs takes at least, against steps that are played.
#include "sim/cpu/least_step.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cpu_fixture.hpp"

namespace auspex::testing_cpu {
namespace {

constexpr double kRounded = 1 + 1e-5;  // kernels of 100 ns and more, in picoseconds

TEST(LeastStep, is_never_above_the_step_and_kernels_alone_never_above_it) {
    double least_s = 0, steps_s = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs =
            trainable_inputs(seed, plausible_machine(seed % 2 == 0 ? 2 : 4, std::vector{2, 4, 8, 16}[seed % 4]));
        const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
        const double played_s = to_seconds(cpu::play_on_cpus(inputs, step, false).step);
        const double actions_s = cpu::least_step_s(inputs, step), kernels_s = cpu::least_kernel_s(inputs, step);
        EXPECT_LE(actions_s, played_s * kRounded);
        EXPECT_LE(kernels_s, actions_s * kRounded);
        least_s += actions_s, steps_s += played_s;
    }
    EXPECT_GT(least_s, 0.5 * steps_s) << "bounds that say little";
}

TEST(LeastStep, of_one_rank_is_its_step) {
    // Nothing is shared, sent or missed.
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    inputs.plan.dp = 1;
    inputs.machine.cpu.cache_bytes = 1e30;
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    const double played_s = to_seconds(cpu::play_on_cpus(inputs, step, false).step);
    EXPECT_NEAR(cpu::least_step_s(inputs, step) / played_s, 1, 1e-5);
}

TEST(LeastStep, of_ranks_that_run_anywhere_is_their_sum_over_the_cores) {
    models::Inputs inputs = toy_inputs("toy-dp4", "toy-dense", plausible_machine());
    const predict::SimulatedStep step = prepare_step(inputs, testing_steps::plain_options());
    const double bound_s = cpu::least_step_s(inputs, step);
    inputs.stack.binds_ranks = false;
    // Four ranks alike on two cores: the sum over cores is the same.
    EXPECT_NEAR(cpu::least_step_s(inputs, step) / bound_s, 1, 1e-9);
    inputs.machine.cpu.cores = 4;
    EXPECT_NEAR(cpu::least_step_s(inputs, step) / bound_s, 0.5, 1e-9);
}

}  // namespace
}  // namespace auspex::testing_cpu
