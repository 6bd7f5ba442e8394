#pragma once
/// @file The best of many settings, by successive halving: a few samples of all, more of those that lead.
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "campaign/campaign.hpp"

namespace auspex::campaign {

/// What is to be least, in the median.
enum class Objective : std::uint8_t { kFinish, kNodeHours };

/// What a campaign takes, in the median.
struct FinishAndCost {
    double finish_s = 0, node_hours = 0;
};
/// `a` is over no later with no more node-hours, and better in one of them.
[[nodiscard]] bool dominates(const FinishAndCost& a, const FinishAndCost& b);

/// A setting that came to the last round: with its own best interval, and all samples.
struct Finalist {
    std::size_t index = 0;  ///< of the settings
    std::int64_t every_steps = 1;
    Result result;
};

struct Optimum {
    std::vector<Finalist> finalists;  ///< in the order of the settings
    std::size_t best = 0;             ///< of `finalists`
    std::vector<std::size_t> front;   ///< of them: no other ends before with no more node-hours; the soonest first
    std::int64_t played = 0;          ///< campaigns, those of the searches for intervals too
};

/// Called before each setting of a round: done, and how many there are in all rounds as far as is known.
using OptimumProgress = std::function<void(std::size_t, std::size_t)>;

/// The setting with the least median, and the front of finish against node-hours, each with the interval between
/// checkpoints that is best for it (every_steps of a setting is the first guess). Three rounds, of a ninth, a third and
/// all of the samples, at least 16; after each a third of the settings is kept, at least eight: the first, which is
/// compared with, those on the front, and those nearest to it by
///   min over the others j of max(finish_i / finish_j, node_hours_i / node_hours_j)
/// Sample i of all of them has the same draws, so that few samples tell them apart. The best interval is searched for
/// in the last round, by playing (best_interval). It is the full grid's answer as long as none that leads is beaten in
/// a round by two thirds of the others, which a test compares. Settings of which half of the samples are given up are
/// behind all others. Requires a setting at least, with failures that are no trace unless `keeps_interval`.
[[nodiscard]] Optimum best_setting(const std::vector<Setting>& settings, Objective objective, const Samples& samples,
                                   bool keeps_interval, const OptimumProgress& progress);

/// What best_setting() would find by playing all samples of every setting with its own best interval.
[[nodiscard]] Optimum best_of_all(const std::vector<Setting>& settings, Objective objective, const Samples& samples,
                                  bool keeps_interval);

}  // namespace auspex::campaign
