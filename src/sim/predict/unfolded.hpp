#pragma once
/// @file One step, unfolded: every rank, NIC and link of the job played, as often as samples are asked for.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/predict/simulate.hpp"

namespace auspex::predict {

struct UnfoldedOptions {
    std::uint64_t seed = 1;
    int samples = 1;
    int threads = 0;                     ///< most samples at a time; 0: as many as there are cores
    std::vector<std::string> slow = {};  ///< slow_parts.hpp
    bool record = false;                 ///< plays the median sample once more, and fills UnfoldedSteps::timeline
    std::vector<int> record_ranks =
        {};  ///< whose; empty: those most waited for, of the first rank where there are none
    /// Called after each sample, one call at a time: done, of all.
    std::function<void(int, int)> progress = {};
};

/// One draw of tile speeds, interruptions and jitter, played.
struct UnfoldedSample {
    Picoseconds step = 0, forward_backward = 0;
    schedule::LossTimes losses{};  ///< mean over ranks; they sum to `step`
    std::uint64_t events = 0;
    std::vector<engine::SlowTile> slowest;        ///< most waited for first
    std::vector<engine::SlowLink> slowest_links;  ///< slow by request, the one that adds most first
};

struct UnfoldedSteps {
    std::vector<UnfoldedSample> samples;    ///< by number
    std::size_t median = 0;                 ///< the sample in the middle by step, the lower one of two
    std::vector<engine::SlowRequest> slow;  ///< what was asked for, and what each adds to the median sample
    std::vector<std::string> notes;
    schedule::Timeline timeline;            ///< of the median sample: a track for each stream of each of `recorded`
    engine::RecordedOperations operations;  ///< of its spans
    std::vector<int> recorded;              ///< ranks
};

/// Plays the program that `folded` was made of by rank. Every group of every stage acts when its own members are there;
/// transfers share every link max-min fairly with all others. With uniform routing, equal tiles, no noise and no
/// background load on a layout whose groups all lie the same way on nodes and links the result is the folded one to the
/// picosecond. Samples run in parallel; the result does not depend on how many at a time. Throws InputError for a
/// broken `slow`, for a rank that the job does not have, and for a step of kLongestTime or more. To be recorded, all
/// samples are played operation by operation: sums are rounded elsewhere, so that a step differs by picoseconds.
[[nodiscard]] UnfoldedSteps play_unfolded(const models::Inputs& inputs, const SimulatedStep& folded,
                                          const UnfoldedOptions& options);

}  // namespace auspex::predict
