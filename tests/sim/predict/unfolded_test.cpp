/// @file The unfolded lens against the folded one, against closed forms, and against itself.
#include "sim/predict/unfolded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "../step_fixture.hpp"
#include "sim/engine/player.hpp"
#include "sim/network/sharing/link_sharing.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::predict {
namespace {

using namespace testing_steps;

/// Equal tiles, no noise, no other jobs.
void make_quiet(models::Inputs& inputs) {
    inputs.machine.noise = {};
    inputs.machine.tile.speed_sigma = 0;
    inputs.machine.fabric.background_load = 0;
}

void make_fat_tree(models::Inputs& inputs) {
    models::FabricRecipe& fabric = inputs.machine.fabric;
    fabric.kind = models::FabricKind::kFatTree;
    fabric.levels = 2;
    fabric.nodes_per_leaf = 16;
    fabric.taper = 1;
}

models::Inputs quiet_inputs(const std::string& name, const std::string& stack = "optimus") {
    models::Inputs inputs = shipped_inputs(name, name, stack);
    make_quiet(inputs);
    inputs.plan.dp = 0;
    return inputs;
}

SimulatedStep folded(const models::Inputs& inputs, int tiles) {
    return simulate_step(inputs, plain_options(tiles), false);
}

UnfoldedSteps unfolded(const models::Inputs& inputs, int tiles, const UnfoldedOptions& options = {}) {
    return play_unfolded(inputs, folded(inputs, tiles), options);
}

double mean_step_s(const UnfoldedSteps& steps) {
    double sum_s = 0;
    for (const UnfoldedSample& sample : steps.samples) {
        sum_s += to_seconds(sample.step);
    }
    return sum_s / static_cast<double>(steps.samples.size());
}

void expect_equal_to_the_bit(const models::Inputs& inputs, int tiles, const std::string& name) {
    const SimulatedStep as_folded = folded(inputs, tiles);
    const UnfoldedSteps steps = play_unfolded(inputs, as_folded, {});
    const UnfoldedSample& by_rank = steps.samples.front();
    EXPECT_EQ(by_rank.step, as_folded.step) << name;
    EXPECT_EQ(by_rank.forward_backward, as_folded.forward_backward) << name;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        EXPECT_EQ(by_rank.losses[loss], as_folded.losses[loss])
            << name << " " << to_string(static_cast<schedule::Loss>(loss));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_for_mixture_of_experts_with_groups_of_whole_nodes) {
    for (const int tiles : {96, 384, 3072}) {
        expect_equal_to_the_bit(quiet_inputs("mula-220b-a10b"), tiles, "mula-220b " + std::to_string(tiles));
    }
    for (const char* plan : {"mula-20b-a2b", "mula-100b-a7b", "mula-7b-a1b"}) {
        expect_equal_to_the_bit(quiet_inputs(plan), 768, plan);
    }
}

TEST(Unfolded, equals_folded_to_the_bit_with_all_to_all_dispatch) {
    models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    inputs.plan.dispatch = models::Dispatch::kAllToAll;
    expect_equal_to_the_bit(inputs, 384, "one node");
    inputs.plan.ep = 24;
    expect_equal_to_the_bit(inputs, 384, "two nodes");
}

TEST(Unfolded, equals_folded_to_the_bit_for_dense_models_of_one_and_several_stages) {
    expect_equal_to_the_bit(quiet_inputs("mula-1b"), 768, "mula-1b");
    models::Inputs inputs = quiet_inputs("mula-1b");
    for (const int pp : {2, 4, 6, 12}) {  // stages that lie alike on nodes of 12 tiles
        inputs.plan.pp = pp;
        inputs.plan.micro_batches = 2 * pp;
        expect_equal_to_the_bit(inputs, 48 * pp, "pp " + std::to_string(pp));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_with_tensor_parallel_groups_of_whole_nodes) {
    models::Inputs inputs = quiet_inputs("agpt-70b");
    for (const int tiles : {96, 384}) {
        expect_equal_to_the_bit(inputs, tiles, "agpt-70b " + std::to_string(tiles));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_for_every_optimizer) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware, models::OptimizerSharding::kFsdp}) {
        models::Inputs inputs = quiet_inputs("mula-20b-a2b");
        inputs.plan.optimizer = optimizer;
        expect_equal_to_the_bit(inputs, 384, to_string(optimizer));
    }
}

