/// @file A lock of flock(2) beside the file, for the file itself may be replaced by another of its name.
#include "cli/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace auspex {
namespace {

/// False where whoever held it has removed it meanwhile: then it locks nobody out.
bool is_in_place(int descriptor, const std::string& lock) {
    struct stat held {};
    struct stat there {};
    return fstat(descriptor, &held) == 0 && stat(lock.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& file, const std::string& user) {
    std::error_code status;
    const std::filesystem::path place = std::filesystem::weakly_canonical(file, status);
    lock_ = (status ? file : place.string()) + ".lock";
    while ((descriptor_ = open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) >= 0) {
        const bool is_locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
        const bool is_taken = !is_locked && errno == EWOULDBLOCK;
        if (is_locked && is_in_place(descriptor_, lock_)) {
            return;
        }
        close(std::exchange(descriptor_, -1));
        if (is_taken) {
            throw InputError(file, "found " + user + " that writes to it; expected one at a time, or another file");
        }
        if (!is_locked) {
            return;
        }
    }
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) {
        unlink(lock_.c_str());  // before it is let go of: nobody else's is removed
        close(descriptor_);
    }
}

}  // namespace auspex
