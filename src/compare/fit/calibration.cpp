/// @file From rows of this machine to its file: laws, sharing, messages, and collectives as a check.
#include "compare/fit/calibration.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "compare/fit/cost_models/cache_sizes.hpp"
#include "compare/fit/cost_models/context_switch_fit.hpp"
#include "compare/fit/cost_models/fitted.hpp"
#include "compare/fit/cost_models/full_speed.hpp"
#include "compare/fit/cost_models/kernel_fit.hpp"
#include "compare/fit/cost_models/memory_fit.hpp"
#include "compare/fit/cost_models/message_fit.hpp"
#include "compare/fit/cost_models/sharing_fit.hpp"
#include "compare/fit/cost_models/verdict.hpp"
#include "compare/fit/machine_writer.hpp"
#include "sim/cpu/step.hpp"

namespace auspex::fit {
namespace {

struct Collective {
    const char* name;
    schedule::CommKind comm;
};
constexpr Collective kCollectives[] = {{"all_reduce", schedule::CommKind::kAllReduce},
                                       {"reduce_scatter", schedule::CommKind::kReduceScatter},
                                       {"all_gather", schedule::CommKind::kAllGather},
                                       {"all_to_all", schedule::CommKind::kAllToAll}};

/// Copies and sums of fp32 are in every collective that was timed.
bool can_cost_collectives(const models::CpuModel& cpu) {
    const auto& laws = cpu.kernel_costs.at(static_cast<std::size_t>(models::CpuPrecision::kFp32));
    return laws.at(static_cast<std::size_t>(models::CpuKernel::kCopy)).known &&
           laws.at(static_cast<std::size_t>(models::CpuKernel::kReduceParts)).known;
}

/// Collectives of one group while nobody else communicates, beside what the costs of messages make of them.
void check_collectives(const std::vector<models::Measurement>& rows, const models::Machine& machine,
                       const models::Stack& stack, Calibration& calibration) {
    const bool has_rows =
        std::ranges::any_of(rows, [](const models::Measurement& row) { return row.kind == "collective"; });
    if (!can_cost_collectives(machine.cpu)) {
        if (has_rows) {
            calibration.warnings.emplace_back(
                "collectives are not checked: there are no laws of copy and reduce_parts in fp32");
        }
        return;
    }
    for (const Collective& collective : kCollectives) {
        FitQuality quality = quality_of("collective", collective.name);
        for (const models::Measurement& row : rows_of(rows, "collective", collective.name)) {
            const bool fits = row.ranks <= machine.node.tiles * machine.fabric.max_nodes;
            if (row.active == row.ranks && row.ranks > 1 && fits) {
                quality.points.push_back(row);
                quality.predicted.push_back(
                    cpu::cpu_collective_s(machine, stack, collective.comm, row.ranks, row.bytes));
            }
        }
        add_quality(std::move(quality), calibration);
    }
}

/// Rows that a part of the machine file comes from.
struct Origin {
    std::string_view path, rows;
};
constexpr Origin kOrigins[] = {{"host.core_slice", "\"host\" named \"slice\""},
                               {"host.switch", "\"host\" named \"pass\""},
                               {"host.core_reach", "\"host\" named \"turn\""},
                               {"host.refill_byte", "\"host\" named \"turn\""},
                               {"host.poll", "\"message\" named \"ping_pong\" and \"send\""},
                               {"host.busy_speed", "\"kernel\" with one rank and with several ranks active"},
                               {"host.last_level_cache", "\"host\" named \"copy\""},
                               {"host.cache_bandwidth", "\"host\" named \"copy\""},
                               {"host.memory_bandwidth", "\"host\" named \"copy\""},
                               {"host.core_memory_bandwidth", "\"host\" named \"copy\""},
                               {"host.probe", "\"host\" named \"probe\""},
                               {"host.messages.near", "\"message\", where \"near\""},
                               {"host.messages.far", "\"message\", where \"far\""},
                               {"host.kernels", "\"kernel\" of that name and precision"},
                               {"host", "\"host\" named \"computer\""},
                               {"tile.hbm_bandwidth", "\"host\" named \"copy\""},
                               {"tile.hbm_capacity", "\"host\" named \"computer\""},
                               {"tile.attention", "\"kernel\" named \"attention_forward\" and \"gemm_forward\""},
                               {"tile", "\"kernel\" named \"gemm_forward\""},
                               {"node.tiles", "\"host\" named \"computer\""},
                               {"node.pcie", "\"host\" named \"copy\""},
                               {"node.socket", "\"host\" named \"copy\""},
                               {"node", "\"message\""},
                               {"fabric.link_bandwidth", "\"message\""},
                               {"fabric", "\"host\" named \"computer\""}};

/// The machine as predictions load it. What they refuse is no fault of that file, which is not written yet, but of
/// rows.
models::Machine loaded(const std::string& machine_json, const std::string& file) {
    try {
        return models::load_machine(JsonDocument::parse(machine_json, file));
    } catch (const InputError& error) {
        const std::string text = error.what(), head = file + ": $.";
        const std::string path = text.starts_with(head) ? text.substr(head.size()) : "";
        for (const Origin& origin : kOrigins) {
            if (path.starts_with(origin.path)) {
                throw InputError("measurements", "found rows of kind " + std::string(origin.rows) +
                                                     " that give the machine file what it cannot have: " + path);
            }
        }
        throw InputError("measurements", "found rows that make no machine file: " + text);
    }
}

/// A kernel that was never timed, though others were, would be found out by a prediction only.
void warn_of_missing_kernels(const std::vector<models::Measurement>& rows, Calibration& calibration) {
    constexpr std::size_t kNamed = 3;
    for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
        std::set<std::string_view> timed;
        for (const models::Measurement& row : rows) {
            if (row.kind == "kernel" && row.precision == to_string(precision) && row.active == 1) {
                timed.insert(row.name);
            }
        }
        std::vector<std::string> missing;
        for (std::size_t i = 0; i < models::kCpuKernels; ++i) {
            if (const auto name = to_string(static_cast<models::CpuKernel>(i)); !timed.contains(name)) {
                missing.emplace_back(name);
            }
        }
        if (missing.empty() || timed.empty()) {
            continue;
        }
        std::string names;
        for (std::size_t i = 0; i < std::min(missing.size(), kNamed); ++i) {
            names += (i > 0 ? ", " : "") + missing[i];
        }
        names += missing.size() > kNamed ? " and " + std::to_string(missing.size() - kNamed) + " more kernels" : "";
        calibration.warnings.push_back(
            "nothing tells how long " + names + " take" + (missing.size() > 1 ? "" : "s") + " in " +
            std::string(to_string(precision)) + " (rows of kind \"kernel\"): the machine file has no law of " +
            (missing.size() > 1 ? "them, and steps that call them" : "it, and steps that call it") +
            " are not predicted");
    }
}

void warn_of_noise(const std::vector<models::Measurement>& rows, Calibration& calibration) {
    constexpr double kNoisy = 0.2;
    int noisy = 0;
    for (const models::Measurement& row : rows) {
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

Calibration calibrate_cpu(const std::string& name, const std::vector<models::Measurement>& taken,
                          const models::Stack& stack) {
    const std::vector<models::Measurement> measurements = at_full_speed(taken);
    Calibration calibration;
    FittedCpu cpu;
    cpu.machine = name;
    read_computer(measurements, cpu, calibration);
    fit_cache(measurements, cpu, calibration);
    fit_kernel_costs(measurements, cpu, calibration);
    fit_memory(measurements, cpu, calibration);
    fit_sharing(measurements, cpu, calibration);
    fit_messages(measurements, stack, cpu, calibration);
    fit_context_switches(measurements, cpu, calibration);
    calibration.machine_json = machine_text(cpu);
    const models::Machine machine = loaded(calibration.machine_json, name + ".json");
    std::ranges::copy(notes_of(calibration.caches), std::back_inserter(calibration.warnings));
    warn_of_missing_kernels(measurements, calibration);
    check_collectives(measurements, machine, stack, calibration);
    warn_of_noise(measurements, calibration);
    warn_of_poor_fits(calibration);
    return calibration;
}

}  // namespace auspex::fit
