/// @file mkdtemp(3), and removal.
#include "cli/new_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace auspex {

namespace fs = std::filesystem;

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
