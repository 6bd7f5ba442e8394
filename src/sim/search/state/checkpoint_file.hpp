#pragma once
/// @file A search's state in a file: what was asked, and what is known.
#include <string>

#include "sim/search/state/search_state.hpp"

namespace auspex::search {

/// Whose state a file holds.
struct SearchName {
    std::string key;           ///< a digest of all that the answer depends on, without line feeds
    std::string command_line;  ///< for messages
};

/// Replaces the file by a whole one, or leaves it. Throws InputError where none can be made there, std::runtime_error
/// where it cannot be written to the end.
void write_checkpoint(const std::string& file, const SearchName& name, const SearchState& state);

/// Throws InputError naming the file, and `flag`, where there is none, where it is no checkpoint, cut off or damaged,
/// and where it is of another search.
[[nodiscard]] SearchState read_checkpoint(const std::string& flag, const std::string& file, const std::string& key);

}  // namespace auspex::search
