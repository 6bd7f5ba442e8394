/// @file The engine on programs whose makespan has a closed form, with communication that costs nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "../step_fixture.hpp"
#include "sim/engine/player_state.hpp"

namespace auspex::engine {
namespace {

using namespace testing_steps;

constexpr auto kBubble = static_cast<std::size_t>(schedule::Loss::kBubble);

/// Equal stages: 16 dense layers in pp x v parts. What only the first or last stage does (embedding, head, optimizer)
/// costs nothing.
struct Pipeline {
    models::Inputs inputs = shipped_inputs("mula-1b");
    models::Plan plan;
    models::Layout layout;
    schedule::Program program;

    Pipeline(models::ScheduleKind kind, int pp, int micro_batches, int virtual_stages = 1) {
        make_communication_free(inputs);
        models::Plan p = inputs.plan;
        p.schedule = kind;
        p.dp = 1;
        p.pp = pp;
        p.micro_batches = micro_batches;
        p.virtual_stages = virtual_stages;
        plan = resolve_plan(p, inputs.workload, 0);
        layout = make_layout(plan, inputs.machine, pp);
        program = schedule::build_program(inputs.workload, plan, inputs.stack, layout);
        for (schedule::Operation& op : program.operations) {
            if (op.layer < 0) {
                op.kernel_end = op.kernel_begin;
            }
        }
    }

    [[nodiscard]] PlayResult play_it() {
        network::Network network(inputs.machine, inputs.stack, layout);
        return play(costed(network), network, nullptr);
    }
    /// Kernel time of one pass of the kind through one chunk.
    [[nodiscard]] Picoseconds pass(schedule::BlockKind kind) {
        network::Network network(inputs.machine, inputs.stack, layout);
        const CostedProgram priced = costed(network);
        for (std::size_t b = 0; b < priced.blocks.size(); ++b) {
            if (priced.blocks[b].kind == kind) {
                Picoseconds sum = 0;
                for (std::uint32_t i = priced.blocks[b].task_begin; i < priced.blocks[b].task_end; ++i) {
                    sum += priced.tasks[i].type == Task::Type::kCompute ? priced.tasks[i].duration : 0;
                }
                return sum;
            }
        }
        return 0;
    }
    /// More than every event's rounding together: some picoseconds for every message, and the world operations, whose
    /// few bytes are still added up.
    [[nodiscard]] double rounding() {
        network::Network network(inputs.machine, inputs.stack, layout);
        const CostedProgram priced = costed(network);
        Picoseconds worlds = 0;
        for (const schedule::BlockUse& use : program.roles.front().order) {
            for (std::uint32_t i = priced.blocks[use.block].task_begin; i < priced.blocks[use.block].task_end; ++i) {
                const Task& task = priced.tasks[i];
                worlds +=
                    task.type == Task::Type::kWorld ? priced.transfers[task.transfer].members.front().solo_time : 0;
            }
        }
        return 4.0 * plan.pp * plan.virtual_stages * plan.micro_batches + static_cast<double>(worlds);
    }

