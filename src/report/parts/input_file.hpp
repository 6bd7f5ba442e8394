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
    for (const auto& [file, sha256] : document.sources()) {
        const bool is_there =
            std::ranges::any_of(files, [&](const InputFile& one) { return one.role == role && one.file == file; });
        if (!is_there) {
            files.push_back({role, file, sha256});
        }
    }
}

}  // namespace auspex::report
