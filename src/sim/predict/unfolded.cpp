/// @file Samples of an unfolded step.
#include "sim/predict/unfolded.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/error.hpp"
#include "base/mix64.hpp"
#include "base/rng.hpp"
#include "sim/engine/noise_model.hpp"
#include "sim/engine/player.hpp"
#include "sim/engine/slow_parts.hpp"
#include "sim/network/sharing/link_sharing.hpp"
#include "sim/predict/shared_links.hpp"

namespace auspex::predict {
namespace {

/// What all samples share: nothing of it changes while they play.
struct SampleSetup {
    const models::Inputs& inputs;
    const models::Layout& layout;
    network::Network network;
    engine::SlowParts slow;
    engine::CostedProgram costed;
    SharedLinks links;
    std::vector<double> solo_rates;  ///< by pattern
    std::vector<int> ranks;          ///< of each actor
};

std::uint64_t seed_of(const UnfoldedOptions& options, std::size_t sample) {
    return Rng(options.seed + kGoldenGamma * sample).next();  // Rng scrambles neighbouring seeds
}

/// Rates by LinkSharing over all groups' patterns.
class RankSharing {
 public:
    explicit RankSharing(const SampleSetup& setup) : setup_(setup), links_(setup.links.capacities) {}
    std::uint32_t start(network::PatternId pattern) {
        return links_.start({setup_.links.loads[pattern], setup_.solo_rates[pattern]});
    }
    void stop(std::uint32_t id) { links_.stop(id); }
    std::span<const std::uint32_t> update_rates() { return links_.update_rates(); }
    [[nodiscard]] double rate(std::uint32_t id) const { return links_.rate(id); }

 private:
    const SampleSetup& setup_;
    network::LinkSharing links_;
};

SampleSetup sample_setup(const models::Inputs& inputs, const SimulatedStep& folded, const UnfoldedOptions& options,
                         const std::vector<std::string>& slow_parts) {
    SampleSetup setup{
        inputs, folded.layout, network::Network(inputs.machine, inputs.stack, folded.layout), {}, {}, {}, {}, {}};
    setup.network.list_all_links();
    setup.network.set_routing(folded.load);
    const network::Fabric& fabric = setup.network.fabric();
    setup.slow = engine::find_slow_parts(slow_parts, fabric, folded.layout);
    engine::CostOptions cost = folded.cost_options;
    cost.grain = engine::Grain::kRanks;
    cost.link_factors = setup.slow.link_factors;
    cost.merge_operations = cost.merge_operations && !options.record;
    setup.costed = cost_program(
        folded.played(), inputs.machine, inputs.stack, folded.layout,
        cost_operations(folded.played(), inputs.machine, inputs.stack, folded.layout, setup.network, cost), cost);
    setup.links = find_shared_links(setup.costed, setup.network, setup.slow.link_factors);
    for (network::PatternId pattern = 0; pattern < setup.network.pattern_count(); ++pattern) {
        setup.solo_rates.push_back(engine::slowed_solo_rate(setup.network, pattern, setup.slow.link_factors));
    }
    for (int s = 0; s < folded.layout.pp; ++s) {
        for (int n = 0; n < folded.layout.stage_ranks; ++n) {
            setup.ranks.push_back(folded.layout.rank(s, n));
        }
    }
    return setup;
}

constexpr std::size_t kMaxListed = 10;

std::vector<engine::SlowTile> slowest_tiles(const SampleSetup& setup, const engine::PlayResult& played,
                                            const engine::NoiseModel& noise_model) {
    std::vector<std::uint32_t> order(played.waited_for_s.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t shown = std::min(kMaxListed, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                          return played.waited_for_s[a] != played.waited_for_s[b]
                                     ? played.waited_for_s[a] > played.waited_for_s[b]
                                     : setup.ranks[a] < setup.ranks[b];
                      });
    const double all_s = std::accumulate(played.waited_for_s.begin(), played.waited_for_s.end(), 0.0);
    std::vector<engine::SlowTile> tiles;
    for (std::size_t i = 0; i < shown && played.waited_for_s[order[i]] > 0; ++i) {
        const std::uint32_t actor = order[i];
        const double waited_s = played.waited_for_s[actor];
        tiles.push_back({setup.ranks[actor], setup.ranks[actor] / setup.layout.tiles_per_node,
                         static_cast<int>(actor) / setup.layout.stage_ranks, noise_model.speed(actor),
                         waited_s / setup.layout.tiles, waited_s / all_s});
    }
    return tiles;
}

std::vector<engine::SlowLink> slowest_links(const SampleSetup& setup, const engine::PlayResult& played) {
    std::vector<engine::SlowLink> links;
    for (const auto& [link, added_s] : played.slow_link_s) {
        links.push_back(
            {setup.network.fabric().name(link), setup.slow.link_factors[link], added_s / setup.layout.tiles});
    }
    std::stable_sort(links.begin(), links.end(),
                     [](const engine::SlowLink& a, const engine::SlowLink& b) { return a.added_s > b.added_s; });
    links.resize(std::min(kMaxListed, links.size()));
    return links;
}

UnfoldedSample play_sample(const SampleSetup& setup, std::uint64_t seed, const engine::Recording* recording = nullptr) {
    engine::NoiseModel noise_model(setup.inputs.machine.tile, setup.inputs.machine.noise, seed, setup.ranks,
                                   setup.slow.rank_factors);
    RankSharing sharing(setup);
    const engine::PlayResult played = engine::Player(setup.costed, sharing, &noise_model, recording).run();
    UnfoldedSample sample;
    sample.step = played.step;
    sample.forward_backward = played.forward_backward;
    sample.losses = schedule::mean_losses(played.losses, played.step);
    sample.events = played.events;
    sample.slowest = slowest_tiles(setup, played, noise_model);
    sample.slowest_links = slowest_links(setup, played);
    return sample;
}

/// Nothing is drawn: all samples are the same.
bool is_deterministic(const models::Machine& machine) {
    const models::Noise& noise = machine.noise;
    return machine.tile.speed_sigma == 0 && noise.network_jitter == 0 &&
           (noise.os_event_s == 0 || noise.os_events_per_s == 0);
}

std::size_t median_of(const std::vector<UnfoldedSample>& samples) {
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return samples[a].step < samples[b].step; });
    return order[(order.size() - 1) / 2];
}

