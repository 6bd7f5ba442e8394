/// @file Attention kernels of a machine file.
#include "models/attention/attention_kernel.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr const char* kMachineRole = "machine";
constexpr const char* kKernels = "attention_kernels";

/// Of three keys, the last two of which may be left out.
AttentionKernel read_rate(const JsonValue& section, std::string_view efficiency, std::string_view half_sequence,
                          std::string_view half_head, std::vector<Constant>& constants) {
    constexpr double kLeast = 0.01, kMostSequence = 65'536, kMostHead = 1024;
    const auto number = [&](std::string_view key, double low, double high) {
        return read_constant(section, key, Dimension::kNone, low, high, kMachineRole, constants);
    };
    AttentionKernel kernel;
    kernel.efficiency = number(efficiency, kLeast, 1);
    if (section.find(half_sequence)) {
        kernel.half_sequence = number(half_sequence, 0, kMostSequence);
    }
    if (section.find(half_head)) {
        kernel.half_head = number(half_head, 0, kMostHead);
    }
    return kernel;
}

}  // namespace

bool is_attention_kernel_name(std::string_view name) {
    return !name.empty() && name != "comment" && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}

std::vector<AttentionKernel> read_attention_kernels(const JsonValue& tile, std::vector<Constant>& constants) {
    const auto section = tile.find(kKernels);
    if (!section) {
        return {read_rate(tile, "attention_efficiency", "attention_half_sequence", "attention_half_head", constants)};
    }
    for (const char* const key : {"attention_efficiency", "attention_half_sequence", "attention_half_head"}) {
        if (const auto value = tile.find(key)) {
            value->fail(
                "no such key beside attention_kernels: each of its kernels has efficiency, half_sequence and "
                "half_head");
        }
    }
    std::vector<AttentionKernel> kernels;
    for (const std::string& name : section->keys()) {
        if (name == "comment" || name.starts_with("$")) {
            continue;
        }
        const JsonValue one = section->at(name);
        if (!is_attention_kernel_name(name)) {
            one.fail("a kernel whose name has letters, digits and hyphens only");
        }
        one.allow_only({"efficiency", "half_sequence", "half_head"});
        kernels.push_back(read_rate(one, "efficiency", "half_sequence", "half_head", constants));
        kernels.back().name = name;
    }
    if (kernels.empty()) {
        section->fail("at least one kernel, as \"flash-attention-2\": {\"efficiency\": ...}");
    }
    return kernels;
}

std::string efficiency_path(const AttentionKernel& kernel) {
    return kernel.name.empty() ? "machine.tile.attention_efficiency"
                               : "machine.tile.attention_kernels." + kernel.name + ".efficiency";
}

}  // namespace auspex::models
