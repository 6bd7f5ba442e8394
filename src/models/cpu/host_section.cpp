/// @file Reads cores, caches, message costs and the laws of kernels, each constant with its provenance.
#include "models/cpu/host_section.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace auspex {
namespace {

constexpr const char* kRole = "machine";

// Ranges refuse slips of a unit; every one is far wider than any computer's.
constexpr std::int64_t kMostCores = 4096;
constexpr double kLeastSlice = 1e-5, kMostSlice = 1;
constexpr double kMostSwitch = 0.01;
constexpr double kLeastCache = 65'536, kMostCache = 1e12;
constexpr double kLeastRate = 1e8, kMostRate = 1e14;
constexpr double kMostMessage = 0.1;
constexpr double kMostPerByte = 1e-7;
constexpr double kMostEager = 1e9;
constexpr double kMostPerUnit = 0.01;
constexpr double kMostPerElement = 1e-6;
constexpr double kMostProbe = 100;

double read_time(const JsonValue& section, std::string_view key, double most, std::vector<Constant>& constants) {
    return read_constant(section, key, Dimension::kSeconds, 0, most, kRole, constants);
}

double read_rate(const JsonValue& section, std::string_view key, std::vector<Constant>& constants) {
    return read_constant(section, key, Dimension::kBytesPerSecond, kLeastRate, kMostRate, kRole, constants);
}

MessagePath read_path(const JsonValue& section, std::vector<Constant>& constants) {
    section.allow_only(
        {"send", "receive", "send_byte", "receive_byte", "eager", "rendezvous", "latency", "at_once", "burst"});
    MessagePath path;
    path.send_s = read_time(section, "send", kMostMessage, constants);
    path.receive_s = read_time(section, "receive", kMostMessage, constants);
    path.send_byte_s = read_time(section, "send_byte", kMostPerByte, constants);
    path.receive_byte_s = read_time(section, "receive_byte", kMostPerByte, constants);
    path.eager_bytes = read_constant(section, "eager", Dimension::kBytes, 0, kMostEager, kRole, constants);
    path.rendezvous_s = read_time(section, "rendezvous", kMostMessage, constants);
    path.latency_s = read_time(section, "latency", kMostMessage, constants);
    if (section.find("burst")) {
        path.burst_bytes = read_constant(section, "burst", Dimension::kBytes, 0, kMostEager, kRole, constants);
    }
    if (section.find("at_once")) {
        path.at_once_bytes = read_constant(section, "at_once", Dimension::kBytes, 0, kMostEager, kRole, constants);
    }
    return path;
}

void read_messages(const JsonValue& section, int max_nodes, Host& host, std::vector<Constant>& constants) {
    section.allow_only({"near", "far"});
    host.near = read_path(section.at("near"), constants);
    if (max_nodes > 1) {
        host.far = read_path(section.at("far"), constants);
    } else if (const auto far = section.find("far")) {
        far->fail("no such key where fabric.max_nodes is 1: no message leaves the node");
    }
}

/// What a kernel's terms have in common.
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

/// Terms of which a call has thousands and millions.
constexpr std::array<std::string_view, 11> kElementTerms{"far_byte", "product", "element", "output", "left", "right",
                                                         "weight",   "inner",   "hidden",  "score",  "byte"};

double most_seconds(std::string_view term) {
    const bool is_small = std::find(kElementTerms.begin(), kElementTerms.end(), term) != kElementTerms.end();
    return is_small ? kMostPerElement : kMostPerUnit;
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
    constant.kind = shared->kind;
    constant.source = shared->source;
    constant.relative_uncertainty = value.at("uncertainty").as_number(0, 10);
    constants.push_back(constant);
    return constant.value;
}

/// allow_only for keys that are known when the program runs.
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

CpuLaw read_law(const JsonValue& entry, CpuKernel kernel, std::vector<Constant>& constants) {
    const auto terms = cpu_terms(kernel);
    std::vector<std::string_view> keys(terms.begin(), terms.end());
    keys.insert(keys.end(), {"source", "kind", "error", "far_byte", "reach"});
    allow_keys(entry, keys);
    const std::optional<Provenance> shared = read_provenance(entry);
    CpuLaw law;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        law.seconds_per.at(i) = read_term(entry, terms[i], shared, constants);
    }
    if (entry.find("far_byte")) {
        law.far_byte_s = read_term(entry, "far_byte", shared, constants);
    }
    if (entry.find("reach")) {
        law.reach_bytes = read_constant(entry, "reach", Dimension::kBytes, kLeastCache, kMostCache, kRole, constants);
    }
    law.relative_error = entry.at("error").as_number(0, 10);
    law.known = true;
    return law;
}

