/// @file Reads cores, caches, message costs and cost models of kernels, each constant with its provenance.
#include "models/cpu/cpu_section.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr const char* kRole = "machine";

// Ranges refuse slips of a unit; every one is far wider than any computer's.
constexpr std::int64_t kMaxCores = 4096;
constexpr double kMinSlice = 1e-5, kMaxSlice = 1;
constexpr double kMaxSwitch = 0.01;
constexpr double kMinCache = 65'536, kMaxCache = 1e12;
constexpr double kMinRate = 1e8, kMaxRate = 1e14;
constexpr double kMaxMessage = 0.1;
constexpr double kMaxPerByte = 1e-7;
constexpr double kMaxEager = 1e9;
constexpr double kMaxPerUnit = 0.01;
constexpr double kMaxPerElement = 1e-6;
constexpr double kMaxProbe = 100;

double read_time(const JsonValue& section, std::string_view key, double most, std::vector<Constant>& constants) {
    return read_constant(section, key, Dimension::kSeconds, 0, most, kRole, constants);
}

double read_rate(const JsonValue& section, std::string_view key, std::vector<Constant>& constants) {
    return read_constant(section, key, Dimension::kBytesPerSecond, kMinRate, kMaxRate, kRole, constants);
}

MessageCosts read_message_costs(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only(
        {"send", "receive", "send_byte", "receive_byte", "eager", "rendezvous", "latency", "at_once", "burst"});
    MessageCosts costs;
    costs.send_s = read_time(section, "send", kMaxMessage, constants);
    costs.receive_s = read_time(section, "receive", kMaxMessage, constants);
    costs.send_byte_s = read_time(section, "send_byte", kMaxPerByte, constants);
    costs.receive_byte_s = read_time(section, "receive_byte", kMaxPerByte, constants);
    costs.eager_bytes = read_constant(section, "eager", Dimension::kBytes, 0, kMaxEager, kRole, constants);
    costs.rendezvous_s = read_time(section, "rendezvous", kMaxMessage, constants);
    costs.latency_s = read_time(section, "latency", kMaxMessage, constants);
    if (section.find("burst")) {
        costs.burst_bytes = read_constant(section, "burst", Dimension::kBytes, 0, kMaxEager, kRole, constants);
    }
    if (section.find("at_once")) {
        costs.buffered_bytes = read_constant(section, "at_once", Dimension::kBytes, 0, kMaxEager, kRole, constants);
    }
    return costs;
}

void read_messages(const JsonValue& section, int max_nodes, CpuModel& cpu, std::vector<Constant>& constants) {
    section.allow_only({"near", "far"});
    cpu.intra_node = read_message_costs(section.at("near"), constants);
    if (max_nodes > 1) {
        cpu.inter_node = read_message_costs(section.at("far"), constants);
    } else if (const auto messages = section.find("far")) {
        messages->fail("no such key where fabric.max_nodes is 1: no message leaves the node");
    }
}

/// Source and kind that a kernel's terms share.
struct Provenance {
    std::string source;
    ConstantKind kind = ConstantKind::kAssumed;
};

std::optional<Provenance> read_provenance(const JsonValue& entry) {
    if (!entry.find("source") && !entry.find("kind")) {
        return std::nullopt;
    }
    const JsonValue source = entry.at("source");
    Provenance shared;
    shared.source = source.as_string();
    if (shared.source.empty()) {
        source.fail("where the numbers come from");
    }
    shared.kind = static_cast<ConstantKind>(
        entry.at("kind").as_one_of({"measured", "specified", "derived", "assumed", "fitted"}));
    return shared;
}

/// Terms whose size in one call is in the thousands or millions.
constexpr std::array<std::string_view, 11> kElementTerms{"far_byte", "product", "element", "output", "left", "right",
                                                         "weight",   "inner",   "hidden",  "score",  "byte"};

double most_seconds(std::string_view term) {
    const bool is_small = std::find(kElementTerms.begin(), kElementTerms.end(), term) != kElementTerms.end();
    return is_small ? kMaxPerElement : kMaxPerUnit;
}

/// A constant, or {"value", "uncertainty"} whose source and kind are the kernel's.
double read_term(const JsonValue& entry, std::string_view term, const std::optional<Provenance>& shared,
                 std::vector<Constant>& constants) {
    const JsonValue value = entry.at(term);
    if (!shared || !value.is_object() || value.find("source") || value.find("kind")) {
        return read_time(entry, term, most_seconds(term), constants);
    }
    value.allow_only({"value", "uncertainty"});
    Constant constant;
    constant.path = std::string(kRole) + "." + value.path();
    constant.value = value.at("value").as_quantity(Dimension::kSeconds, 0, most_seconds(term));
    constant.dimension = Dimension::kSeconds;
    constant.high = most_seconds(term);
    constant.kind = shared->kind;
    constant.source = shared->source;
    constant.relative_uncertainty = value.at("uncertainty").as_number(0, 10);
    constants.push_back(constant);
    return constant.value;
}

