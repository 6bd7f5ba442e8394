/// @file A slow tile or link of an unfolded step: what it costs, and on whom and what it is blamed.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;

TEST(Unfolded, a_slow_tile_stretches_the_rate_bound_part_of_a_data_parallel_step) {
    // One stage, sums after the last micro-batch: all wait for the slow tile, whose kernels take 1 / 0.8 of their time
    // and whose launches take as long as ever.
    const models::Inputs inputs = quiet_inputs("mula-1b");
    const SimulatedStep even = folded(inputs, 96);
    double rate_bound_s = 0;
    for (const schedule::BlockUse& use : even.program.roles.front().order) {
        for (const schedule::Operation& op : even.program.operations_of(even.program.blocks[use.block])) {
            for (const models::Kernel& kernel : even.program.kernels_of(op)) {
                rate_bound_s += kernel_time(kernel, inputs.machine, inputs.stack).rate_bound_s;
            }
        }
    }
    const UnfoldedSteps slow = play_unfolded(inputs, even, {.slow = {"tile 17=0.8"}});
    EXPECT_NEAR(to_seconds(slow.samples.front().step - even.step), rate_bound_s * (1 / 0.8 - 1), 1e-6);
    // The other 95 wait for it, and the page says so.
    ASSERT_EQ(slow.samples.front().slowest.size(), 1U);
    EXPECT_EQ(slow.samples.front().slowest.front().rank, 17);
    EXPECT_EQ(slow.samples.front().slowest.front().node, 1);
    EXPECT_DOUBLE_EQ(slow.samples.front().slowest.front().speed, 0.8);
    EXPECT_DOUBLE_EQ(slow.samples.front().slowest.front().share, 1);
    EXPECT_NEAR(slow.samples.front().slowest.front().waited_s, rate_bound_s * (1 / 0.8 - 1) * 95 / 96, 1e-6);
    const auto jitter = static_cast<std::size_t>(schedule::Loss::kJitter);
    EXPECT_NEAR(to_seconds(slow.samples.front().losses[jitter]), rate_bound_s * (1 / 0.8 - 1), 1e-6);
}

TEST(Unfolded, a_slow_link_slows_a_step_that_needs_it_by_its_traffic_and_the_sums_show_it) {
    const models::Inputs inputs = quiet_inputs("mula-1b");
    const SimulatedStep even = folded(inputs, 192);
    const UnfoldedSample slow = play_unfolded(inputs, even, {.slow = {"node 3 NIC 2=0.05"}}).samples.front();
    EXPECT_GT(slow.step, even.step);
    const auto dp = static_cast<std::size_t>(schedule::Loss::kExposedDp);
    const Picoseconds communication = even.losses[dp] + even.losses[static_cast<std::size_t>(schedule::Loss::kWaiting)];
    EXPECT_LE(slow.step - even.step, 19 * communication);  // nothing takes more than 20 times as long
    EXPECT_NEAR(static_cast<double>(slow.losses[dp] - even.losses[dp]), static_cast<double>(slow.step - even.step),
                0.01 * static_cast<double>(slow.step - even.step));
}

/// With and without it in the same draw: of a quiet machine, what its kernels take longer.
TEST(Unfolded, what_a_slow_part_adds_is_the_step_less_that_of_the_same_draw_without_it) {
    const models::Inputs inputs = quiet_inputs("mula-1b");
    const SimulatedStep even = folded(inputs, 96);
    const auto step_of = [&](std::vector<std::string> slow) {
        return play_unfolded(inputs, even, {.slow = std::move(slow)}).samples.front().step;
    };
    const UnfoldedSteps one = play_unfolded(inputs, even, {.slow = {"tile 17=0.8"}});
    EXPECT_EQ(one.slow.front().added_s, to_seconds(one.samples.front().step - even.step));
    EXPECT_GT(one.slow.front().added_s, 0);
    // Nobody waits for the faster of two slow tiles: without it the step is the same; without the other it is its own.
    const UnfoldedSteps two = play_unfolded(inputs, even, {.slow = {"tile 17=0.8", "tile 5=0.5"}});
    EXPECT_EQ(two.slow[0].added_s, 0);
    EXPECT_EQ(two.slow[1].added_s, to_seconds(step_of({"tile 5=0.5"}) - step_of({"tile 17=0.8"})));
}

TEST(Unfolded, what_a_slow_part_adds_is_of_the_median_sample_of_noisy_tiles) {
    models::Inputs inputs = shipped_inputs("mula-1b");
    inputs.plan.dp = 0;
    const SimulatedStep even = folded(inputs, 96);
    const UnfoldedSteps slow =
        play_unfolded(inputs, even, {.seed = 7, .samples = 3, .slow = {"tile 17=0.5", "NIC 2=0.5"}});
    for (const std::size_t i : {0U, 1U}) {
        const std::vector<std::string> other{i == 0 ? "NIC 2=0.5" : "tile 17=0.5"};
        const UnfoldedSteps without = play_unfolded(inputs, even, {.seed = 7, .samples = 3, .slow = other});
        EXPECT_EQ(slow.slow[i].added_s, to_seconds(slow.samples[slow.median].step - without.samples[slow.median].step));
    }
    EXPECT_GT(slow.slow[0].added_s, 0);
}

double loss_s(const UnfoldedSample& sample, schedule::Loss loss) {
    return to_seconds(sample.losses[static_cast<std::size_t>(loss)]);
}

