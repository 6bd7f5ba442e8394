#pragma once
/// @file Words of shell text: a launch script, or a line of arguments.
#include <string>
#include <string_view>
#include <vector>

namespace auspex::interop {

struct ShellWords {
    std::vector<std::string> all, in_arrays;  ///< the latter: of NAME=( … )
};

/// Words as a shell splits them: blanks, quotes, "\" at the end of a line, comments from "#" on at the start of a word.
/// Nothing is expanded. Throws InputError, under `name`, for a quote that does not end.
[[nodiscard]] ShellWords shell_words(std::string_view text, const std::string& name);

}  // namespace auspex::interop
