#pragma once
/// @file Kernels of attention by name: the rate of each on a tile.
#include <string>
#include <string_view>
#include <vector>

#include "base/constant.hpp"
#include "base/json_forward.hpp"

namespace auspex::models {

/// Two products with a softmax between them, whose scores go through memory in Stack::kernels.attention passes; every
/// other kernel keeps its scores.
inline constexpr std::string_view kUnfusedAttention = "unfused";

/// Rate of one kernel over S causal tokens with heads of d, as a fraction of the sustained rate of products:
///   efficiency S / (S + half_sequence) min(1, d (128 + half_head) / (128 (d + half_head)))
struct AttentionKernel {
    std::string name;          ///< "cudnn"; empty: the tile's only one, whose name its file does not say
    double efficiency = 0.5;   ///< where it has the two below, of long sequences and heads of 128
    double half_sequence = 0;  ///< tokens of a causal sequence at which it reaches half of that
    double half_head = 0;      ///< h of (d / (d + h)) / (128 / (128 + h)), its rate with heads of d < 128
};

/// Of a machine's section "tile": `attention_kernels` by name, or the one without a name of `attention_efficiency` and
/// its two companions. Throws InputError where there are both, or neither.
[[nodiscard]] std::vector<AttentionKernel> read_attention_kernels(const JsonValue& tile,
                                                                  std::vector<Constant>& constants);

/// "letters, digits and hyphens" of names: of kernels, and of those that tables and stacks ask for.
[[nodiscard]] bool is_attention_kernel_name(std::string_view name);

/// "machine.tile.attention_kernels.cudnn.efficiency": where a file has a kernel's efficiency.
[[nodiscard]] std::string efficiency_path(const AttentionKernel& kernel);

}  // namespace auspex::models