/// allow_only for keys known only at run time.
void allow_keys(const JsonValue& object, const std::vector<std::string_view>& allowed) {
    for (const std::string& key : object.keys()) {
        if (key == "comment" || key.starts_with('$') ||
            std::find(allowed.begin(), allowed.end(), key) != allowed.end()) {
            continue;
        }
        std::string list;
        for (const std::string_view word : allowed) {
            list += (list.empty() ? "" : ", ") + std::string(word);
        }
        throw InputError(object.where(), "found the unknown key " + json_quote(key) + "; allowed: " + list);
    }
}

CpuKernelCost read_kernel_cost(const JsonValue& entry, CpuKernel kernel, std::vector<Constant>& constants) {
    const auto terms = cpu_terms(kernel);
    std::vector<std::string_view> keys(terms.begin(), terms.end());
    keys.insert(keys.end(), {"source", "kind", "error", "far_byte", "reach"});
    allow_keys(entry, keys);
    const std::optional<Provenance> shared = read_provenance(entry);
    CpuKernelCost cost;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        cost.seconds_per.at(i) = read_term(entry, terms[i], shared, constants);
    }
    if (entry.find("far_byte")) {
        cost.miss_byte_s = read_term(entry, "far_byte", shared, constants);
    }
    if (entry.find("reach")) {
        cost.capacity_bytes = read_constant(entry, "reach", Dimension::kBytes, kMinCache, kMaxCache, kRole, constants);
    }
    cost.relative_error = entry.at("error").as_number(0, 10);
    cost.known = true;
    return cost;
}

std::array<CpuKernelCost, kCpuKernels> read_kernel_costs(const JsonValue& section, std::vector<Constant>& constants) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        names.push_back(to_string(static_cast<CpuKernel>(i)));
    }
    allow_keys(section, names);
    std::array<CpuKernelCost, kCpuKernels> costs{};
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        if (const auto entry = section.find(names[i])) {
            costs[i] = read_kernel_cost(*entry, static_cast<CpuKernel>(i), constants);
        }
    }
    return costs;
}

void read_kernels(const JsonValue& section, CpuModel& cpu, std::vector<Constant>& constants) {
    section.allow_only({"fp32", "bf16"});
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        if (const auto costs = section.find(to_string(precision))) {
            cpu.kernel_costs[static_cast<std::size_t>(precision)] = read_kernel_costs(*costs, constants);
        }
    }
}

/// A time slice in seconds: 0, or one that an operating system can have.
double read_slice(const JsonValue& section, std::vector<Constant>& constants) {
    const double slice = read_time(section, "core_slice", kMaxSlice, constants);
    if (slice > 0 && slice < kMinSlice) {
        section.at("core_slice")
            .fail("0 s, or from " + format_quantity(kMinSlice, Dimension::kSeconds) + " to " +
                  format_quantity(kMaxSlice, Dimension::kSeconds));
    }
    return slice;
}

}  // namespace

CpuModel read_cpu_section(const JsonValue& section, int max_nodes, std::vector<Constant>& constants) {
    section.allow_only({"cores", "nodes_per_computer", "core_slice", "switch", "poll", "core_reach", "refill_byte",
                        "fresh_share", "busy_speed", "last_level_cache", "cache_bandwidth", "memory_bandwidth",
                        "core_memory_bandwidth", "probe", "background_load", "messages", "kernels"});
    CpuModel cpu;
    cpu.cores = static_cast<int>(section.at("cores").as_integer(1, kMaxCores));
    cpu.nodes_per_computer = static_cast<int>(section.at("nodes_per_computer").as_integer(1, max_nodes));
    cpu.quantum_s = read_slice(section, constants);
    cpu.context_switch_s = read_time(section, "switch", kMaxSwitch, constants);
    cpu.poll_s = read_time(section, "poll", kMaxSwitch, constants);
    if (section.find("refill_byte") || section.find("core_reach")) {
        cpu.core_capacity_bytes =
            read_constant(section, "core_reach", Dimension::kBytes, kMinCache, kMaxCache, kRole, constants);
        cpu.reload_byte_s = read_time(section, "refill_byte", kMaxPerByte, constants);
        if (section.find("fresh_share")) {
            cpu.fresh_share = read_constant(section, "fresh_share", Dimension::kNone, 0, 1, kRole, constants);
        }
    }
    cpu.busy_speed = read_constant(section, "busy_speed", Dimension::kNone, 0.1, 1, kRole, constants);
    cpu.cache_bytes =
        read_constant(section, "last_level_cache", Dimension::kBytes, kMinCache, kMaxCache, kRole, constants);
    cpu.cache_bytes_per_s = read_rate(section, "cache_bandwidth", constants);
    cpu.memory_bytes_per_s = read_rate(section, "memory_bandwidth", constants);
    cpu.core_memory_bytes_per_s = read_rate(section, "core_memory_bandwidth", constants);
    std::vector<Constant> unused;  // no prediction depends on these, so they join no list of constants
    if (section.find("background_load")) {
        cpu.background_load = read_constant(section, "background_load", Dimension::kNone, 0, 1, kRole, unused);
    }
    if (section.find("probe")) {
        cpu.probe_s = read_time(section, "probe", kMaxProbe, unused);
    }
    read_messages(section.at("messages"), max_nodes, cpu, constants);
    read_kernels(section.at("kernels"), cpu, constants);
    return cpu;
}

}  // namespace auspex::models
