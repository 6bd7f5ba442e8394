#pragma once
/// @file The locks of what one command writes: folders of reports, datasets and checkpoints, files that grow.
#include <chrono>
#include <deque>
#include <string>
#include <utility>

#include "launch/file_lock.hpp"

namespace auspex::launch {

/// In a folder of checkpoints, held by rank 0, which may outlive its launcher for a moment, or have been started by
/// another.
inline constexpr const char* kWriterLock = ".writer-lock";

/// Holds what it has taken while it lives.
class OutputLocks {
 public:
    /// `command_line`: what others are told that want one of them.
    explicit OutputLocks(std::string command_line) : command_line_(std::move(command_line)) {}

    /// Makes the folder, and holds FOLDER/NAME; an empty folder is none. Returns whether it is held. Throws InputError,
    /// which names flag and folder, where it cannot be made or written to, and where another command has it for longer
    /// than `patience`.
    bool take_folder(const char* flag, const std::string& folder, const char* name = ".auspex-lock",
                     std::chrono::seconds patience = {});
    /// Holds FILE.lock, as above. `place`: as messages name the file.
    void take_file(const std::string& place, const std::string& file);

 private:
    std::string command_line_;
    std::deque<FileLock> locks_;
};

/// What cannot be written at the end is found at the start: throws InputError, which names flag and file.
void require_writable(const char* flag, const std::string& file);

}  // namespace auspex::launch
