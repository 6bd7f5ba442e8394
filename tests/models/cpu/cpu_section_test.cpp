/// @file The host section of machine files: every number arrives in its field with its provenance, and slips are
/// refused by path.
#include "models/cpu/cpu_section.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/machine.hpp"

namespace auspex::models {
namespace {

constexpr const char* kPath = R"({"send": "1.5 us", "receive": "2.5 us", "send_byte": "120 ps", "receive_byte": "0 s",
    "eager": {"value": "4 KiB", "source": "a test", "kind": "specified"}, "rendezvous": "3.5 us", "latency": "0 s"})";

/// Laws of all kernels: term t of every kernel takes (t + 1) ps, under a source that the kernel gives once.
std::string laws() {
    std::string text;
    for (std::size_t k = 0; k < kCpuKernels; ++k) {
        const auto kernel = static_cast<CpuKernel>(k);
        text += (text.empty() ? "{\"" : ", \"") + std::string(to_string(kernel)) +
                R"(": {"source": "a bench", "kind": "fitted", "error": 0.03)";
        int picoseconds = 0;
        for (const std::string_view term : cpu_terms(kernel)) {
            text += ", \"" + std::string(term) + R"(": {"value": ")" + std::to_string(++picoseconds) +
                    R"( ps", "uncertainty": 0.04})";
        }
        text += "}";
    }
    return text + "}";
}

std::string host_text() {
    return R"({"comment": "of a test", "cores": 2, "nodes_per_computer": 2, "core_slice": "3 ms", "switch": "1.25 us",
        "poll": "0.5 us", "busy_speed": 0.96, "last_level_cache": {"value": "32 MiB", "source": "sysfs", "kind": "specified"},
        "cache_bandwidth": "150 GB/s", "memory_bandwidth": "40 GB/s", "core_memory_bandwidth": "25 GB/s",
        "probe": {"value": "812.5 us", "source": "a probe", "kind": "measured"},
        "messages": {"near": )" +
           std::string(kPath) + R"(, "far": )" + kPath + R"(}, "kernels": {"fp32": )" + laws() + R"(, "bf16": )" +
           laws() + "}}";
}

/// A machine of many nodes with that section.
JsonDocument hosts() {
    JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/dgx-a100.json");
    document.set("host", host_text());
    return document;
}

