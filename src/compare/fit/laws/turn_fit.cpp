/// @file Passes of a token, and turns that find less in the caches than they left there.
#include "compare/fit/laws/turn_fit.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compare/fit/laws/knee_fit.hpp"

namespace auspex {
namespace {

void fit_switch(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const double message_s = host.near.send_s.value + host.near.receive_s.value;
    std::vector<Measurement> passes = timed_host_rows(rows, "pass");
    std::erase_if(passes, [](const Measurement& row) { return row.active != row.ranks; });
    if (passes.empty()) {
        constexpr double kAssumed = 1e-6;
        calibration.warnings.emplace_back(
            "nothing tells how long a core takes from one process to another (rows of kind \"host\" named \"pass\"): "
            "it needs more ranks than cores; 1 us is assumed");
        host.switch_s = {kAssumed, 0, 3 * kAssumed, ConstantKind::kAssumed, "not measured"};
        return;
    }
    std::vector<double> switches;
    for (const Measurement& row : passes) {
        switches.push_back(std::max(0.0, row.seconds - message_s));
    }
    host.switch_s = median_of(switches, ConstantKind::kMeasured,
                              "a token that goes round among processes of a core, each with kernels in its turn");
    FitQuality quality = quality_of("sharing", "passes");
    quality.predicted.assign(passes.size(), message_s + host.switch_s.value);
    quality.points = std::move(passes);
    add_quality(std::move(quality), calibration);
}

struct Turn {
    Measurement row;     ///< all run kernels
    double alone_s = 0;  ///< one does
};

std::vector<Turn> turns_of(const std::vector<Measurement>& rows) {
    std::vector<Turn> turns;
    const std::vector<Measurement> all = timed_host_rows(rows, "turn");
    for (const Measurement& row : all) {
        const auto alone = std::find_if(all.begin(), all.end(), [&row](const Measurement& other) {
            return other.active == 1 && other.ranks == row.ranks && other.bytes == row.bytes;
        });
        if (row.active > 1 && row.active == row.ranks && alone != all.end()) {
            turns.push_back({row, alone->seconds});
        }
    }
    return turns;
}

FittedNumber fitted(const KneeNumber& number) {
    return {number.value, number.interval.low, number.interval.high, ConstantKind::kFitted,
            "turns of processes of a core on working sets of several sizes"};
}

void fit_refill(const std::vector<Turn>& turns, FittedHost& host, Calibration& calibration) {
    constexpr std::size_t kFewest = 3;
    constexpr int kSizes = 40;
    constexpr double kLargest = 20e6;
    host.refill_byte_s = {0, 0, 0, ConstantKind::kAssumed, "not measured"};
    host.core_reach_bytes = host.refill_byte_s;
    if (turns.size() < kFewest) {
        calibration.warnings.emplace_back(
            "nothing tells what processes of a core push out of each other's caches (rows of kind \"host\" named "
            "\"turn\"): it needs more ranks than cores; refilling them is taken as 0");
        return;
    }
    FitQuality quality = quality_of("sharing", "turns");
    std::vector<KneeRow> points;
    for (const Turn& turn : turns) {
        points.push_back({turn.row.bytes, turn.row.ranks * turn.row.bytes, turn.alone_s, turn.row.seconds});
        quality.points.push_back(turn.row);
    }
    Knee knee = fit_knee(points, reaches_up_to(kLargest, kSizes), NearBytes::kKnown);
    host.core_reach_bytes = fitted(knee.reach_bytes);
    host.refill_byte_s = fitted(knee.extra_byte_s);
    quality.predicted = std::move(knee.predicted_s);
    add_quality(std::move(quality), calibration);
}

}  // namespace

void fit_turns(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    fit_switch(rows, host, calibration);
    fit_refill(turns_of(rows), host, calibration);
}

}  // namespace auspex
