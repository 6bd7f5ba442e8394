#pragma once
/// @file Names of hardware and frameworks in any spelling: case, blanks, hyphens and makers' names do not count.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

/// Letters of the text up to where it begins with the name; 0: it does not.
[[nodiscard]] std::size_t end_of_beginning(std::string_view text, std::string_view name);
/// The text begins with one of the names, and no digit follows at once: an H1000 is no H100, an H100 80GB is one.
[[nodiscard]] bool begins_with_any(std::string_view text, const std::vector<std::string>& names);
/// A GPU's name without the number of a node's in front: "8x H100".
[[nodiscard]] std::string_view without_count(std::string_view text);
/// A word ends in front of text[end]: "MegatronLM" and "FSDPv2" behind Megatron and FSDP; not "Nemotron" behind NeMo.
/// Requires: end > 0.
[[nodiscard]] bool is_end_of_word(std::string_view text, std::size_t end);

}  // namespace auspex::evaluate
