/// @file Attention kernels of a tile: found, chosen.
#include "models/attention/attention_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/text_list.hpp"

namespace auspex::models {
namespace {

/// Of the stack's kernels those before the one in use, or all.
std::vector<std::string> missing_kernels(const Tile& tile, const Stack& stack) {
    const auto found = std::ranges::find_if(
        stack.attention_kernels, [&](const std::string& name) { return find_attention_kernel(tile, name) != nullptr; });
    return {stack.attention_kernels.begin(), found};
}

}  // namespace

const AttentionKernel* find_attention_kernel(const Tile& tile, std::string_view name) {
    const auto found = std::ranges::find(tile.attention_kernels, name, &AttentionKernel::name);
    return found == tile.attention_kernels.end() ? nullptr : &*found;
}

const AttentionKernel& fastest_attention_kernel(const Tile& tile) {
    // Scores that go through memory are nobody's choice where there is another kernel.
    return *std::ranges::max_element(tile.attention_kernels, {}, [](const AttentionKernel& kernel) {
        return std::pair(kernel.name != kUnfusedAttention, kernel.efficiency);
    });
}

const AttentionKernel& attention_kernel(const Tile& tile, const Stack& stack) {
    for (const std::string& name : stack.attention_kernels) {
        if (const AttentionKernel* const found = find_attention_kernel(tile, name)) {
            return *found;
        }
    }
    return fastest_attention_kernel(tile);
}

std::string attention_note(const std::string& machine, const Tile& tile, const Stack& stack) {
    const AttentionKernel& kernel = attention_kernel(tile, stack);
    const bool is_wanted = std::ranges::find(stack.attention_kernels, kernel.name) != stack.attention_kernels.end();
    if (stack.attention_kernels.empty()) {
        return tile.attention_kernels.size() == 1 ? ""
                                                  : "attention is by " + kernel.name + ", the fastest kernel of " +
                                                        machine + ": stack " + stack.name + " names none";
    }
    const std::string missing = joined(missing_kernels(tile, stack), ", ");
    if (missing.empty()) {
        return "attention is by " + kernel.name + ", as in stack " + stack.name;
    }
    if (is_wanted) {
        return "attention is by " + kernel.name + ": " + machine + " has no rate of " + missing + ", which stack " +
               stack.name + " would rather use";
    }
    return "attention is by " + (kernel.name.empty() ? "the one kernel" : kernel.name + ", the fastest") + " of " +
           machine + ": it has no rate of " + missing + ", which stack " + stack.name + " uses";
}

}  // namespace auspex::models
