/// @file mkdtemp(3), and removal.
#include "launch/new_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace auspex::launch {

namespace fs = std::filesystem;

std::string temporary_folder() {
    std::error_code status;
    const fs::path folder = fs::temp_directory_path(status);
    if (!status && access(folder.c_str(), W_OK | X_OK) == 0) {
        return folder.string();
    }
    const std::string found =
        status ? "found no such folder"
               : "found a folder that cannot be written to (" + std::string(std::strerror(errno)) + ")";
    for (const char* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
        if (const char* const value = std::getenv(name); value != nullptr) {
            throw InputError(std::string(name) + "=" + value,
                             found + "; expected one that can be written to, for temporary files");
        }
    }
    throw InputError("/tmp", found + "; expected one that can be, or another in TMPDIR, for temporary files");
}

NewFolder::NewFolder(const std::string& parent, const std::string& prefix) {
    std::error_code status;
    path_ = (fs::absolute(parent, status) / (prefix + "XXXXXX")).string();
    if (mkdtemp(path_.data()) == nullptr) {
        throw InputError(parent, "found a folder that cannot be written to (" + std::string(std::strerror(errno)) +
                                     "); expected one that can");
    }
}

std::string NewFolder::without_path(std::string text) const {
    const std::string folder = path_ + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
        text.erase(at, folder.size());
    }
    return text;
}

NewFolder::~NewFolder() {
    std::error_code status;
    fs::remove_all(path_, status);
}

}  // namespace auspex::launch