TEST(Unfolded, losses_change_no_faster_than_the_compute_of_the_tile_that_slows_down) {
    // One tile of stage 1, in one of two replicas. Its kernels take t / S, where t is less than what all stages compute
    // in the mean and a tenth; wherever it overtakes others, no loss may change by more than twice that.
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 0;
    const SimulatedStep even = folded(inputs, 192);
    const double compute_s = 1.1 * to_seconds(even.losses[static_cast<std::size_t>(schedule::Loss::kUsefulCompute)] +
                                              even.losses[static_cast<std::size_t>(schedule::Loss::kRecompute)]);
    const auto at = [&](double factor) {
        return play_unfolded(inputs, even, {.slow = {"tile 17=" + std::to_string(factor)}}).samples.front();
    };
    UnfoldedSample before = at(1);
    for (int percent = 98; percent >= 40; percent -= 2) {
        const UnfoldedSample now = at(percent / 100.0);
        const double added_s = compute_s * (100.0 / percent - 100.0 / (percent + 2));
        for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
            EXPECT_LE(std::abs(to_seconds(now.losses[loss] - before.losses[loss])), 2 * added_s)
                << percent << " " << to_string(static_cast<schedule::Loss>(loss));
        }
        before = now;
    }
}

TEST(Unfolded, what_a_slow_tile_adds_to_a_pipeline_is_jitter_and_not_the_bubble_that_was_there_before) {
    // The last stage sets the pace: everybody waits longer, by what the step has grown, and the bubble stays.
    const models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    const SimulatedStep even = folded(inputs, 192);
    const UnfoldedSample slow = play_unfolded(inputs, even, {.slow = {"tile 84=0.5"}}).samples.front();
    const double added_s = to_seconds(slow.step - even.step);
    EXPECT_GT(added_s, 0.2 * to_seconds(even.step));
    EXPECT_NEAR(loss_s(slow, schedule::Loss::kJitter), added_s, 0.02 * added_s);
    EXPECT_NEAR(loss_s(slow, schedule::Loss::kBubble),
                to_seconds(even.losses[static_cast<std::size_t>(schedule::Loss::kBubble)]), 0.02 * added_s);
    ASSERT_FALSE(slow.slowest.empty());
    EXPECT_EQ(slow.slowest.front().rank, 84);
    EXPECT_EQ(slow.slowest.front().stage, 7);
}

TEST(Unfolded, what_a_slow_link_adds_to_a_pipeline_is_communication_for_those_too_who_wait_for_others) {
    // One NIC of node 3 serves some tiles of one stage; all others wait for their sums.
    const models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    const SimulatedStep even = folded(inputs, 192);
    const UnfoldedSample slow = play_unfolded(inputs, even, {.slow = {"node 3 NIC 2=0.1"}}).samples.front();
    const double added_s = to_seconds(slow.step - even.step);
    const auto exposed_s = [](const schedule::LossTimes& losses) {
        Picoseconds sum = 0;
        for (const schedule::Loss loss : {schedule::Loss::kExposedTp, schedule::Loss::kExposedEp,
                                          schedule::Loss::kExposedDp, schedule::Loss::kExposedPp}) {
            sum += losses[static_cast<std::size_t>(loss)];
        }
        return to_seconds(sum);
    };
    EXPECT_GT(added_s, 0.1 * to_seconds(even.step));
    EXPECT_NEAR(exposed_s(slow.losses) - exposed_s(even.losses), added_s, 0.02 * added_s);
    // The page names the link.
    ASSERT_FALSE(slow.slowest_links.empty());
    EXPECT_EQ(slow.slowest_links.front().name.rfind("node 3: NIC", 0), 0U) << slow.slowest_links.front().name;
    EXPECT_EQ(slow.slowest_links.front().factor, 0.1);
    double by_links_s = 0;
    for (const engine::SlowLink& link : slow.slowest_links) {
        by_links_s += link.added_s;
    }
    EXPECT_NEAR(by_links_s, added_s, 0.1 * added_s);
}

TEST(Unfolded, nothing_is_blamed_on_links_that_nobody_has_slowed) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 0;
    EXPECT_TRUE(unfolded(inputs, 192).samples.front().slowest_links.empty());
}

TEST(Unfolded, a_link_at_full_capacity_by_request_changes_nothing) {
    const models::Inputs inputs = quiet_inputs("mula-20b-a2b");
    EXPECT_EQ(unfolded(inputs, 192, {.slow = {"node 3 NIC 2=1", "tile 5=1"}}).samples.front().step,
              folded(inputs, 192).step);
}

/// What refuses to simulate; empty if nothing does.
template <class Play>
std::string refusal_of(Play&& play_it) {
    try {
        play_it();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Unfolded, steps_of_a_month_are_refused_by_both_lenses_wherever_they_come_from) {
    models::Inputs slow_tiles = quiet_inputs("mula-220b-a10b");
    slow_tiles.machine.tile.gemm_bf16_flop_per_s = 1e6;
    EXPECT_NE(refusal_of([&] { static_cast<void>(folded(slow_tiles, 96)); }).find("30 days"), std::string::npos);
    const models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    models::Inputs slow_links = inputs;
    slow_links.machine.node.nic_bytes_per_s = 1e5;  // each transfer takes hours; on slow links, months
    const SimulatedStep long_step = folded(slow_links, 192);
    EXPECT_LT(long_step.step, kLongestTime);
    EXPECT_NE(refusal_of([&] {
                  static_cast<void>(play_unfolded(slow_links, long_step, {.slow = {"NIC=0.001"}}));
              }).find("30 days"),
              std::string::npos);
    EXPECT_EQ(refusal_of([&] { static_cast<void>(unfolded(inputs, 96, {.slow = {"tile 1=0.001"}})); }), "");
}

}  // namespace
}  // namespace auspex::predict
