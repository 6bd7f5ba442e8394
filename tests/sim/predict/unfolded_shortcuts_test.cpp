/// @file What makes an unfolded step quick to play changes nothing: walking ahead, links to oneself, stretches.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/engine/player.hpp"
#include "sim/network/sharing/link_sharing.hpp"
#include "sim/predict/shared_links.hpp"
#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;
using testing_steps::random_inputs;

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

engine::CostedProgram cost_by_rank(const models::Inputs& inputs, const SimulatedStep& step, network::Network& network) {
    network.set_routing(step.load);
    engine::CostOptions options = step.cost_options;
    options.grain = engine::Grain::kRanks;
    return cost_program(step.played(), inputs.machine, inputs.stack, step.layout,
                        cost_operations(step.played(), inputs.machine, inputs.stack, step.layout, network, options),
                        options);
}

engine::PlayResult play_by_rank(const models::Inputs& inputs, const SimulatedStep& step, Way way) {
    network::Network network(inputs.machine, inputs.stack, step.layout);
    engine::CostedProgram costed = cost_by_rank(inputs, step, network);
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

TEST(Unfolded, links_on_which_nobody_can_slow_another_are_left_out_without_a_change) {
    for (std::uint64_t seed = 7'100; seed < 7'160; ++seed) {
        models::Inputs inputs = random_inputs(seed, seed % 2 == 0);
        make_quiet(inputs);
        const SimulatedStep step = folded(inputs, 0);
        EXPECT_EQ(play_unfolded(inputs, step, {}).samples.front().step,
                  play_by_rank(inputs, step, Way::kAllLinksShared).step)
            << seed;
    }
}

/// Of all communications of the program, groups that have their links to themselves, and others.
std::pair<int, int> alone_and_sharing(const engine::CostedProgram& costed) {
    std::pair<int, int> count{0, 0};
    for (const engine::CostedTransfer& transfer : costed.transfers) {
        for (const engine::CostedTransfer::Member& member : transfer.members) {
            ++(member.shares_links ? count.second : count.first);
        }
    }
    return count;
}

// The test before this one plays both, where gradient sums run beside compute: groups of experts on wires of their own
// do not meet them, the sums of several stages meet one another.
TEST(Unfolded, beside_overlapped_sums_some_groups_have_their_links_to_themselves) {
    int some_of_both = 0;
    for (std::uint64_t seed = 7'100; seed < 7'160; seed += 2) {
        const models::Inputs inputs = random_inputs(seed, true);
        const SimulatedStep step = folded(inputs, 0);
        network::Network network(inputs.machine, inputs.stack, step.layout);
        const engine::CostedProgram costed = cost_by_rank(inputs, step, network);
        const auto [alone, sharing] = alone_and_sharing(costed);
        some_of_both += !costed.serial && alone > 0 && sharing > 0 ? 1 : 0;
    }
    EXPECT_GT(some_of_both, 5);
}

/// Max-min fair rates with all patterns that share links active at once.
std::vector<double> rates_at_once(const std::vector<double>& capacities,
                                  const std::vector<std::vector<network::LinkLoad>>& loads) {
    return max_min_rates(capacities, std::vector<network::LoadList>(loads.begin(), loads.end()));
}

// One link stands for all that carry the same loads of the same patterns, with the least of their capacities, also
// where a link is slow: rates with everything active are those on all links.
TEST(Unfolded, links_that_carry_the_same_are_one_link_with_the_same_rates) {
    std::size_t all_links = 0, distinct = 0;
    for (std::uint64_t seed = 7'100; seed < 7'160; seed += 2) {
        const models::Inputs inputs = random_inputs(seed, true);
        const SimulatedStep step = folded(inputs, 0);
        network::Network network(inputs.machine, inputs.stack, step.layout);
        const engine::CostedProgram costed = cost_by_rank(inputs, step, network);
        const network::Fabric& fabric = network.fabric();
        std::vector<double> factors(fabric.link_count(), 1);
        for (std::size_t i = 0; i < costed.shared_links.size(); i += 3) {
            factors[costed.shared_links[i]] = 0.5;
        }
        const SharedLinks shared = find_shared_links(costed, network, factors);
        std::vector<double> capacities;
        for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
            capacities.push_back(fabric.capacity_bytes_per_s(link) * factors[link]);
        }
        std::vector<std::vector<network::LinkLoad>> loads(network.pattern_count());
        for (network::PatternId pattern = 0; pattern < network.pattern_count(); ++pattern) {
            for (const network::LinkLoad& on : network.loads(pattern)) {
                if (!shared.loads[pattern].empty() &&
                    std::binary_search(costed.shared_links.begin(), costed.shared_links.end(), on.link)) {
                    loads[pattern].push_back(on);
                }
            }
        }
        EXPECT_EQ(rates_at_once(shared.capacities, shared.loads), rates_at_once(capacities, loads)) << seed;
        all_links += costed.shared_links.size();
        distinct += shared.capacities.size();
    }
    EXPECT_LT(distinct, all_links);
}

// Where collectives slow compute beside them, too: what is left of a tick goes to the compute that follows.
TEST(Unfolded, merged_compute_beside_collectives_takes_the_same_time_to_the_picosecond) {
    int fewer_events = 0;
    for (std::uint64_t seed = 7'200; seed < 7'240; ++seed) {
        models::Inputs inputs = random_inputs(seed, true);
        make_quiet(inputs);
        SimulatedStep step = folded(inputs, 0);
        const UnfoldedSample merged = play_unfolded(inputs, step, {}).samples.front();
        step.cost_options.merge_operations = false;
        const UnfoldedSample single = play_unfolded(inputs, step, {}).samples.front();
        EXPECT_EQ(merged.step, single.step) << seed;
        EXPECT_EQ(merged.losses, single.losses) << seed;
        fewer_events += merged.events < single.events ? 1 : 0;
    }
    EXPECT_GT(fewer_events, 30);
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
