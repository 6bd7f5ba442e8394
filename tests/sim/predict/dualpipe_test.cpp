/// @file Steps of plans whose stages are there twice.
#include <gtest/gtest.h>

#include "../../schedule/dualpipe_fixture.hpp"
#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;

void take_dualpipe(models::Inputs& inputs, int pp, int micro_batches) {
    inputs.plan.schedule = models::ScheduleKind::kDualPipe;
    inputs.plan.virtual_stages = 2;
    inputs.plan.pp = pp, inputs.plan.micro_batches = micro_batches;
}

// Losses and useful work add up to the step, whatever the plan.
TEST(DualPipeSteps, of_random_plans_are_played_and_accounted_for) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        models::Inputs inputs = shipped_inputs("toy-dp4", "toy-dense");
        testing_plans::Case c = testing_plans::dualpipe_case(seed);
        inputs.workload = c.workload, inputs.plan = c.plan, inputs.stack = c.stack;
        const SimulatedStep step = simulate_step(inputs, plain_options(), false);
        double sum = 0;
        for (const auto& loss : step.losses) {
            sum += static_cast<double>(loss);
        }
        EXPECT_NEAR(sum, static_cast<double>(step.step), 1e-6 * static_cast<double>(step.step)) << "seed " << seed;
    }
}

TEST(DualPipeSteps, by_rank_equal_the_folded_ones_to_the_bit) {
    for (const char* name : {"mula-1b", "mula-20b-a2b"}) {
        for (const int pp : {2, 4, 6}) {  // stages that lie alike on nodes of 12 tiles
            models::Inputs inputs = quiet_inputs(name);
            take_dualpipe(inputs, pp, 2 * pp);
            const SimulatedStep as_folded = folded(inputs, 48 * pp);
            const UnfoldedSteps steps = play_unfolded(inputs, as_folded, {});
            EXPECT_EQ(steps.samples.front().step, as_folded.step) << name << ", pp " << pp;
        }
    }
}

}  // namespace
}  // namespace auspex::predict