TEST(Unfolded, equals_folded_to_the_bit_when_the_sums_overlap_compute) {
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded}) {
        models::Inputs inputs = quiet_inputs("mula-1b", "megatron-deepspeed");
        inputs.plan.optimizer = optimizer;
        inputs.plan.overlap_dp = true;
        expect_equal_to_the_bit(inputs, 384, to_string(optimizer));
    }
    models::Inputs stages = quiet_inputs("mula-220b-a10b", "megatron-deepspeed");
    stages.machine.node.nics = stages.machine.node.tiles;  // else some tiles of a node share a NIC, and others do not
    stages.plan.overlap_dp = true;
    stages.plan.optimizer = models::OptimizerSharding::kSharded;
    expect_equal_to_the_bit(stages, 384, "mula-220b");
}

TEST(Unfolded, equals_folded_to_the_bit_on_a_fat_tree) {
    for (const char* plan : {"mula-220b-a10b", "mula-20b-a2b", "mula-1b"}) {
        models::Inputs inputs = quiet_inputs(plan);
        make_fat_tree(inputs);
        expect_equal_to_the_bit(inputs, 1536, plan);
    }
}

TEST(Unfolded, blocking_and_asynchronous_messages_both_equal_folded_to_the_bit) {
    for (const bool blocking : {false, true}) {
        for (const models::ScheduleKind schedule : {models::ScheduleKind::k1f1b, models::ScheduleKind::kGpipe}) {
            models::Inputs inputs = quiet_inputs("mula-220b-a10b");
            inputs.stack.blocking_sends = blocking;
            inputs.plan.schedule = schedule;
            expect_equal_to_the_bit(inputs, 192, blocking ? "blocking" : "asynchronous");
        }
    }
}

TEST(Unfolded, losses_of_every_sample_sum_to_its_step_and_none_is_negative) {
    for (std::uint64_t seed = 7'000; seed < 7'040; ++seed) {
        const models::Inputs inputs = random_inputs(seed, seed % 2 == 0);
        for (const UnfoldedSample& sample : unfolded(inputs, 0, {.seed = seed, .samples = 2}).samples) {
            EXPECT_EQ(std::accumulate(sample.losses.begin(), sample.losses.end(), Picoseconds{0}), sample.step) << seed;
            for (const Picoseconds loss : sample.losses) {
                EXPECT_GE(loss, 0) << seed;
            }
            EXPECT_LE(sample.forward_backward, sample.step) << seed;
        }
    }
}

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

TEST(Unfolded, more_spread_of_tile_speeds_does_not_speed_a_step_up) {
    models::Inputs inputs = quiet_inputs("mula-220b-a10b");
    double before_s = to_seconds(folded(inputs, 384).step);
    for (const double sigma : {0.01, 0.02, 0.04}) {
        inputs.machine.tile.speed_sigma = sigma;
        const double now_s = mean_step_s(unfolded(inputs, 384, {.samples = 5}));
        EXPECT_GT(now_s, before_s) << sigma;
        before_s = now_s;
    }
}

TEST(Unfolded, interruptions_cost_a_lone_rank_their_rate_times_their_length) {
    // A busy second meets 50 interruptions of 2 ms in the mean: a tenth more. Over 100 samples the mean is within three
    // deviations of sqrt(2 / (100 x 50 x busy seconds)).
    models::Inputs inputs = quiet_inputs("mula-1b");
    inputs.plan.micro_batches = 1;
    const double even_s = to_seconds(folded(inputs, 1).step);
    inputs.machine.noise.os_events_per_s = 50;
    inputs.machine.noise.os_event_s = 2e-3;
    const double noisy_s = mean_step_s(unfolded(inputs, 1, {.samples = 100}));
    const double expected_s = even_s * 50 * 2e-3;
    EXPECT_NEAR(noisy_s - even_s, expected_s, 3 * expected_s * std::sqrt(2 / (100 * 50 * even_s)));
}

