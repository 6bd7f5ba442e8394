/// @file Locks of flock(2).
#include "cli/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace auspex {

FolderLock::FolderLock(const std::string& folder, const char* name, std::chrono::seconds patience) {
    std::error_code status;
    std::filesystem::create_directories(folder, status);
    descriptor_ = open((folder + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    constexpr std::chrono::milliseconds kBetweenTries{100};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        const bool is_taken = errno == EWOULDBLOCK;
        if (!is_taken || std::chrono::steady_clock::now() >= end) {
            close(std::exchange(descriptor_, -1));
            if (is_taken) {
                throw InputError("--checkpoint " + folder,
                                 "found another run that saves there; expected one run at a time, or another folder");
            }
            return;
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

}  // namespace auspex
