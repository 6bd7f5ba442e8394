#pragma once
/// @file Names and meanings of flags.
#include <string>
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// Of the flag as most commands take it.
[[nodiscard]] FlagText text_of(Flag flag);

/// " (default 600)"
template <typename Number>
[[nodiscard]] std::string by_default(Number number) {
    return " (default " + std::to_string(number) + ")";
}

/// A flag as one command takes it.
struct CommandFlag {
    Flag flag;
    FlagText text;
    bool is_required = false;
    bool takes_many = false;     ///< several values behind it
    bool is_repeatable = false;  ///< may be given several times
};
/// Those that are required first.
[[nodiscard]] std::vector<CommandFlag> flags_of(const Command& command);

/// Of flags of `auspex train` (train_flags.cpp), `auspex compare` (compare_flags.cpp) and `auspex calibrate`
/// (calibrate_flags.cpp) alone.
[[nodiscard]] FlagText train_flag_text(Flag flag);
[[nodiscard]] FlagText compare_flag_text(Flag flag);
[[nodiscard]] FlagText calibrate_flag_text(Flag flag);
/// True for flags that only `auspex calibrate` has.
[[nodiscard]] bool is_calibrate_flag(Flag flag);

}  // namespace auspex::cli
