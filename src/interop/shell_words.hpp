#pragma once
/// @file Words of shell text: a launch script, or a line of arguments.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auspex::interop {

using Words = std::vector<std::string>;

struct ShellText {
    std::vector<Words> commands;  ///< outside of arrays, a line or what ;, &, | and their like end
    std::vector<std::pair<std::string, Words>> arrays;  ///< by NAME of NAME=( … ), NAME+ of NAME+=( … ), in order
    std::vector<std::string> documents;  ///< here-documents, <<WORD up to a line of WORD alone, as they stand
};

/// Text as a shell splits it: blanks, quotes, "\" before a character or at the end of a line, comments from "#" on at
/// the start of a word; what $( … ) and ${ … } hold stays one word. Nothing is expanded. Throws InputError, under
/// `name`, for a quote, an array or a here-document that does not end.
[[nodiscard]] ShellText shell_words(std::string_view text, const std::string& name);

}  // namespace auspex::interop
