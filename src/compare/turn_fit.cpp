/// @file Passes of a token, and turns that find less in the caches than they left there.
#include "compare/turn_fit.hpp"

#include <algorithm>
#include <cstddef>

#include "base/quantiles.hpp"
#include "compare/positive_fit.hpp"

namespace auspex {
namespace {

void fit_switch(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    std::vector<double> switches;
    for (const Measurement& row : rows_of(rows, "host", "pass")) {
        if (row.active == row.ranks) {
            switches.push_back(std::max(0.0, row.seconds - host.near.send_s.value - host.near.receive_s.value));
        }
    }
    if (switches.empty()) {
        constexpr double kAssumed = 1e-6;
        calibration.warnings.emplace_back(
            "nothing tells how long a core takes from one process to another: it needs more ranks than cores; 1 us is "
            "assumed");
        host.switch_s = {kAssumed, 0, 3 * kAssumed, ConstantKind::kAssumed, "not measured"};
        return;
    }
    host.switch_s = {median(switches), quantile(switches, 0.25), quantile(switches, 0.75), ConstantKind::kMeasured,
                     "a token that goes round among processes of a core, each with kernels in its turn"};
}

struct Turn {
    Measurement row;     ///< all run kernels
    double alone_s = 0;  ///< one does
};

std::vector<Turn> turns_of(const std::vector<Measurement>& rows) {
    std::vector<Turn> turns;
    const std::vector<Measurement> all = rows_of(rows, "host", "turn");
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

std::vector<Observation> refills(const std::vector<Turn>& turns, double reach_bytes) {
    std::vector<Observation> observations;
    for (const Turn& turn : turns) {
        const double share = missing_share(reach_bytes, turn.row.ranks * turn.row.bytes);
        const double weight = 1 / turn.row.seconds;
        observations.push_back({{turn.row.bytes * share}, turn.row.seconds - turn.alone_s, weight * weight});
    }
    return observations;
}

/// Sum of squares of what is left, relative to whole times.
double left_of(const std::vector<Observation>& observations, double refill_byte_s) {
    double sum = 0;
    for (const Observation& one : observations) {
        const double left = one.sizes.front() * refill_byte_s - one.y;
        sum += left * left * one.weight;
    }
    return sum;
}

/// Of one positive coefficient.
double least_squares(const std::vector<Observation>& observations) {
    double products = 0, squares = 0;
    for (const Observation& one : observations) {
        products += one.weight * one.sizes.front() * one.y;
        squares += one.weight * one.sizes.front() * one.sizes.front();
    }
    return squares > 0 ? std::max(0.0, products / squares) : 0;
}

void fit_refill(const std::vector<Turn>& turns, FittedHost& host) {
    constexpr std::size_t kFewest = 3;
    constexpr int kSizes = 40;
    constexpr double kLargest = 20e6, kWorse = 1.5;  // sizes within this of the best are in the interval
    host.refill_byte_s = {0, 0, 0, ConstantKind::kAssumed, "not measured"};
    host.core_reach_bytes = host.refill_byte_s;
    if (turns.size() < kFewest) {
        return;
    }
    std::vector<double> reaches, bytes_s, left;
    for (int i = 1; i <= kSizes; ++i) {
        reaches.push_back(kLargest * i / kSizes);
        const std::vector<Observation> observations = refills(turns, reaches.back());
        bytes_s.push_back(least_squares(observations));
        left.push_back(left_of(observations, bytes_s.back()));
    }
    const std::size_t best = static_cast<std::size_t>(std::min_element(left.begin(), left.end()) - left.begin());
    std::size_t low = best, high = best;
    while (low > 0 && left[low - 1] <= kWorse * left[best]) {
        --low;
    }
    while (high + 1 < left.size() && left[high + 1] <= kWorse * left[best]) {
        ++high;
    }
    const auto [least, most] = std::minmax_element(bytes_s.begin() + static_cast<std::ptrdiff_t>(low),
                                                   bytes_s.begin() + static_cast<std::ptrdiff_t>(high) + 1);
    const std::string how = "turns of processes of a core on working sets of several sizes";
    host.core_reach_bytes = {reaches[best], reaches[low], reaches[high], ConstantKind::kFitted, how};
    host.refill_byte_s = {bytes_s[best], *least, *most, ConstantKind::kFitted, how};
}

}  // namespace

void fit_turns(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    fit_switch(rows, host, calibration);
    fit_refill(turns_of(rows), host);
}

}  // namespace auspex
