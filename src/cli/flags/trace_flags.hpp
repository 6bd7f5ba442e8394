#pragma once
/// @file Flags of traces: which ranks, which folder, how they are played.
#include <string>

#include "cli/flags/options.hpp"

namespace auspex::cli {

[[nodiscard]] bool is_trace_flag(Flag flag);
[[nodiscard]] FlagText trace_flag_text(Flag flag);
/// Throws InputError, which names the flag, for a value that is none of it.
void store_trace_flag(Options& options, Flag flag, const std::string& text);

}  // namespace auspex::cli
