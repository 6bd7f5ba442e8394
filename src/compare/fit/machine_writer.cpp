/// @file Writes the sections of a machine file, every number with value, source, kind and uncertainty.
#include "compare/fit/machine_writer.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/units.hpp"

namespace auspex::fit {
namespace {

std::string time_text(double s) { return json_quote(in_unit(s, Dimension::kSeconds)); }
std::string rate_text(double bytes_per_s) { return json_quote(in_unit(bytes_per_s, Dimension::kBytesPerSecond)); }
std::string bytes_text(double bytes) { return json_quote(in_unit(bytes, Dimension::kBytes)); }

/// Lines "key": {…} of one object, with commas between them.
class Object {
 public:
    Object(std::string indent, const FittedCpu& cpu) : indent_(std::move(indent)), host_(cpu) {}

    Object& plain(std::string_view key, const std::string& json) {
        out_ += (out_.empty() ? "" : ",\n") + indent_ + json_quote(key) + ": " + json;
        return *this;
    }
    Object& number(std::string_view key, const FittedNumber& number, const std::string& value) {
        const bool is_made_here = number.kind != ConstantKind::kAssumed && number.kind != ConstantKind::kSpecified;
        const std::string source =
            is_made_here ? "auspex calibrate on " + host_.computer + ": " + number.how : number.how;
        return plain(key, "{\"value\": " + value + ", \"source\": " + json_quote(source) +
                              ", \"kind\": " + json_quote(to_string(number.kind)) +
                              ", \"uncertainty\": " + six_digits(relative_uncertainty(number)) + "}");
    }
    Object& time(std::string_view key, const FittedNumber& n) { return number(key, n, time_text(n.value)); }
    Object& rate(std::string_view key, const FittedNumber& n) { return number(key, n, rate_text(n.value)); }
    Object& assumed(std::string_view key, const std::string& value, std::string_view why) {
        return plain(key, "{\"value\": " + value + ", \"source\": " + json_quote(why) + ", \"kind\": \"assumed\"}");
    }
    [[nodiscard]] std::string text() const { return "{\n" + out_ + "\n" + indent_.substr(0, indent_.size() - 2) + "}"; }