/// The step is that of the sample, played again with a recording.
void record_median(const SampleSetup& setup, const UnfoldedOptions& options, UnfoldedSteps& steps) {
    steps.recorded = options.record_ranks;
    if (steps.recorded.empty()) {
        for (const engine::SlowTile& tile : steps.samples[steps.median].slowest) {
            steps.recorded.push_back(tile.rank);
        }
        std::sort(steps.recorded.begin(), steps.recorded.end());
    }
    if (steps.recorded.empty()) {
        steps.recorded = {0};
        steps.notes.emplace_back("no tile was waited for longer than others: the trace is that of rank 0");
    }
    for (std::size_t name = 0; name < schedule::kOperationNames; ++name) {
        steps.timeline.names.push_back(schedule::operation_name(name));
    }
    engine::Recording recording{&steps.timeline, &steps.operations,
                                std::vector<std::uint32_t>(setup.ranks.size(), engine::kNone)};
    for (const int rank : steps.recorded) {
        const auto actor = std::find(setup.ranks.begin(), setup.ranks.end(), rank) - setup.ranks.begin();
        recording.first_track[static_cast<std::size_t>(actor)] =
            static_cast<std::uint32_t>(steps.timeline.tracks.size());
        for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
            steps.timeline.tracks.push_back(
                {"rank " + std::to_string(rank), to_string(static_cast<schedule::Stream>(stream))});
        }
    }
    const UnfoldedSample again = play_sample(setup, seed_of(options, steps.median), &recording);
    AUSPEX_CHECK(again.step == steps.samples[steps.median].step, "a sample is the same each time it is played");
}

/// What each slow part adds to the median sample: its draw again, with that part alone at its normal speed. One at a
/// time, for each has a network of its own.
void measure_slow_parts(const models::Inputs& inputs, const SimulatedStep& folded, const UnfoldedOptions& options,
                        UnfoldedSteps& steps) {
    for (std::size_t i = 0; i < steps.slow.size(); ++i) {
        std::vector<std::string> others = options.slow;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const SampleSetup without = sample_setup(inputs, folded, options, others);
        const Picoseconds step = play_sample(without, seed_of(options, steps.median)).step;
        steps.slow[i].added_s = to_seconds(steps.samples[steps.median].step - step);
    }
}

/// So many spans are kept at most: a GB or two as Chrome's JSON.
constexpr std::uint64_t kMostSpans = 10'000'000;

void require_recordable(const SimulatedStep& folded, const UnfoldedOptions& options) {
    std::uint64_t operations = 0;
    for (const schedule::Role& role : folded.program.roles) {
        operations = std::max(operations, totals_of(folded.program, role).operations);
    }
    for (const int rank : options.record_ranks) {
        if (rank < 0 || rank >= folded.layout.tiles) {
            throw InputError("--trace-ranks", "found rank " + std::to_string(rank) + "; expected 0 to " +
                                                  std::to_string(folded.layout.tiles - 1));
        }
    }
    if (operations * options.record_ranks.size() > kMostSpans) {
        throw InputError("--trace-ranks", "found " + std::to_string(options.record_ranks.size()) +
                                              " ranks with up to " + std::to_string(operations) +
                                              " operations each; expected at most " + std::to_string(kMostSpans) +
                                              " operations in all");
    }
}

}  // namespace

UnfoldedSteps play_unfolded(const models::Inputs& inputs, const SimulatedStep& folded, const UnfoldedOptions& options) {
    AUSPEX_CHECK(options.samples > 0, "at least one sample");
    if (folded.plan.post_validation) {
        throw InputError(inputs.plan.file + ": $.post_validation",
                         "found true with the unfolded lens, which plays one step; expected false, or --lens folded");
    }
    if (options.record) {
        require_recordable(folded, options);
    }
    const SampleSetup setup = sample_setup(inputs, folded, options, options.slow);
    UnfoldedSteps steps;
    steps.slow = setup.slow.requests;
    steps.notes = setup.slow.notes;
    steps.samples.resize(static_cast<std::size_t>(options.samples));
    const std::size_t played = is_deterministic(inputs.machine) ? 1 : steps.samples.size();
    std::mutex mutex;
    int done = 0;
    const auto play_one = [&](std::size_t i) {
        steps.samples[i] = play_sample(setup, seed_of(options, i));
        if (options.progress) {
            const std::lock_guard lock(mutex);
            options.progress(++done, options.samples);
        }
    };
    tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, played, play_one); });
    for (std::size_t i = played; i < steps.samples.size(); ++i) {
        steps.samples[i] = steps.samples.front();
    }
    steps.median = median_of(steps.samples);
    measure_slow_parts(inputs, folded, options, steps);
    if (options.record) {
        record_median(setup, options, steps);
    }
    return steps;
}

}  // namespace auspex::predict
