/// @file From the begin to the last checkpoint, or until it is given up.
#include "campaign/play/one_campaign.hpp"

#include <cmath>
#include <utility>

#include "campaign/drawn_length.hpp"

namespace auspex::campaign {
namespace {

/// Purposes of random streams beyond the sources' numbers.
constexpr std::uint64_t kNodeStream = 1'000'000, kSlowStream = 1'000'001, kPaceStream = 1'000'002,
                        kStartStream = 1'000'003, kQueueStream = 1'000'004;
/// A run is given up after so many events for each of its checkpoints, and for so many checkpoints more; or when it
/// has taken so many times as long as its steps do, and so much longer.
constexpr std::int64_t kEventsOfCheckpoint = 100, kMoreCheckpoints = 1'000;
constexpr double kLongest = 100, kLonger_s = kYear_s;

Nanoseconds step_of(const Setting& setting, const SampleChoice& choice) {
    Rng rng = stream_of(choice.seed, choice.index, kPaceStream);
    const double slowness = setting.step_sigma > 0 ? std::exp(setting.step_sigma * rng.normal()) : 1;
    return std::max<Nanoseconds>(to_nanoseconds(setting.step_s * slowness), 1);
}

}  // namespace

OneCampaign::OneCampaign(const Setting& setting, const SampleChoice& choice)
    : set_(setting),
      step_(step_of(setting, choice)),
      start_(to_nanoseconds(setting.recovery.environment_s) + to_nanoseconds(setting.recovery.restart_s) +
             to_nanoseconds(setting.recovery.initialise_s) + to_nanoseconds(setting.recovery.load_s)),
      stall_(to_nanoseconds(setting.checkpoints.stall_s)),
      write_(to_nanoseconds(setting.checkpoints.write_s)),
      keeps_periods_(choice.keeps_periods),
      book_(setting.failures.size(), choice.keeps_periods),
      steps_(step_, book_),
      clocks_(setting.failures, choice.seed, choice.index),
      pool_(setting.nodes, to_nanoseconds(spare_window_s(setting)), stream_of(choice.seed, choice.index, kNodeStream)),
      kept_(setting.checkpoints.copies),
      slow_(setting.slow, stream_of(choice.seed, choice.index, kSlowStream)),
      start_rng_(stream_of(choice.seed, choice.index, kStartStream)),
      queue_rng_(stream_of(choice.seed, choice.index, kQueueStream)),
      is_up_(!setting.starts_cold) {
    clocks_.quicken(0, pool_.pace());
}

Outcome OneCampaign::play() {
    const std::int64_t most_events =
        kEventsOfCheckpoint * (set_.steps / set_.checkpoints.every_steps + kMoreCheckpoints);
    const Nanoseconds longest =
        to_nanoseconds(kLongest * to_seconds(step_) * static_cast<double>(set_.steps) + kLonger_s);
    open_block();
    while (!is_over_ && events_ < most_events && book_.now() < longest) {
        const Stop stop = is_up_ ? work() : bring_up();
        if (stop == Stop::kFailure) {
            fail();
        } else if (stop == Stop::kCorruptionFound) {
            find_corruption();
        } else if (stop == Stop::kBlockEnd) {
            end_block();
        }
    }
    Outcome& out = book_.out();
    out.is_finished = is_over_;
    out.elapsed = book_.now();
    out.checkpoints = copied_ - kept_.cut();
    out.ends_corrupt = is_over_ && corrupt_since_ < kNever;
    out.windows = pool_.windows(out.exposed);
    return std::move(out);
}

double spare_window_s(const Setting& setting) {
    return setting.nodes.replenish_s > 0 ? mean_length_s(setting.nodes.replenish_s, setting.nodes.replenish_sigma)
                                         : setting.blocks.walltime_s;
}

Outcome play_sample(const Setting& setting, const SampleChoice& choice) { return OneCampaign(setting, choice).play(); }

}  // namespace auspex::campaign