std::string refusal(JsonDocument document, const std::string& path, const std::string& value) {
    document.set(path, value);
    try {
        static_cast<void>(load_machine(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

void expect_refused(const std::string& path, const std::string& value, const std::string& expected) {
    const std::string message = refusal(hosts(), path, value);
    EXPECT_NE(message.find("dgx-a100.json: $.host"), std::string::npos) << path << " = " << value << ": " << message;
    EXPECT_NE(message.find(expected), std::string::npos) << path << " = " << value << " gave: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

const Constant& constant_of(const Machine& machine, const std::string& path) {
    for (const Constant& constant : machine.constants) {
        if (constant.path == path) {
            return constant;
        }
    }
    ADD_FAILURE() << path << " is no constant";
    return machine.constants.front();
}

TEST(CpuSection, a_machine_without_it_has_no_cores_to_share) {
    EXPECT_EQ(load_machine(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/aurora.json")).cpu.cores, 0);
}

TEST(CpuSection, every_number_arrives_in_its_field) {
    const CpuModel cpu = load_machine(hosts()).cpu;
    EXPECT_EQ(cpu.cores, 2);
    EXPECT_EQ(cpu.nodes_per_computer, 2);
    EXPECT_DOUBLE_EQ(cpu.quantum_s, 3e-3);
    EXPECT_DOUBLE_EQ(cpu.context_switch_s, 1.25e-6);
    EXPECT_DOUBLE_EQ(cpu.poll_s, 0.5e-6);
    EXPECT_DOUBLE_EQ(cpu.busy_speed, 0.96);
    EXPECT_DOUBLE_EQ(cpu.cache_bytes, 32.0 * 1024 * 1024);
    EXPECT_DOUBLE_EQ(cpu.cache_bytes_per_s, 150e9);
    EXPECT_DOUBLE_EQ(cpu.memory_bytes_per_s, 40e9);
    EXPECT_DOUBLE_EQ(cpu.core_memory_bytes_per_s, 25e9);
    EXPECT_DOUBLE_EQ(cpu.probe_s, 812.5e-6);
    for (const MessageCosts* costs : {&cpu.intra_node, &cpu.inter_node}) {
        EXPECT_DOUBLE_EQ(costs->send_s, 1.5e-6);
        EXPECT_DOUBLE_EQ(costs->receive_s, 2.5e-6);
        EXPECT_DOUBLE_EQ(costs->send_byte_s, 120e-12);
        EXPECT_EQ(costs->receive_byte_s, 0);
        EXPECT_DOUBLE_EQ(costs->eager_bytes, 4096);
        EXPECT_DOUBLE_EQ(costs->rendezvous_s, 3.5e-6);
        EXPECT_EQ(costs->latency_s, 0);
    }
}

// Term t takes (t + 1) ps, so that a call of sizes s takes sum of (t + 1) ps * s_t.
TEST(CpuSection, every_law_is_read_term_by_term) {
    const CpuModel cpu = load_machine(hosts()).cpu;
    for (const CpuPrecision precision : {CpuPrecision::kFp32, CpuPrecision::kBf16}) {
        for (std::size_t k = 0; k < kCpuKernels; ++k) {
            const CpuKernelCost& cost = cpu.kernel_costs.at(static_cast<std::size_t>(precision)).at(k);
            ASSERT_TRUE(cost.known) << k;
            EXPECT_DOUBLE_EQ(cost.relative_error, 0.03);
            const std::size_t terms = cpu_terms(static_cast<CpuKernel>(k)).size();
            for (std::size_t t = 0; t < kMaxCpuTerms; ++t) {
                EXPECT_DOUBLE_EQ(cost.seconds_per.at(t), t < terms ? static_cast<double>(t + 1) * 1e-12 : 0) << k;
            }
        }
    }
    CpuCall copy;
    copy.columns = 1e6;
    EXPECT_DOUBLE_EQ(cpu_seconds(cpu, copy, CpuPrecision::kFp32), 1e-12 * 1 + 2e-12 * 1e6);
}

// Far bytes take far_byte each as far as they miss: a line from 0 at the reach to 1 at twice that, of the core's set
// and of the computer's against the last-level cache, whichever is more.
TEST(CpuSection, operands_miss_where_sets_are_larger_than_their_reach) {
    JsonDocument document = hosts();
    document.set("host.kernels.fp32.copy.far_byte", "\"40 ps\"");
    document.set("host.kernels.fp32.copy.reach", "\"8 MB\"");
    const CpuModel cpu = load_machine(document).cpu;
    const auto& laws = cpu.kernel_costs.front();
    const CpuKernelCost& copy = laws.at(static_cast<std::size_t>(CpuKernel::kCopy));
    EXPECT_DOUBLE_EQ(miss_byte_s(cpu, copy), 40e-12);
    EXPECT_EQ(miss_ratio(cpu, copy, {8e6, 8e6}), 0);
    EXPECT_DOUBLE_EQ(miss_ratio(cpu, copy, {12e6, 12e6}), 0.5);
    EXPECT_EQ(miss_ratio(cpu, copy, {100e6, 100e6}), 1);
    EXPECT_DOUBLE_EQ(miss_ratio(cpu, copy, {1e6, 1.25 * cpu.cache_bytes}), 0.25);
    const CpuKernelCost& add = laws.at(static_cast<std::size_t>(CpuKernel::kAdd));
    EXPECT_DOUBLE_EQ(miss_byte_s(cpu, add), 1 / cpu.core_memory_bytes_per_s);
    EXPECT_EQ(miss_ratio(cpu, add, {cpu.cache_bytes, 0}), 0);
    expect_refused("host.kernels.fp32.copy.reach", "8 ps", "$.host.kernels.fp32.copy.reach");
}

TEST(CpuSection, constants_keep_their_provenance_and_the_kernels_own_is_shared) {
    const Machine machine = load_machine(hosts());
    const Constant& product = constant_of(machine, "machine.host.kernels.bf16.gemm_forward.product");
    EXPECT_DOUBLE_EQ(product.value, 2e-12);
    EXPECT_EQ(product.source, "a bench");
    EXPECT_EQ(product.kind, ConstantKind::kFitted);
    EXPECT_DOUBLE_EQ(product.relative_uncertainty, 0.04);
    EXPECT_EQ(product.dimension, Dimension::kSeconds);
    const Constant& cache = constant_of(machine, "machine.host.last_level_cache");
    EXPECT_EQ(cache.source, "sysfs");
    EXPECT_EQ(cache.kind, ConstantKind::kSpecified);
    EXPECT_EQ(constant_of(machine, "machine.host.poll").kind, ConstantKind::kAssumed);
    EXPECT_EQ(constant_of(machine, "machine.host.messages.far.eager").kind, ConstantKind::kSpecified);
    std::set<std::string> paths;
    for (const Constant& constant : machine.constants) {
        EXPECT_TRUE(paths.insert(constant.path).second) << constant.path << " read twice";
        EXPECT_NE(constant.path, "machine.host.probe") << "no prediction leans on it";
    }
    std::size_t terms = 0;
    for (std::size_t k = 0; k < kCpuKernels; ++k) {
        terms += cpu_terms(static_cast<CpuKernel>(k)).size();
    }
    // 8 of the cores, 7 of each of two paths, and every term twice.
    EXPECT_EQ(
        machine.constants.size(),
        load_machine(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/dgx-a100.json")).constants.size() +
            8 + 2 * 7 + 2 * terms);
}

TEST(CpuSection, a_term_may_have_a_source_of_its_own_or_none) {
    const std::string path = "host.kernels.fp32.zero.byte";
    JsonDocument document = hosts();
    document.set(path, R"({"value": "9 ps", "source": "elsewhere", "kind": "measured"})");
    Machine machine = load_machine(document);
    EXPECT_EQ(constant_of(machine, "machine." + path).source, "elsewhere");
    EXPECT_DOUBLE_EQ(constant_of(machine, "machine." + path).relative_uncertainty, 0.03);
    // A bare quantity is assumed here as everywhere.
    document = hosts();
    document.set("host.kernels.fp32.zero", R"({"source": "s", "kind": "fitted", "error": 0, "start": "0 s",
        "byte": "9 ps"})");
    machine = load_machine(document);
    EXPECT_EQ(constant_of(machine, "machine." + path).kind, ConstantKind::kAssumed);
    EXPECT_DOUBLE_EQ(constant_of(machine, "machine." + path).value, 9e-12);
    // So is what is set on the command line.
    document = hosts();
    document.set(path, "7 ps");
    machine = load_machine(document);
    EXPECT_EQ(constant_of(machine, "machine." + path).kind, ConstantKind::kAssumed);
    EXPECT_EQ(constant_of(machine, "machine." + path).source, "set on the command line");
    EXPECT_DOUBLE_EQ(constant_of(machine, "machine." + path).value, 7e-12);
}

TEST(CpuSection, seventeen_digits_of_a_coefficient_survive) {
    const double value = 8.3123456789012345e-12;
    JsonDocument document = hosts();
    document.set_quantity("host.kernels.fp32.gemm_forward.product", value, Dimension::kSeconds);
    EXPECT_EQ(load_machine(document).cpu.kernel_costs[0][0].seconds_per[1], value);
}

TEST(CpuSection, laws_and_the_probe_may_be_left_out) {
    JsonDocument document = hosts();
    document.set("host.kernels", R"({"fp32": {"zero": {"error": 0.01, "start": "0 s", "byte": "9 ps"}}})");
    const CpuModel cpu = load_machine(document).cpu;
    EXPECT_TRUE(cpu.kernel_costs[0][static_cast<std::size_t>(CpuKernel::kZero)].known);
    EXPECT_FALSE(cpu.kernel_costs[0][static_cast<std::size_t>(CpuKernel::kCopy)].known);
    EXPECT_FALSE(cpu.kernel_costs[1][static_cast<std::size_t>(CpuKernel::kZero)].known);
    document.set("host", R"({"cores": 4, "nodes_per_computer": 1, "core_slice": "0 s", "switch": "0 s", "poll": "0 s",
        "busy_speed": 1, "last_level_cache": "32 MiB", "cache_bandwidth": "150 GB/s", "memory_bandwidth": "40 GB/s",
        "core_memory_bandwidth": "25 GB/s", "messages": {"near": )" +
                             std::string(kPath) + R"(, "far": )" + kPath + R"(}, "kernels": {}})");
    EXPECT_EQ(load_machine(document).cpu.probe_s, 0);
    EXPECT_EQ(load_machine(document).cpu.quantum_s, 0);
}

// Messages between nodes cost something where there are several nodes, and only there.
TEST(CpuSection, far_messages_belong_to_machines_of_several_nodes) {
    JsonDocument alone = hosts();
    alone.set("fabric.max_nodes", "1");
    alone.set("host.nodes_per_computer", "1");
    EXPECT_NE(refusal(alone, "comment", "1").find("$.host.messages.far"), std::string::npos);
    alone.set("host.messages", R"({"near": )" + std::string(kPath) + "}");
    EXPECT_EQ(load_machine(alone).cpu.inter_node.send_s, 0);
    EXPECT_NE(refusal(alone, "host.nodes_per_computer", "2").find("an integer from 1 to 1"), std::string::npos);
    expect_refused("host.messages", R"({"near": )" + std::string(kPath) + "}", "missing key \"far\"");
    expect_refused("host.messages", R"({"far": )" + std::string(kPath) + "}", "missing key \"near\"");
}

TEST(CpuSection, unknown_keys_are_refused_with_the_known_ones) {
    expect_refused("host.colour", "1", "core_slice");
    expect_refused("host.messages.middle", "1", "near, far");
    expect_refused("host.messages.near.colour", "1", "rendezvous");
    expect_refused("host.kernels.fp64", "{}", "fp32, bf16");
    expect_refused("host.kernels.fp32.gemm", "{}", "allowed: gemm_forward, ");
    expect_refused("host.kernels.fp32.zero.product", "\"1 ps\"", "allowed: start, byte, source, kind, error");
}

TEST(CpuSection, missing_keys_are_named) {
    for (const std::string key :
         {"cores", "nodes_per_computer", "core_slice", "switch", "poll", "busy_speed", "last_level_cache",
          "cache_bandwidth", "memory_bandwidth", "core_memory_bandwidth", "messages", "kernels"}) {
        std::string text = host_text();
        text.replace(text.find("\"" + key + "\""), key.size() + 2, "\"$" + key + "\"");
        expect_refused("host", text, "missing key \"" + key + "\"");
    }
    for (const std::string key : {"send", "receive", "send_byte", "receive_byte", "eager", "rendezvous", "latency"}) {
        std::string text = kPath;
        text.replace(text.find("\"" + key + "\""), key.size() + 2, "\"$" + key + "\"");
        expect_refused("host.messages.near", text, "missing key \"" + key + "\"");
    }
    const std::string zero = "host.kernels.fp32.zero";
    expect_refused(zero, R"({"error": 0, "start": "0 s"})", "missing key \"byte\"");
    expect_refused(zero, R"({"start": "0 s", "byte": "1 ps"})", "missing key \"error\"");
    expect_refused(zero, R"({"kind": "fitted", "error": 0, "start": "0 s", "byte": "1 ps"})", "missing key \"source\"");
    expect_refused(zero, R"({"source": "s", "error": 0, "start": "0 s", "byte": "1 ps"})", "missing key \"kind\"");
    // Without a source of the kernel each term needs its own; with one, an uncertainty.
    expect_refused(zero, R"({"error": 0, "start": "0 s", "byte": {"value": "1 ps", "uncertainty": 0.1}})",
                   "missing key \"source\"");
    expect_refused(zero + ".byte", R"({"value": "1 ps"})", "missing key \"uncertainty\"");
}

TEST(CpuSection, slips_of_a_unit_are_refused_by_path) {
    expect_refused("host.cores", "0", "$.host.cores");
    expect_refused("host.cores", "2.5", "$.host.cores");
    expect_refused("host.nodes_per_computer", "0", "$.host.nodes_per_computer");
    expect_refused("host.core_slice", "3 us", "0 s, or from 10 us to 1 s");
    expect_refused("host.core_slice", "3 s", "$.host.core_slice");
    expect_refused("host.switch", "1 s", "$.host.switch");
    expect_refused("host.poll", "1 s", "$.host.poll");
    expect_refused("host.busy_speed", "96", "from 0.1 to 1");
    expect_refused("host.last_level_cache", "32 B", "$.host.last_level_cache");
    expect_refused("host.cache_bandwidth", "150 B/s", "$.host.cache_bandwidth");
    expect_refused("host.memory_bandwidth", "40 KB/s", "$.host.memory_bandwidth");
    expect_refused("host.core_memory_bandwidth", "25 PB/s", "$.host.core_memory_bandwidth");
    expect_refused("host.probe", "812 s", "$.host.probe");
    expect_refused("host.messages.near.send", "1.5 s", "$.host.messages.near.send");
    expect_refused("host.messages.far.send_byte", "120 us", "$.host.messages.far.send_byte");
    expect_refused("host.messages.far.eager", "4 TB", "$.host.messages.far.eager");
    expect_refused("host.kernels.fp32.gemm_forward.product", "8.31 us", "from 0 s to 1 us");
    expect_refused("host.kernels.fp32.gemm_forward.start", "1 s", "from 0 s to 10 ms");
    expect_refused("host.kernels.fp32.gemm_forward.error", "-0.1", "$.host.kernels.fp32.gemm_forward.error");
    expect_refused("host.kernels.fp32.zero.source", "\"\"", "where the numbers come from");
    expect_refused("host.kernels.fp32.zero.kind", "\"guessed\"", "\"measured\"");
}

TEST(CpuSection, every_constant_is_refused_when_negative_or_in_another_unit) {
    const JsonDocument document = hosts();
    for (const Constant& constant : load_machine(document).constants) {
        if (!constant.path.starts_with("machine.host.") || constant.path.starts_with("machine.host.kernels.bf16")) {
            continue;
        }
        const std::string path = constant.path.substr(std::string("machine.").size());
        const bool plain = constant.dimension == Dimension::kNone;
        for (const std::string& value : {plain ? std::string("-1") : exact_quantity(-1, constant.dimension),
                                         std::string(plain ? "\"1 GB/s\"" : "1 W"), std::string("true")}) {
            const std::string message = refusal(document, path, value);
            EXPECT_NE(message.find("$." + path), std::string::npos) << path << " = " << value << " gave: " << message;
        }
    }
}

}  // namespace
}  // namespace auspex::models