 private:
    std::string indent_, out_;
    const FittedCpu& host_;
};

const FittedKernelCost* kernel_cost_of(const FittedCpu& cpu, models::CpuKernel kernel, models::CpuPrecision precision) {
    const auto law =
        std::find_if(cpu.kernel_costs.begin(), cpu.kernel_costs.end(), [&](const FittedKernelCost& candidate) {
            return candidate.kernel == kernel && candidate.precision == precision;
        });
    return law == cpu.kernel_costs.end() ? nullptr : &*law;
}

/// A law, of fp32 where there is one.
const FittedKernelCost* kernel_cost_of(const FittedCpu& cpu, models::CpuKernel kernel) {
    const FittedKernelCost* const fp32 = kernel_cost_of(cpu, kernel, models::CpuPrecision::kFp32);
    return fp32 != nullptr ? fp32 : kernel_cost_of(cpu, kernel, models::CpuPrecision::kBf16);
}

/// A number that a law gives for one call: it is as uncertain as the law's residuals.
FittedNumber from_kernel_costs(double value, double relative_error, const std::string& how) {
    return {estimate_of_95(value, relative_error * value), ConstantKind::kDerived, how};
}

/// FLOP a second of a large square product by the law; that of the other precision where this one has no law.
FittedNumber product_rate(const FittedCpu& cpu, models::CpuPrecision precision) {
    constexpr double kSide = 512, kFlop = 2 * kSide * kSide * kSide;
    const models::CpuCall call{models::CpuKernel::kGemmForward, kSide, kSide, kSide};
    const FittedKernelCost* const own = kernel_cost_of(cpu, call.kernel, precision);
    const FittedKernelCost* const cost = own != nullptr ? own : kernel_cost_of(cpu, call.kernel);
    if (cost == nullptr) {
        throw InputError("measurements", "found no law of gemm_forward; expected timings of it from the cache");
    }
    return from_kernel_costs(
        kFlop / cpu_seconds(cpu_model_of(cpu), call, cost->precision), cost->relative_error,
        "a product of 512 x 512 x 512 by the law of gemm_forward, " + std::string(to_string(cost->precision)));
}

/// FLOP of causal attention a second over those of a product, one sequence of 256 with heads of 64.
FittedNumber attention_efficiency(const FittedCpu& cpu) {
    constexpr double kSequence = 256, kHead = 64, kHeads = 4;
    constexpr double kFlop = 2 * kSequence * kSequence * kHead * kHeads;
    const models::CpuCall call{models::CpuKernel::kAttentionForward, kSequence, 1, kHead, kHeads};
    const FittedKernelCost* const cost = kernel_cost_of(cpu, call.kernel);
    if (cost == nullptr) {
        return {{0.5, 0.2, 0.8}, ConstantKind::kAssumed, "attention was not timed"};
    }
    const double product_flop_per_s = product_rate(cpu, cost->precision).value;
    const double share = kFlop / cpu_seconds(cpu_model_of(cpu), call, cost->precision) / product_flop_per_s;
    const FittedKernelCost* const product = kernel_cost_of(cpu, models::CpuKernel::kGemmForward);
    return from_kernel_costs(std::clamp(share, 0.02, 1.0), std::hypot(cost->relative_error, product->relative_error),
                             "the law of attention_forward over that of products");
}

std::string tile_text(const FittedCpu& cpu) {
    const FittedNumber fp32 = product_rate(cpu, models::CpuPrecision::kFp32),
                       bf16 = product_rate(cpu, models::CpuPrecision::kBf16);
    const auto flop = [](const FittedNumber& n) { return json_quote(in_unit(n.value, Dimension::kFlopPerSecond)); };
    Object tile("    ", cpu);
    tile.plain("comment", json_quote("A tile is a rank with a core of its own, for the lenses that know no cores."));
    tile.plain("name", json_quote("one core of " + cpu.computer));
    tile.number("peak_bf16", bf16, flop(bf16)).number("gemm_bf16", bf16, flop(bf16));
    tile.number("gemm_fp32", fp32, flop(fp32)).number("vector_fp32", fp32, flop(fp32));
    tile.rate("hbm_bandwidth", scaled(cpu.memory_bytes_per_s, 1.0 / cpu.cores));
    tile.plain("hbm_capacity", "{\"value\": " + bytes_text(cpu.memory_bytes) +
                                   ", \"source\": \"memory of the computer, which any one rank may use\", \"kind\": "
                                   "\"specified\"}");
    tile.assumed("reserved", "\"0 B\"", "what the operating system keeps is not counted");
    tile.plain("cores", "1").plain("gemm_tile_m", "16").plain("gemm_tile_n", "16");
    tile.assumed("gemm_half_depth", "0", "in the rate of products");
    tile.assumed("gemm_small_block", "1", "in the rate of products");
    tile.assumed("gemm_ceiling", "1", "in the rate of products");
    const FittedNumber attention = attention_efficiency(cpu);
    tile.number("attention_efficiency", attention, six_digits(attention.value));
    tile.assumed("memory_efficiency", "1", "the bandwidth is one that kernels reach");
    tile.assumed("kernel_launch", "\"200 ns\"", "a function call and its first lines; each law has its own start");
    tile.assumed("speed_sigma", "0", "cores of one computer").assumed("speed_worst", "1", "cores of one computer");
    tile.assumed("collective_compute_share", "0", "nothing computes beside a message");
    return tile.text();
}

std::string node_text(const FittedCpu& cpu) {
    const FittedMessageCosts& near = cpu.intra_node;
    const FittedNumber rate = inverse_of(sum_of(near.send_byte_s, near.receive_byte_s, ""), ConstantKind::kDerived,
                                         "what both sides of a message between two processes spend on a byte");
    const FittedNumber latency =
        sum_of(near.send_s, near.receive_s, "what both sides of a message between two processes spend on it");
    Object nic("      ", cpu);
    nic.plain("count", "1").rate("bandwidth", cpu.nic_bytes_per_s).plain("attachment", "\"device\"");
    nic.time("latency", cpu.inter_node ? cpu.inter_node->latency_s : latency);
    Object node("    ", cpu);
    node.plain("tiles", std::to_string(cpu.ranks_per_node)).plain("tiles_per_card", "1").plain("sockets", "1");
    node.plain("scale_up", "\"switch\"").rate("switch_bandwidth", rate).time("scale_up_latency", latency);
    for (const char* key : {"pcie_bandwidth", "socket_bandwidth_out", "socket_bandwidth_in"}) {
        node.rate(key, cpu.memory_bytes_per_s);
    }
    return node.plain("nic", nic.text()).text();
}

std::string fabric_text(const FittedCpu& cpu) {
    Object fabric("    ", cpu);
    fabric.plain("comment", json_quote("One switch that is never full."));
    fabric.plain("kind", "\"fat-tree\"").plain("levels", "2").rate("link_bandwidth", cpu.nic_bytes_per_s);
    fabric.assumed("switch_latency", "\"0 s\"", "in the latency of messages");
    fabric.plain("nodes_per_leaf", std::to_string(cpu.nodes));
    fabric.assumed("taper", "1", "one switch").plain("max_nodes", std::to_string(cpu.nodes));
    return fabric.plain("routing", "\"adaptive\"").text();
}

std::string path_text(const FittedMessageCosts& costs, const FittedCpu& cpu) {
    Object object("        ", cpu);
    object.time("send", costs.send_s).time("receive", costs.receive_s);
    object.time("send_byte", costs.send_byte_s).time("receive_byte", costs.receive_byte_s);
    object.number("eager", costs.eager_bytes, bytes_text(costs.eager_bytes.value));
    if (costs.buffered_bytes) {
        object.number("at_once", *costs.buffered_bytes, bytes_text(costs.buffered_bytes->value));
    }
    if (costs.burst_bytes && costs.burst_bytes->value > 0) {
        object.number("burst", *costs.burst_bytes, bytes_text(costs.burst_bytes->value));
    }
    return object.time("rendezvous", costs.rendezvous_s).time("latency", costs.latency_s).text();
}

std::string kernel_cost_text(const FittedKernelCost& cost, const FittedCpu& cpu) {
    const auto names = cpu_terms(cost.kernel);
    Object object("          ", cpu);
    object.plain("source", json_quote("auspex calibrate on " + cpu.computer + ": " + cost.terms.front().how));
    object.plain("kind", "\"fitted\"").plain("error", six_digits(cost.relative_error));
    for (std::size_t i = 0; i < cost.terms.size(); ++i) {
        object.plain(names[i], "{\"value\": " + time_text(cost.terms[i].value) +
                                   ", \"uncertainty\": " + six_digits(relative_uncertainty(cost.terms[i])) + "}");
    }
    if (cost.miss_byte_s) {
        object.time("far_byte", *cost.miss_byte_s);
    }
    if (cost.capacity_bytes) {
        object.number("reach", *cost.capacity_bytes, bytes_text(cost.capacity_bytes->value));
    }
    return object.text();
}

std::string kernels_text(const FittedCpu& cpu) {
    Object kernels("      ", cpu);
    for (const models::CpuPrecision precision : {models::CpuPrecision::kFp32, models::CpuPrecision::kBf16}) {
        Object laws("        ", cpu);
        bool has_any = false;
        for (const FittedKernelCost& cost : cpu.kernel_costs) {
            if (cost.precision == precision) {
                laws.plain(to_string(cost.kernel), kernel_cost_text(cost, cpu));
                has_any = true;
            }
        }
        if (has_any) {
            kernels.plain(to_string(precision), laws.text());
        }
    }
    return kernels.text();
}

std::string cpu_section_text(const FittedCpu& cpu) {
    Object messages("      ", cpu);
    messages.plain("near", path_text(cpu.intra_node, cpu));
    if (cpu.inter_node) {
        messages.plain("far", path_text(*cpu.inter_node, cpu));
    }
    Object object("    ", cpu);
    object.plain("cores", std::to_string(cpu.cores));
    object.plain("nodes_per_computer", std::to_string(cpu.nodes_per_computer));
    object.time("core_slice", cpu.quantum_s).time("switch", cpu.context_switch_s).time("poll", cpu.poll_s);
    if (cpu.reload_byte_s.value > 0) {
        object.number("core_reach", cpu.core_capacity_bytes, bytes_text(cpu.core_capacity_bytes.value));
        object.time("refill_byte", cpu.reload_byte_s);
        object.assumed("fresh_share", six_digits(models::CpuModel{}.fresh_share),
                       "of what a kernel reads in caches, half has just been written by the one before: not measured");
    }
    object.number("busy_speed", cpu.busy_speed, six_digits(cpu.busy_speed.value));
    object.number("last_level_cache", cpu.cache_bytes, bytes_text(cpu.cache_bytes.value));
    object.rate("cache_bandwidth", cpu.cache_bytes_per_s).rate("memory_bandwidth", cpu.memory_bytes_per_s);
    object.rate("core_memory_bandwidth", cpu.core_memory_bytes_per_s).time("probe", cpu.probe_s);
    if (cpu.background_load.value > 0) {
        object.number("background_load", cpu.background_load, six_digits(cpu.background_load.value));
    }
    return object.plain("messages", messages.text()).plain("kernels", kernels_text(cpu)).text();
}

std::string other_sections(const FittedCpu& cpu) {
    Object noise("    ", cpu), storage("    ", cpu), reliability("    ", cpu);
    noise.assumed("os_event_rate", "\"0 Hz\"", "in the laws: they are medians of timings under this system");
    noise.assumed("os_event_length", "\"0 s\"", "in the laws");
    noise.assumed("network_jitter", "0", "in the costs of messages");
    for (const char* key : {"write_bandwidth", "read_bandwidth"}) {
        storage.assumed(key, "\"1 GB/s\"", "a disk: not measured");
    }
    reliability.assumed("node_mtbf", "\"8760 h\"", "a computer that fails once a year: no number is known");
    reliability.assumed("restart", "\"1 s\"", "starting processes on one computer");
    return "  \"noise\": " + noise.text() + ",\n  \"storage\": " + storage.text() +
           ",\n  \"reliability\": " + reliability.text();
}

}  // namespace

std::string machine_text(const FittedCpu& cpu) {
    const std::string what = "Processes on " + std::to_string(cpu.cores) + " cores of " + cpu.computer +
                             ": written by auspex calibrate, which writes it again.";
    return std::string("{\n  ") + json_quote(kWrittenByKey) + ": " + json_quote(kWrittenBy) +
           ",\n  \"$schema\": \"../schemas/machine.schema.json\",\n  \"name\": " + json_quote(cpu.machine) +
           ",\n  \"description\": " + json_quote(what) +
           ",\n  \"default_stack\": \"auspex\",\n  \"tile\": " + tile_text(cpu) + ",\n  \"node\": " + node_text(cpu) +
           ",\n  \"fabric\": " + fabric_text(cpu) + ",\n" + other_sections(cpu) +
           ",\n  \"host\": " + cpu_section_text(cpu) + "\n}\n";
}

}  // namespace auspex::fit
