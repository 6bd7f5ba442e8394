/// @file Rows with all cores busy beside those of one core alone.
#include "compare/fit/cost_models/sharing_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "compare/fit/cost_models/cache_sizes.hpp"
#include "compare/fit/cost_models/kernel_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"

namespace auspex::fit {
namespace {

models::Measurement only_row(const std::vector<models::Measurement>& rows, std::string_view name, const char* what) {
    const std::vector<models::Measurement> found = rows_of(rows, "host", name);
    if (found.empty()) {
        throw InputError("measurements", "found no row of kind \"host\" named \"" + std::string(name) + "\" (" + what +
                                             "); expected what \"auspex calibrate\" writes on this machine");
    }
    return found.back();
}

/// The reference that sessions of calibration have found one after another: the fastest is full speed.
models::Measurement fastest_probe(const std::vector<models::Measurement>& rows) {
    const std::vector<models::Measurement> probes = timed_cpu_rows(rows, "probe");
    return probes.empty() ? only_row({}, "probe", "how fast the machine was")
                          : *std::ranges::min_element(probes, {}, &models::Measurement::seconds);
}

/// Kernels that compute more than they move: what slows them is the core.
bool is_product(std::string_view kernel) {
    constexpr std::array<std::string_view, 3> kHeads{"gemm_", "attention_", "experts_"};
    return std::any_of(kHeads.begin(), kHeads.end(), [&](auto head) { return kernel.starts_with(head); });
}

/// Most ranks that ran at once with a core each; 1: none did.
int busiest(const std::vector<models::Measurement>& rows, std::string_view kind, int cores) {
    int most = 1;
    for (const models::Measurement& row : rows) {
        if (row.kind == kind && row.active <= cores) {
            most = std::max(most, row.active);
        }
    }
    return most;
}

/// The call's time with one rank active: as it was timed, in the same way, beside the shared ones; where it was not, as
/// the law says; nothing where there is no law either.
std::optional<double> alone_s(const std::vector<models::Measurement>& rows, const models::Measurement& shared,
                              const models::CpuModel& cpu) {
    std::vector<double> timings;
    for (const models::Measurement& row : rows) {
        const bool same = row.kind == "kernel" && row.active == 1 && row.name == shared.name &&
                          row.precision == shared.precision && row.where == shared.where && row.rows == shared.rows &&
                          row.columns == shared.columns && row.depth == shared.depth && row.groups == shared.groups;
        if (same) {
            timings.push_back(row.seconds);
        }
    }
    return timings.empty() ? modelled_seconds(cpu, call_of(shared), precision_of(shared))
                           : std::optional(median(timings));
}

/// A kernel with all cores at work, and the same alone.
struct Shared {
    models::Measurement row;
    double alone_s = 0;
};

std::vector<Shared> shared_kernels(const std::vector<models::Measurement>& rows, const models::CpuModel& cpu,
                                   int busy) {
    std::vector<Shared> found;
    for (const models::Measurement& row : rows) {
        if (row.kind == "kernel" && row.where == "cache" && row.active == busy && busy > 1) {
            if (const auto alone = alone_s(rows, row, cpu)) {
                found.push_back({row, *alone});
            }
        }
    }
    return found;
}

void set_busy_speed(const std::vector<Shared>& shared, int busy, FittedCpu& cpu, Calibration& calibration) {
    if (shared.empty()) {
        if (cpu.cores > 1) {
            calibration.warnings.emplace_back(
                "no kernel was timed on several cores at once (rows of kind \"kernel\" with several ranks active): "
                "cores are taken to run as fast together as alone");
        }
        cpu.busy_speed = {{1, 0.9, 1}, ConstantKind::kAssumed, "not measured"};
        return;
    }
    if (busy < cpu.cores) {
        calibration.warnings.push_back("at most " + std::to_string(busy) + " of " + std::to_string(cpu.cores) +
                                       " cores were busy at once: with all of them kernels may be slower");
    }
    std::vector<double> products, all;
    for (const Shared& one : shared) {
        all.push_back(one.alone_s / one.row.seconds);
        if (is_product(one.row.name)) {
            products.push_back(all.back());
        }
    }
    cpu.busy_speed = median_of(products.empty() ? all : products, ConstantKind::kMeasured,
                               "kernels alone over the same on " + std::to_string(busy) + " cores at once, median");
    cpu.busy_speed.value = std::min(cpu.busy_speed.value, 1.0);
    cpu.busy_speed.low = std::min(cpu.busy_speed.low, 1.0);
    cpu.busy_speed.high = std::min(cpu.busy_speed.high, 1.0);
}

/// Products at busy_speed; what streams, at that or at what the cache gives all cores, whichever is slower.
void judge_busy_cores(const std::vector<Shared>& shared, const FittedCpu& cpu, Calibration& calibration) {
    constexpr double kFits = 0.75;  // of the cache: longer ones time memory
    FitQuality quality = quality_of("sharing", "busy_cores");
    for (const auto& [row, alone] : shared) {
        const double bytes = row.active * cpu_bytes(call_of(row), precision_of(row));
        if (bytes <= kFits * cpu.cache_bytes.value) {
            const double by_cache = is_product(row.name) ? 0 : bytes / cpu.cache_bytes_per_s.value;
            quality.points.push_back(row);
            quality.predicted.push_back(std::max(alone / cpu.busy_speed.value, by_cache));
        }
    }
    add_quality(std::move(quality), calibration);
}

/// A band of working sets, of one rank at least `low`, of all together at most `high`.
struct Band {
    double low = 0, high = 0;
    /// By what factor a copy misses the band; 1: it is in it.
    [[nodiscard]] double off_by(const models::Measurement& copy) const {
        return std::max({1.0, low / copy.bytes, copy.bytes * copy.active / high});
    }
};

/// Bytes a second of all cores together, from copies in the band; where none is, for the cores are too many or the
/// memory too small, from those that miss it by least. The copies join `quality`.
FittedNumber copy_rate(const std::vector<models::Measurement>& rows, const FittedCpu& cpu, const Band& band,
                       const std::string& what, FitQuality& quality, Calibration& calibration) {
    std::vector<models::Measurement> copies = timed_cpu_rows(rows, "copy");
    const int busy = busiest(copies, "host", cpu.cores);
    std::erase_if(copies, [&](const models::Measurement& row) { return row.active != busy; });
    if (copies.empty()) {
        throw InputError("measurements", "found no copies on " + std::to_string(busy) +
                                             " cores at once; expected rows of kind \"host\" named \"copy\"");
    }
    const auto off_by = [&](const models::Measurement& row) { return band.off_by(row); };
    const double least = std::ranges::min(copies | std::views::transform(off_by));
    if (least > 1) {
        calibration.warnings.push_back("no copies " + what +
                                       " the last-level cache: its bandwidth, or memory's, is that of " +
                                       "copies of other sizes");
    }
    std::erase_if(copies, [&](const models::Measurement& row) { return off_by(row) > least; });
    std::vector<double> rates;
    for (const models::Measurement& row : copies) {
        rates.push_back(row.bytes * cpu.cores / row.seconds);
    }
    const FittedNumber rate = median_of(rates, ConstantKind::kMeasured,
                                        "copies " + what + " the last-level cache, " + std::to_string(busy) +
                                            (busy > 1 ? " cores" : " core") + " at once");
    for (const models::Measurement& row : copies) {
        quality.points.push_back(row);
        quality.predicted.push_back(row.bytes * cpu.cores / rate.value);
    }
    return rate;
}

void fit_quantum(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    std::vector<double> slices;
    for (const models::Measurement& row : timed_cpu_rows(rows, "slice")) {
        slices.push_back(row.seconds);
    }
    if (slices.empty()) {
        constexpr double kAssumed = 3e-3;
        calibration.warnings.emplace_back(
            "nothing tells how long a core stays with one of two processes (rows of kind \"host\" named \"slice\"): it "
            "needs more ranks than cores; 3 ms are assumed");
        cpu.quantum_s = {{kAssumed, 0, 2 * kAssumed}, ConstantKind::kAssumed, "not measured"};
        return;
    }
    cpu.quantum_s = median_of(slices, ConstantKind::kMeasured, "time that a core stays with one of its processes");
}

}  // namespace

void read_computer(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    const models::Measurement computer = only_row(rows, "computer", "cores and memory");
    const models::Measurement probe = fastest_probe(rows);
    // A file may have been gone on with, on more ranks and on more nodes: the most nodes tell how large one is.
    for (const models::Measurement& row : rows_of(rows, "host", "computer")) {
        const int ranks = (row.ranks + row.nodes - 1) / row.nodes;
        cpu.ranks_per_node = row.nodes > cpu.nodes    ? ranks
                             : row.nodes == cpu.nodes ? std::max(cpu.ranks_per_node, ranks)
                                                      : cpu.ranks_per_node;
        cpu.nodes = std::max(cpu.nodes, row.nodes);
        cpu.nodes_per_computer = std::max(cpu.nodes_per_computer, static_cast<int>(row.groups));
    }
    // Cores are shared: a computer that is one node takes more ranks than were measured.
    constexpr int kRanksOfComputer = 16;
    cpu.ranks_per_node =
        cpu.nodes == 1 ? std::max({kRanksOfComputer, computer.active, cpu.ranks_per_node}) : cpu.ranks_per_node;
    cpu.computer = computer.source;
    cpu.cores = computer.active;
    cpu.memory_bytes = computer.bytes;
    calibration.caches = cache_sizes(rows);
    cpu.max_cache_bytes = max_bytes(calibration.caches.last_level);
    if (const std::vector<models::Measurement> copies = timed_cpu_rows(rows, "copy"); !copies.empty()) {
        // Of a cache larger than all copies, no end can be found.
        cpu.max_cache_bytes = std::min(cpu.max_cache_bytes, largest_bytes(copies));
    }
    // A tenth quantile of n normal values scatters by 1.71 of their standard deviations over sqrt(n).
    constexpr double kTenthQuantile = 1.71;
    const double sigma_s = kTenthQuantile * probe.spread * probe.seconds / std::sqrt(probe.count);
    cpu.probe_s = {estimate_of_95(probe.seconds, sigma_s), ConstantKind::kMeasured,
                   "the probe at full speed: the fastest tenth, of the fastest session"};
    for (const models::Measurement& row : timed_cpu_rows(rows, "background")) {
        const double worst = std::max(cpu.background_load.value, std::min(1.0, row.seconds));
        cpu.background_load = {{worst, worst, worst},
                               ConstantKind::kMeasured,
                               "of the cores' time while the most disturbed part was measured"};
    }
    calibration.probe_s = probe.seconds;
    calibration.probe_spread = probe.spread;
}

void fit_sharing(const std::vector<models::Measurement>& rows, FittedCpu& cpu, Calibration& calibration) {
    constexpr double kBeyondOwnCaches = 1.0 / 16, kWellInside = 0.5, kWellOutside = 2, kAnySize = 1e9;
    const int busy = busiest(rows, "kernel", cpu.cores);
    const std::vector<Shared> shared = shared_kernels(rows, cpu_model_of(cpu), busy);
    set_busy_speed(shared, busy, cpu, calibration);
    FitQuality copies = quality_of("sharing", "copies_together");
    const double cache = cpu.cache_bytes.value;
    cpu.cache_bytes_per_s =
        copy_rate(rows, cpu, {kBeyondOwnCaches * cache, kWellInside * cache}, "within half of", copies, calibration);
    cpu.memory_bytes_per_s =
        copy_rate(rows, cpu, {kWellOutside * cache, kAnySize * cache}, "of twice and more", copies, calibration);
    judge_busy_cores(shared, cpu, calibration);
    add_quality(std::move(copies), calibration);
    fit_quantum(rows, cpu, calibration);
}

}  // namespace auspex::fit