TEST(Unfolded, as_many_interruptions_as_a_machine_may_have_cost_their_rate_times_their_length) {
    // A million a second of half a microsecond each: half a second in a busy one. Over 4 samples the mean is within
    // three deviations of sqrt(2 / (4 x 1e6 x busy seconds)), and a millionth for what pieces leave over.
    models::Inputs inputs = quiet_inputs("mula-1b");
    inputs.plan.micro_batches = 1;
    const double even_s = to_seconds(folded(inputs, 1).step);
    inputs.machine.noise.os_events_per_s = 1e6;
    inputs.machine.noise.os_event_s = 0.5e-6;
    const double noisy_s = mean_step_s(unfolded(inputs, 1, {.samples = 4}));
    const double expected_s = even_s * 0.5;
    EXPECT_NEAR(noisy_s - even_s, expected_s, expected_s * (3 * std::sqrt(2 / (4e6 * even_s)) + 1e-6));
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

TEST(Unfolded, uneven_routing_makes_the_others_wait_for_the_busiest_rank) {
    models::Inputs inputs = quiet_inputs("mula-20b-a2b");
    inputs.plan.routing.kind = models::RoutingDistribution::kZipf;
    inputs.plan.routing.parameter = 1;
    const SimulatedStep as_folded = folded(inputs, 96);
    const UnfoldedSample by_rank = play_unfolded(inputs, as_folded, {}).samples.front();
    const auto imbalance = static_cast<std::size_t>(schedule::Loss::kImbalance);
    EXPECT_GT(by_rank.losses[imbalance], 0);
    // The busiest place sets the pace of every layer, as it does folded.
    EXPECT_NEAR(to_seconds(by_rank.step), to_seconds(as_folded.step), 0.01 * to_seconds(as_folded.step));
}

TEST(Unfolded, the_same_seed_gives_the_same_samples_with_one_and_four_threads_and_another_seed_others) {
    models::Inputs small = shipped_inputs("mula-220b-a10b");
    small.plan.dp = 0;
    const auto steps_with = [&](int threads, std::uint64_t seed) {
        std::vector<Picoseconds> steps;
        for (const UnfoldedSample& sample :
             unfolded(small, 192, {.seed = seed, .samples = 6, .threads = threads}).samples) {
            steps.push_back(sample.step);
            steps.insert(steps.end(), sample.losses.begin(), sample.losses.end());
        }
        return steps;
    };
    const std::vector<Picoseconds> one = steps_with(1, 7);
    EXPECT_EQ(one, steps_with(4, 7));
    EXPECT_NE(one, steps_with(4, 8));
}

TEST(Unfolded, the_prediction_is_of_the_median_sample_and_percentiles_are_in_order) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    inputs.plan.dp = 0;
    PredictOptions options = plain_options(96);
    options.lens = Lens::kUnfolded;
    options.samples = 9;
    const Prediction p = predict(inputs, options).prediction;
    ASSERT_TRUE(p.unfolded.has_value());
    const UnfoldedReport& u = *p.unfolded;
    ASSERT_EQ(u.samples_s.size(), 9U);
    std::vector<double> sorted = u.samples_s;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(p.step_time_s, sorted[4]);
    EXPECT_EQ(u.p50_s, sorted[4]);
    EXPECT_EQ(u.min_s, sorted[0]);
    EXPECT_EQ(u.p5_s, sorted[0]);   // ceil(0.05 x 9) = 1st
    EXPECT_EQ(u.p25_s, sorted[2]);  // ceil(2.25) = 3rd
    EXPECT_EQ(u.p75_s, sorted[6]);
    EXPECT_EQ(u.p95_s, sorted[8]);
    EXPECT_EQ(u.max_s, sorted[8]);
    EXPECT_LT(u.min_s, u.max_s);
    EXPECT_EQ(std::accumulate(p.losses.begin(), p.losses.end(), Picoseconds{0}), p.step);
    EXPECT_DOUBLE_EQ(u.folded_error, u.folded_step_time_s / p.step_time_s - 1);
    EXPECT_EQ(u.folded_step_time_s, to_seconds(folded(inputs, 96).step));
    EXPECT_LT(p.step_time_interval_s[0], p.step_time_s);
    EXPECT_GT(p.step_time_interval_s[1], p.step_time_s);
}

