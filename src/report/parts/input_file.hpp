#pragma once
/// @file An input file and its hash, as reports name it.
#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace auspex::report {

struct InputFile {
    std::string role;  ///< "machine", "stack", "workload", "plan"
    std::string file;
    std::string sha256;  ///< of the file's bytes
};

/// Adds the file of a document, and those that were joined to it, each unless it is there in this role.
inline void add_sources(std::vector<InputFile>& files, const std::string& role, const JsonDocument& document) {
    for (const JsonDocument::Source& source : document.sources()) {
        const auto is_it = [&](const InputFile& one) { return one.role == role && one.file == source.name; };
        if (std::ranges::none_of(files, is_it)) {
            files.push_back({role, source.name, source.sha256});
        }
    }
}

}  // namespace auspex::report
