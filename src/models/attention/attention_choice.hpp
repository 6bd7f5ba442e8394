#pragma once
/// @file Which of a tile's attention kernels a stack uses.
#include <string>
#include <string_view>

#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {

/// The tile's kernel of that name; nullptr: it has none.
[[nodiscard]] const AttentionKernel* find_attention_kernel(const Tile& tile, std::string_view name);
/// The one that is fastest over long sequences: what runs where nobody says which.
[[nodiscard]] const AttentionKernel& fastest_attention_kernel(const Tile& tile);
/// The first of the stack's `attention_kernels` that the tile has, else the tile's fastest.
[[nodiscard]] const AttentionKernel& attention_kernel(const Tile& tile, const Stack& stack);
/// Which kernel the stack's attention runs on, and what the machine lacks of those that the stack would rather use;
/// empty where there is nothing to choose between.
[[nodiscard]] std::string attention_note(const std::string& machine, const Tile& tile, const Stack& stack);

}  // namespace auspex::models
