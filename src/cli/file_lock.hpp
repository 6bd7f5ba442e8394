#pragma once
/// @file One program at a time for a file that grows and is replaced.
#include <string>

namespace auspex {

/// Holds the lock FILE.lock while it lives and removes it at the end; the system lets go of it when the process ends,
/// however it does. Throws InputError, naming FILE, where another process holds it. Where the file system has no locks,
/// or the folder cannot be written to, nothing is held.
class FileLock {
 public:
    /// `user`: who else may hold it, for the message: "another calibration".
    FileLock(const std::string& file, const std::string& user);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

 private:
    std::string lock_;
    int descriptor_ = -1;
};

}  // namespace auspex
