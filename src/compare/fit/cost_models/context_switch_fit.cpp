/// @file Passes of a token, and turns that find less in the caches than they left there.
#include "compare/fit/cost_models/context_switch_fit.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compare/fit/cost_models/piecewise_linear_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

void fit_switch_cost(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    const double message_s = cpu.intra_node.send_s.value + cpu.intra_node.receive_s.value;
    std::vector<models::Measurement> passes = timed_cpu_rows(rows, "pass");
    std::erase_if(passes, [](const models::Measurement& row) { return row.active != row.ranks; });
    if (passes.empty()) {
        constexpr double kAssumed = 1e-6;
        calibration.warnings.emplace_back(
            "nothing tells how long a core takes from one process to another (rows of kind \"host\" named \"pass\"): "
            "it needs more ranks than cores; 1 us is assumed");
        cpu.context_switch_s = {{kAssumed, 0, 3 * kAssumed}, ConstantKind::kAssumed, "not measured"};
        return;
    }
    std::vector<double> switches;
    for (const models::Measurement& row : passes) {
        switches.push_back(std::max(0.0, row.seconds - message_s));
    }
    cpu.context_switch_s =
        median_of(switches, ConstantKind::kMeasured,
                  "a token that goes round among processes of a core, each with kernels in its turn");
    FitQuality quality = quality_of("sharing", "passes");
    quality.predicted.assign(passes.size(), message_s + cpu.context_switch_s.value);
    quality.points = std::move(passes);
    add_quality(std::move(quality), calibration);
}

struct TimedTurn {
    models::Measurement row;  ///< all run kernels
    double alone_s = 0;       ///< one does
};

std::vector<TimedTurn> turns_of(const std::vector<models::Measurement>& rows) {
    std::vector<TimedTurn> turns;
    const std::vector<models::Measurement> all = timed_cpu_rows(rows, "turn");
    for (const models::Measurement& row : all) {
        const auto alone = std::find_if(all.begin(), all.end(), [&row](const models::Measurement& other) {
            return other.active == 1 && other.ranks == row.ranks && other.bytes == row.bytes;
        });
        if (row.active > 1 && row.active == row.ranks && alone != all.end()) {
            turns.push_back({row, alone->seconds});
        }
    }
    return turns;
}

void fit_reload_cost(const std::vector<TimedTurn>& turns, FittedCpu& cpu, Calibration& calibration) {
    constexpr std::size_t kMin = 3;
    constexpr int kSizes = 40;
    constexpr double kLargest = 20e6;
    cpu.reload_byte_s = {{0, 0, 0}, ConstantKind::kAssumed, "not measured"};
    cpu.core_capacity_bytes = cpu.reload_byte_s;
    if (turns.size() < kMin) {
        calibration.warnings.emplace_back(
            "nothing tells what processes of a core push out of each other's caches (rows of kind \"host\" named "
            "\"turn\"): it needs more ranks than cores; refilling them is taken as 0");
        return;
    }
    FitQuality quality = quality_of("sharing", "turns");
    std::vector<PiecewiseLinearRow> points;
    for (const TimedTurn& turn : turns) {
        points.push_back({turn.row.bytes, turn.row.ranks * turn.row.bytes, turn.alone_s, turn.row.seconds});
        quality.points.push_back(turn.row);
    }
    PiecewiseLinearFit knee = fit_piecewise_linear(points, capacities_up_to(kLargest, kSizes), CachedCost::kKnown);
    const std::string how = "turns of processes of a core on working sets of several sizes";
    cpu.core_capacity_bytes = fitted(knee.capacity_bytes, how);
    cpu.reload_byte_s = fitted(knee.miss_byte_s, how);
    quality.predicted = std::move(knee.predicted_s);
    add_quality(std::move(quality), calibration);
}

}  // namespace

void fit_context_switches(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    fit_switch_cost(rows, cpu, calibration);
    fit_reload_cost(turns_of(rows), cpu, calibration);
}

}  // namespace auspex::fit
