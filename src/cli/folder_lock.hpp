#pragma once
/// @file One run at a time in a folder of checkpoints.
#include <chrono>
#include <string>

namespace auspex {

/// Held by `auspex train` from its start to its end.
inline constexpr const char* kLauncherLock = ".launcher-lock";
/// Held by rank 0, which may outlive its launcher for a moment, or have been started by another.
inline constexpr const char* kWriterLock = ".writer-lock";

/// Makes the folder, and holds the lock of FOLDER/NAME while it lives; the system lets go of it when the process ends,
/// however it does. The file stays, and means nothing by itself. Waits for `patience`, then throws InputError. Where
/// the file system has no locks, or the folder cannot be written to, nothing is held.
class FolderLock {
 public:
    FolderLock(const std::string& folder, const char* name, std::chrono::seconds patience);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    [[nodiscard]] bool is_held() const { return descriptor_ >= 0; }

 private:
    int descriptor_ = -1;
};

}  // namespace auspex
