/// @file From rows of this machine to its file: laws, sharing, messages, and collectives as a check.
#include "compare/calibration.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "compare/fitted.hpp"
#include "compare/kernel_fit.hpp"
#include "compare/machine_writer.hpp"
#include "compare/memory_fit.hpp"
#include "compare/message_fit.hpp"
#include "compare/sharing_fit.hpp"
#include "compare/turn_fit.hpp"
#include "sim/host_step.hpp"

namespace auspex {
namespace {

struct Collective {
    const char* name;
    CommKind comm;
};
constexpr Collective kCollectives[] = {{"all_reduce", CommKind::kAllReduce},
                                       {"reduce_scatter", CommKind::kReduceScatter},
                                       {"all_gather", CommKind::kAllGather},
                                       {"all_to_all", CommKind::kAllToAll}};

/// Copies and sums of fp32 are in every collective that was timed.
bool has_laws_of_collectives(const Host& host) {
    const auto& laws = host.laws.at(static_cast<std::size_t>(CpuPrecision::kFp32));
    return laws.at(static_cast<std::size_t>(CpuKernel::kCopy)).known &&
           laws.at(static_cast<std::size_t>(CpuKernel::kReduceParts)).known;
}

/// Collectives of one group while nobody else communicates, beside what the costs of messages make of them.
void check_collectives(const std::vector<Measurement>& rows, const Machine& machine, const Stack& stack,
                       Calibration& calibration) {
    const bool has_rows = std::ranges::any_of(rows, [](const Measurement& row) { return row.kind == "collective"; });
    if (!has_laws_of_collectives(machine.host)) {
        if (has_rows) {
            calibration.warnings.emplace_back(
                "collectives are not checked: there are no laws of copy and reduce_parts in fp32");
        }
        return;
    }
    for (const Collective& collective : kCollectives) {
        FitQuality quality = quality_of("collective", collective.name);
        for (const Measurement& row : rows_of(rows, "collective", collective.name)) {
            const bool fits = row.ranks <= machine.node.tiles * machine.fabric.max_nodes;
            if (row.active == row.ranks && row.ranks > 1 && fits) {
                quality.points.push_back(row);
                quality.predicted.push_back(host_collective_s(machine, stack, collective.comm, row.ranks, row.bytes));
            }
        }
        add_quality(std::move(quality), calibration);
    }
}

void warn_of_noise(const std::vector<Measurement>& rows, Calibration& calibration) {
    constexpr double kNoisy = 0.2;
    int noisy = 0;
    for (const Measurement& row : rows) {
        noisy += row.kind != "host" && row.spread > kNoisy ? 1 : 0;
    }
    if (noisy > 0) {
        calibration.warnings.push_back(std::to_string(noisy) + " of " + std::to_string(rows.size()) +
                                       " measurements spread by more than 20 %: the machine was disturbed, or they are "
                                       "of short messages between many ranks");
    }
}

void warn_of_poor_fits(Calibration& calibration) {
    for (const FitQuality& fit : calibration.fits) {
        if (fit.is_poor) {
            calibration.warnings.push_back(fit.name + (fit.precision.empty() ? "" : ", " + fit.precision) + ": " +
                                           fit.verdict);
        }
    }
}

}  // namespace

Calibration calibrate_host(const std::string& name, const std::vector<Measurement>& measurements, const Stack& stack) {
    Calibration calibration;
    FittedHost host;
    host.machine = name;
    read_computer(measurements, host, calibration);
    fit_cache(measurements, host, calibration);
    fit_laws(measurements, host, calibration);
    fit_memory(measurements, host, calibration);
    fit_sharing(measurements, host, calibration);
    fit_messages(measurements, host, calibration);
    fit_turns(measurements, host, calibration);
    calibration.machine_json = machine_text(host);
    const Machine machine = load_machine(JsonDocument::parse(calibration.machine_json, name + ".json"));
    check_collectives(measurements, machine, stack, calibration);
    warn_of_noise(measurements, calibration);
    warn_of_poor_fits(calibration);
    return calibration;
}

}  // namespace auspex
