#pragma once
/// @file Names of frameworks in a text, each with the versions that are its own.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compare/evaluate/words/software_version.hpp"

namespace auspex::evaluate {

struct Mention {
    std::size_t name = 0;            ///< index of its list of spellings
    std::size_t begin = 0, end = 0;  ///< in the text
    std::vector<VersionInText> versions;
};
struct Mentions {
    std::vector<Mention> names;       ///< in their order
    std::vector<VersionInText> rest;  ///< versions that belong to no name, nor to another word in front of them
};

/// Names that the text says, in their order, and does not deny ("no Tutel"): whole words, the longest spelling where
/// several fit; a word begins behind a blank, a bracket, a slash and the like, not behind a hyphen.
///
/// A version belongs to the name in front of it, where nothing but signs and words as "framework", "container",
/// "core_r" and "branch" lie between ("Megatron-LM (core_v0.8.0)", "nvcr.io/nvidia/nemo:25.02", "NeMo 2.0 (24.12)"),
/// else to the name behind it ("26.06 NeMo container"), unless a word in front has it ("MLPerf v4.1 NeMo").
[[nodiscard]] Mentions mentions_in(std::string_view text, const std::vector<std::vector<std::string>>& spellings);

}  // namespace auspex::evaluate
