#pragma once
/// @file Flags of auspex campaign: a run, its checkpoints, failures, recovery, nodes and blocks.
#include <string>

#include "cli/flags/options.hpp"

namespace auspex::cli {

[[nodiscard]] bool is_campaign_flag(Flag flag);
[[nodiscard]] FlagText campaign_flag_text(Flag flag);
/// Throws InputError, which names the flag, for a value that is none of it.
void store_campaign_flag(Options& options, Flag flag, const std::string& text);

}  // namespace auspex::cli