std::array<CpuLaw, kCpuKernels> read_laws(const JsonValue& section, std::vector<Constant>& constants) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        names.push_back(to_string(static_cast<CpuKernel>(i)));
    }
    allow_keys(section, names);
    std::array<CpuLaw, kCpuKernels> laws{};
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        if (const auto entry = section.find(names[i])) {
            laws[i] = read_law(*entry, static_cast<CpuKernel>(i), constants);
        }
    }
    return laws;
}

void read_kernels(const JsonValue& section, Host& host, std::vector<Constant>& constants) {
    section.allow_only({"fp32", "bf16"});
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        if (const auto laws = section.find(to_string(precision))) {
            host.laws[static_cast<std::size_t>(precision)] = read_laws(*laws, constants);
        }
    }
}

/// 0, or long enough for an operating system.
double read_slice(const JsonValue& section, std::vector<Constant>& constants) {
    const double slice = read_time(section, "core_slice", kMostSlice, constants);
    if (slice > 0 && slice < kLeastSlice) {
        section.at("core_slice")
            .fail("0 s, or from " + format_quantity(kLeastSlice, Dimension::kSeconds) + " to " +
                  format_quantity(kMostSlice, Dimension::kSeconds));
    }
    return slice;
}

}  // namespace

Host read_host(const JsonValue& section, int max_nodes, std::vector<Constant>& constants) {
    section.allow_only({"cores", "nodes_per_computer", "core_slice", "switch", "poll", "core_reach", "refill_byte",
                        "busy_speed", "last_level_cache", "cache_bandwidth", "memory_bandwidth",
                        "core_memory_bandwidth", "probe", "messages", "kernels"});
    Host host;
    host.cores = static_cast<int>(section.at("cores").as_integer(1, kMostCores));
    host.nodes_per_computer = static_cast<int>(section.at("nodes_per_computer").as_integer(1, max_nodes));
    host.core_slice_s = read_slice(section, constants);
    host.switch_s = read_time(section, "switch", kMostSwitch, constants);
    host.poll_s = read_time(section, "poll", kMostSwitch, constants);
    if (section.find("refill_byte") || section.find("core_reach")) {
        host.core_reach_bytes =
            read_constant(section, "core_reach", Dimension::kBytes, kLeastCache, kMostCache, kRole, constants);
        host.refill_byte_s = read_time(section, "refill_byte", kMostPerByte, constants);
    }
    host.busy_speed = read_constant(section, "busy_speed", Dimension::kNone, 0.1, 1, kRole, constants);
    host.cache_bytes =
        read_constant(section, "last_level_cache", Dimension::kBytes, kLeastCache, kMostCache, kRole, constants);
    host.cache_bytes_per_s = read_rate(section, "cache_bandwidth", constants);
    host.memory_bytes_per_s = read_rate(section, "memory_bandwidth", constants);
    host.core_memory_bytes_per_s = read_rate(section, "core_memory_bandwidth", constants);
    if (section.find("probe")) {
        // No prediction leans on it, so it joins no list of constants.
        std::vector<Constant> unused;
        host.probe_s = read_time(section, "probe", kMostProbe, unused);
    }
    read_messages(section.at("messages"), max_nodes, host, constants);
    read_kernels(section.at("kernels"), host, constants);
    return host;
}

}  // namespace auspex
