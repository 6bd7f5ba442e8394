/// @file Rows with all cores busy beside those of one core alone.
#include "compare/sharing_fit.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "compare/kernel_fit.hpp"
#include "compare/statistics.hpp"

namespace auspex {
namespace {

Measurement only_row(const std::vector<Measurement>& rows, std::string_view name, const char* what) {
    const std::vector<Measurement> found = rows_of(rows, "host", name);
    if (found.empty()) {
        throw InputError("measurements", "found no row of kind \"host\" named \"" + std::string(name) + "\" (" + what +
                                             "); expected what \"auspex calibrate\" writes on this machine");
    }
    return found.back();
}

/// Middle half of the values around their median.
FittedNumber middle_of(std::span<const double> values, ConstantKind kind, const std::string& how) {
    return {median(values), quantile(values, 0.25), quantile(values, 0.75), kind, how};
}

/// Kernels that compute more than they move: what slows them is the core.
bool is_product(std::string_view kernel) {
    constexpr std::array<std::string_view, 3> kHeads{"gemm_", "attention_", "experts_"};
    return std::any_of(kHeads.begin(), kHeads.end(), [&](auto head) { return kernel.starts_with(head); });
}

/// Most ranks that ran at once with a core each; 1: none did.
int busiest(const std::vector<Measurement>& rows, std::string_view kind, int cores) {
    int most = 1;
    for (const Measurement& row : rows) {
        if (row.kind == kind && row.active <= cores) {
            most = std::max(most, row.active);
        }
    }
    return most;
}

/// The call's time with one rank active: as timed beside the shared ones or, if that was disturbed, as the law says.
double alone_s(const std::vector<Measurement>& rows, const Measurement& shared, const Host& host) {
    double least = cpu_seconds(host, call_of(shared), precision_of(shared));
    for (const Measurement& row : rows) {
        const bool same = row.kind == "kernel" && row.active == 1 && row.name == shared.name &&
                          row.precision == shared.precision && row.where == shared.where && row.rows == shared.rows &&
                          row.columns == shared.columns && row.depth == shared.depth && row.groups == shared.groups;
        least = same ? std::min(least, row.seconds) : least;
    }
    return least;
}

void fit_busy_speed(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const Host known = host_of(host);
    const int busy = busiest(rows, "kernel", host.cores);
    std::vector<double> products, all;
    for (const Measurement& row : rows) {
        if (row.kind == "kernel" && row.where == "cache" && row.active == busy && busy > 1) {
            const double speed = alone_s(rows, row, known) / row.seconds;
            all.push_back(speed);
            if (is_product(row.name)) {
                products.push_back(speed);
            }
        }
    }
    if (all.empty()) {
        if (host.cores > 1) {
            calibration.warnings.emplace_back(
                "no kernel was timed on several cores at once: cores are taken to run "
                "as fast together as alone");
        }
        host.busy_speed = {1, 0.9, 1, ConstantKind::kAssumed, "not measured"};
        return;
    }
    if (busy < host.cores) {
        calibration.warnings.push_back("at most " + std::to_string(busy) + " of " + std::to_string(host.cores) +
                                       " cores were busy at once: with all of them kernels may be slower");
    }
    FittedNumber speed = middle_of(products.empty() ? all : products, ConstantKind::kMeasured,
                                   "kernels alone over the same on " + std::to_string(busy) + " cores at once, median");
    if (speed.value > 1) {
        speed = {1, std::min(speed.low, 1.0), 1, speed.kind, speed.how};
    }
    host.busy_speed = speed;
}

/// Bytes a second of all cores together, from copies of sets in [low, high] of the cache's size.
FittedNumber copy_rate(const std::vector<Measurement>& rows, const FittedHost& host, double low, double high,
                       const char* what) {
    const std::vector<Measurement> copies = rows_of(rows, "host", "copy");
    const int busy = busiest(copies, "host", host.cores);
    const double cache = host.cache_bytes.value;
    std::vector<double> rates;
    for (const Measurement& row : copies) {
        if (row.active == busy && row.bytes >= low * cache && row.bytes * row.active <= high * cache) {
            rates.push_back(row.bytes * host.cores / row.seconds);
        }
    }
    if (rates.empty()) {
        throw InputError("measurements", std::string("found no copies ") + what + " a last-level cache of " +
                                             format_quantity(cache, Dimension::kBytes) +
                                             "; expected rows of kind \"host\" named \"copy\"");
    }
    return middle_of(rates, ConstantKind::kMeasured,
                     std::string("copies ") + what + " the last-level cache, " + std::to_string(busy) +
                         (busy > 1 ? " cores" : " core") + " at once");
}

void fit_slice(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    std::vector<double> slices;
    for (const Measurement& row : rows_of(rows, "host", "slice")) {
        slices.push_back(row.seconds);
    }
    if (slices.empty()) {
        constexpr double kAssumed = 3e-3;
        calibration.warnings.emplace_back(
            "nothing tells how long a core stays with one of two processes: it needs "
            "more ranks than cores; 3 ms are assumed");
        host.core_slice_s = {kAssumed, 0, 2 * kAssumed, ConstantKind::kAssumed, "not measured"};
        return;
    }
    host.core_slice_s = middle_of(slices, ConstantKind::kMeasured, "time that a core stays with one of its processes");
}

}  // namespace

void read_computer(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    const Measurement computer = only_row(rows, "computer", "cores and memory");
    const Measurement cache = only_row(rows, "last_level_cache", "its size");
    const Measurement probe = only_row(rows, "probe", "how fast the machine was");
    // A file may have been gone on with, on more ranks and on more nodes: the most nodes tell how large one is.
    for (const Measurement& row : rows_of(rows, "host", "computer")) {
        const int ranks = (row.ranks + row.nodes - 1) / row.nodes;
        host.ranks_per_node = row.nodes > host.nodes    ? ranks
                              : row.nodes == host.nodes ? std::max(host.ranks_per_node, ranks)
                                                        : host.ranks_per_node;
        host.nodes = std::max(host.nodes, row.nodes);
        host.nodes_per_computer = std::max(host.nodes_per_computer, static_cast<int>(row.groups));
    }
    // Cores are shared: a computer that is one node takes more ranks than were measured.
    constexpr int kRanksOfComputer = 16;
    host.ranks_per_node = host.nodes == 1 ? std::max(kRanksOfComputer, host.ranks_per_node) : host.ranks_per_node;
    host.computer = computer.source;
    host.cores = computer.active;
    host.memory_bytes = computer.bytes;
    host.stated_cache_bytes = cache.bytes;
    host.cache_bytes = {cache.bytes, cache.bytes, cache.bytes, ConstantKind::kSpecified, "the system's description"};
    const double noise = probe.spread * probe.seconds;
    host.probe_s = {probe.seconds, probe.seconds - noise, probe.seconds + noise, ConstantKind::kMeasured,
                    "the probe, median over cores"};
    calibration.probe_s = probe.seconds;
    calibration.probe_spread = probe.spread;
}

void fit_sharing(const std::vector<Measurement>& rows, FittedHost& host, Calibration& calibration) {
    constexpr double kBeyondOwnCaches = 1.0 / 16, kWellInside = 0.5, kWellOutside = 2, kAnySize = 1e9;
    fit_busy_speed(rows, host, calibration);
    host.cache_bytes_per_s = copy_rate(rows, host, kBeyondOwnCaches, kWellInside, "within half of");
    host.memory_bytes_per_s = copy_rate(rows, host, kWellOutside, kAnySize, "of twice and more");
    fit_slice(rows, host, calibration);
}

}  // namespace auspex
