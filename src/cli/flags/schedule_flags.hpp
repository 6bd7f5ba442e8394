#pragma once
/// @file Flags of auspex schedule: an order of passes and its times.
#include <string>

#include "cli/flags/options.hpp"

namespace auspex::cli {

[[nodiscard]] bool is_schedule_flag(Flag flag);
[[nodiscard]] FlagText schedule_flag_text(Flag flag);
/// Throws InputError, which names the flag, for a value that is none of it.
void store_schedule_flag(Options& options, Flag flag, const std::string& text);

}  // namespace auspex::cli
