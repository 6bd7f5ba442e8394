#pragma once
/// @file Errors of files that a flag has named.
#include <string>

#include "base/error.hpp"

namespace auspex::launch {

/// What `use` returns; what it finds wrong with FILE as a whole is said of "FLAG FILE".
template <class Use>
auto with_flag_context(const char* flag, const std::string& file, const Use& use) {
    try {
        return use();
    } catch (const InputError& error) {
        const std::string text = error.what(), head = file + ": ";
        if (!text.starts_with(head)) {
            throw;
        }
        throw InputError(std::string(flag) + " " + file, text.substr(head.size()));
    }
}

}  // namespace auspex::launch
