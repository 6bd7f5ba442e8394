#pragma once
/// @file One command at a time for what a command writes.
#include <chrono>
#include <string>

namespace auspex::launch {

/// What is locked, and what others are told who want it meanwhile.
struct LockWords {
    std::string file;      ///< the lock: a file of its own, beside or in what is written
    std::string target;    ///< what is written, as messages name it: "--out build/compare"
    std::string expected;  ///< instead: "one command at a time, or another folder"
    std::string command;   ///< that holds it: of this process
};

/// Holds a lock of flock(2) while it lives. The file says which process holds it, and is removed at the end; the system
/// lets go of the lock when the process ends, however it does, and a file that is left means nothing. Waits for
/// `patience`, then throws InputError, which names the place and who holds it; at once where the file is another user's
/// and cannot be written to. Where there is no folder for the file, or one that can only be read, nothing is held (a
/// file there that can be written to all the same is not guarded); where the file system has no locks, nothing is held,
/// and a note on stderr says so.
class FileLock {
 public:
    explicit FileLock(LockWords words, std::chrono::milliseconds patience = {});
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    [[nodiscard]] bool is_held() const { return descriptor_ >= 0; }

 private:
    enum class Try { kHeld, kTaken, kImpossible };
    [[nodiscard]] Try try_once();
    [[nodiscard]] Try without_file(int error) const;
    void say_who_holds_it() const;

    LockWords words_;
    int descriptor_ = -1;
};

}  // namespace auspex::launch
