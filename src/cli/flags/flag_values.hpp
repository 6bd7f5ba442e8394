#pragma once
/// @file Values of flags, read strictly.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "cli/flags/options.hpp"

namespace auspex::cli {

/// Takes what was given behind the flag: nothing, one value, or many. Throws InputError, which names the flag, for a
/// value that is none of it.
void store_flag(Options& options, Flag flag, const std::vector<std::string>& values);

/// The same for flags of `auspex train` (train_flags.cpp) and `auspex calibrate` (calibrate_flags.cpp) alone. `text` is
/// empty for a flag that takes no value.
void store_train_flag(Options& options, Flag flag, const std::string& text);
void store_calibrate_flag(Options& options, Flag flag, const std::string& text);

/// A flag, and whether it is given.
using GivenFlag = std::pair<const char*, bool>;
/// Throws InputError for the first that is given; `found`: beside what, and what is expected.
void refuse_given(std::initializer_list<GivenFlag> flags, const char* found);

}  // namespace auspex::cli