 private:
    [[nodiscard]] CostedProgram costed(network::Network& network) const {
        CostOptions options;
        options.slowdown.assign(program.roles.size(), 1);
        return cost_program(program, inputs.machine, inputs.stack, layout,
                            cost_operations(program, inputs.machine, inputs.stack, layout, network, options), options);
    }
};

TEST(Engine, conversions_to_the_clock_round_once_and_stop_at_thirty_days) {
    EXPECT_EQ(to_picoseconds(1.4e-12), 1);
    EXPECT_EQ(to_picoseconds(1.5e-12), 2);
    EXPECT_EQ(to_picoseconds(-1.5e-12), -2);
    EXPECT_EQ(to_picoseconds_up(1.1e-12), 2);
    EXPECT_EQ(kLongestTime / 1'000'000'000'000, 30 * 86'400);
    EXPECT_LT(to_picoseconds(30 * 86'400 - 1), kLongestTime);
    for (const double seconds : {30.0 * 86'400, 1e300, HUGE_VAL, std::nan("")}) {
        EXPECT_EQ(to_picoseconds(seconds), kLongestTime) << seconds;
        EXPECT_EQ(to_picoseconds_up(seconds), kLongestTime) << seconds;
    }
    EXPECT_EQ(to_picoseconds(-1e300), -kLongestTime);
    EXPECT_EQ(sum_of_times(kLongestTime, kLongestTime), kLongestTime);
    EXPECT_EQ(sum_of_times(2, 3), 5);
}

TEST(Engine, what_is_lost_while_one_would_wait_anyway_delays_nobody) {
    // One comes at 10 and would have come at 4 without noise; the other comes at 9 in any case: 1 is due to noise.
    const DelayedTime late{10, {.noise = 6, .tile_noise = 6}}, steady{9, {}};
    EXPECT_EQ(later_of(late, steady).at, 10);
    EXPECT_EQ(later_of(late, steady).delay.noise, 1);
    EXPECT_EQ(later_of(steady, late).delay.tile_noise, 1);
    // Coming at 9 like the other, it delays nobody.
    const DelayedTime caught_up{9, {.noise = 5, .tile_noise = 5}};
    EXPECT_EQ(later_of(caught_up, steady).delay.noise, 0);
    // Causes one behind the other: 10 without noise 8, with even routing 7, with quick links 3; the other 6 in any
    // case.
    const DelayedTime all{10, {.noise = 2, .imbalance = 1, .slow_links = 4}}, other{6, {}};
    EXPECT_EQ(later_of(all, other).delay.noise, 2);
    EXPECT_EQ(later_of(all, other).delay.imbalance, 1);
    EXPECT_EQ(later_of(all, other).delay.slow_links, 1);
}

TEST(Engine, one_f_one_b_of_equal_stages_takes_m_plus_p_minus_1_times_f_plus_b) {
    for (const int p : {1, 2, 4, 8}) {
        for (const int m : {1, 2, 4, 8, 20}) {
            Pipeline pipeline(models::ScheduleKind::k1f1b, p, m);
            const Picoseconds both =
                pipeline.pass(schedule::BlockKind::kForward) + pipeline.pass(schedule::BlockKind::kBackward);
            const PlayResult result = pipeline.play_it();
            EXPECT_NEAR(static_cast<double>(result.step), static_cast<double>((m + p - 1) * both), pipeline.rounding())
                << p << " " << m;
            for (const schedule::LossTimes& losses :
                 result.losses) {  // every stage idles (p - 1)(f + b): a share of (p - 1) / (m + p - 1)
                EXPECT_NEAR(static_cast<double>(losses[kBubble]), static_cast<double>((p - 1) * both),
                            pipeline.rounding())
                    << p << " " << m;
            }
        }
    }
}

TEST(Engine, gpipe_of_equal_stages_takes_as_long_as_1f1b) {
    Pipeline gpipe(models::ScheduleKind::kGpipe, 4, 6), alternating(models::ScheduleKind::k1f1b, 4, 6);
    EXPECT_NEAR(static_cast<double>(gpipe.play_it().step), static_cast<double>(alternating.play_it().step),
                gpipe.rounding());
}

TEST(Engine, interleaving_divides_the_bubble_by_the_virtual_stages) {
    // m (f + b) + (p - 1)(f + b) / v, where f + b is of all chunks of a stage.
    for (const int p : {2, 4}) {
        for (const int v : {2, 4}) {
            Pipeline pipeline(models::ScheduleKind::kInterleaved1f1b, p, 2 * p, v);
            const Picoseconds chunk =
                pipeline.pass(schedule::BlockKind::kForward) + pipeline.pass(schedule::BlockKind::kBackward);
            const PlayResult result = pipeline.play_it();
            EXPECT_NEAR(static_cast<double>(result.step), static_cast<double>((2 * p * v + p - 1) * chunk),
                        pipeline.rounding())
                << p << " " << v;
            for (const schedule::LossTimes& losses : result.losses) {
                EXPECT_NEAR(static_cast<double>(losses[kBubble]), static_cast<double>((p - 1) * chunk),
                            pipeline.rounding())
                    << p << " " << v;
            }
        }
    }
}

TEST(Engine, halving_the_micro_batches_raises_the_bubbles_share_from_p_minus_1_over_m_plus_p_minus_1) {
    // p = 4: 3 / (m + 3) of m = 16, 8 and 4.
    const auto share = [](int m) {
        const PlayResult result = Pipeline(models::ScheduleKind::k1f1b, 4, m).play_it();
        return static_cast<double>(result.losses[0][kBubble]) / static_cast<double>(result.step);
    };
    EXPECT_NEAR(share(16), 3.0 / 19, 1e-9);
    EXPECT_NEAR(share(8), 3.0 / 11, 1e-9);
    EXPECT_NEAR(share(4), 3.0 / 7, 1e-9);
}

TEST(Engine, a_stage_twice_as_slow_sets_the_pace) {
    // Two stages, the second twice as slow: it is busy from f1 on until its last backward; then stage 0 has one b1 to
    // do.
    Pipeline pipeline(models::ScheduleKind::k1f1b, 2, 8);
    const Picoseconds f = pipeline.pass(schedule::BlockKind::kForward),
                      b = pipeline.pass(schedule::BlockKind::kBackward);
    for (schedule::Operation& op : pipeline.program.operations) {
        if (op.layer >= 8) {
            const auto begin = static_cast<std::uint32_t>(pipeline.program.kernels.size());
            for (std::uint32_t k = op.kernel_begin; k < op.kernel_end; ++k) {  // other layers share them
                models::Kernel twice = pipeline.program.kernels[k];
                twice.repeat *= 2;
                pipeline.program.kernels.push_back(twice);
            }
            op.kernel_begin = begin;
            op.kernel_end = static_cast<std::uint32_t>(pipeline.program.kernels.size());
        }
    }
    const PlayResult result = pipeline.play_it();
    EXPECT_NEAR(static_cast<double>(result.step), static_cast<double>(f + 8 * 2 * (f + b) + b),
                10 * pipeline.rounding());
}

}  // namespace
}  // namespace auspex::engine
