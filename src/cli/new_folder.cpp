/// @file mkdtemp(3), and removal.
#include "cli/new_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace auspex {

namespace fs = std::filesystem;

std::string temporary_folder() {
    std::error_code status;
    const fs::path folder = fs::temp_directory_path(status);
    if (!status) {
        return folder.string();
    }
    const char* const name = std::getenv("TMPDIR");
    throw InputError(name == nullptr ? "/tmp" : "TMPDIR=" + std::string(name),
                     "found no folder; expected one for temporary files");
}

NewFolder::NewFolder(const std::string& parent, const std::string& prefix) {
    std::error_code status;
    path_ = (fs::absolute(parent, status) / (prefix + "XXXXXX")).string();
    if (mkdtemp(path_.data()) == nullptr) {
        throw InputError(parent, "found a folder that cannot be written to (" + std::string(std::strerror(errno)) +
                                     "); expected one that can");
    }
}

NewFolder::~NewFolder() {
    std::error_code status;
    fs::remove_all(path_, status);
}

}  // namespace auspex