/// The ranks' flows over the links of a network, as the lens shares them.
class DirectSharing {
 public:
    explicit DirectSharing(const network::Network& network)
        : network_(network), links_(capacities_of(network.fabric())) {
        for (network::PatternId pattern = 0; pattern < network.pattern_count(); ++pattern) {
            const network::PatternLoads& loads = network.loads(pattern);
            loads_.emplace_back(loads.begin(), loads.end());
        }
    }
    std::uint32_t start(network::PatternId pattern) {
        return links_.start({loads_[pattern], network_.solo_rate(pattern)});
    }
    void stop(std::uint32_t id) { links_.stop(id); }
    std::span<const std::uint32_t> update_rates() { return links_.update_rates(); }
    [[nodiscard]] double rate(std::uint32_t id) const { return links_.rate(id); }

 private:
    static std::vector<double> capacities_of(const network::Fabric& fabric) {
        std::vector<double> capacities;
        for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
            capacities.push_back(fabric.capacity_bytes_per_s(link));
        }
        return capacities;
    }

    const network::Network& network_;
    std::vector<std::vector<network::LinkLoad>> loads_;  ///< by pattern
    network::LinkSharing links_;
};

enum class Way {
    kAsCosted,
    kByEvents,       ///< no actor walks ahead
    kAllLinksShared  ///< nor has any communication its links to itself
};

engine::PlayResult play_by_rank(const models::Inputs& inputs, const SimulatedStep& step, Way way) {
    network::Network network(inputs.machine, inputs.stack, step.layout);
    engine::CostOptions options = step.cost_options;
    options.grain = engine::Grain::kRanks;
    engine::CostedProgram costed = cost_program(
        step.program, inputs.machine, inputs.stack, step.layout,
        cost_operations(step.program, inputs.machine, inputs.stack, step.layout, network, options), options);
    costed.serial = costed.serial && way == Way::kAsCosted;
    costed.runs_ahead = way == Way::kAsCosted;
    for (engine::CostedTransfer& transfer : costed.transfers) {
        for (engine::CostedTransfer::Member& member : transfer.members) {
            member.shares_links =
                member.shares_links || (way == Way::kAllLinksShared && member.phase_end > member.phase_begin);
        }
    }
    std::vector<int> ranks(static_cast<std::size_t>(step.layout.tiles));
    std::iota(ranks.begin(), ranks.end(), 0);
    engine::NoiseModel noise_model(inputs.machine.tile, inputs.machine.noise, 3, ranks, {});
    DirectSharing sharing(network);
    return engine::Player(costed, sharing, &noise_model, nullptr).run();
}

TEST(Unfolded, walking_ahead_of_the_events_and_links_to_oneself_change_nothing) {
    int with_messages = 0;
    for (std::uint64_t seed = 7'100; seed < 7'160; ++seed) {
        models::Inputs inputs = random_inputs(seed, seed % 2 == 0);
        inputs.machine.noise.network_jitter = 0;  // drawn in the order of starts
        const SimulatedStep step = folded(inputs, 0);
        const engine::PlayResult as_costed = play_by_rank(inputs, step, Way::kAsCosted);
        for (const Way way : {Way::kByEvents, Way::kAllLinksShared}) {
            const engine::PlayResult other = play_by_rank(inputs, step, way);
            EXPECT_EQ(as_costed.step, other.step) << seed;
            for (std::size_t a = 0; a < other.losses.size(); ++a) {
                EXPECT_EQ(as_costed.losses[a], other.losses[a]) << seed << " actor " << a;
            }
        }
        with_messages += inputs.plan.pp > 1 ? 1 : 0;
    }
    EXPECT_GT(with_messages, 20);
}

TEST(Unfolded, folding_of_compute_changes_nothing_by_rank_either) {
    models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    make_quiet(inputs);
    inputs.plan.dp = 0;
    SimulatedStep step = folded(inputs, 96);
    const Picoseconds stretches = play_unfolded(inputs, step, {}).samples.front().step;
    step.cost_options.merge_operations = false;
    EXPECT_EQ(play_unfolded(inputs, step, {}).samples.front().step, stretches);
}

}  // namespace
}  // namespace auspex::predict
