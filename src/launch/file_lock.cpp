/// @file A lock of flock(2) on a file of its own, for what is written may be replaced by another of its name.
#include "launch/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "launch/messages.hpp"
#include "launch/run_folder.hpp"

namespace auspex::launch {
namespace {

/// False where whoever held it has removed it meanwhile: then it locks nobody out.
bool is_in_place(int descriptor, const std::string& file) {
    struct stat held {};
    struct stat there {};
    return fstat(descriptor, &held) == 0 && stat(file.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

struct OpenedFile {
    int descriptor = -1;
    bool is_new = false;
};

/// A new one can be written to by everybody, whatever the umask: a network file system locks only what can be written.
OpenedFile open_or_make(const char* file) {
    constexpr int kAlways = O_CLOEXEC | O_NONBLOCK;
    constexpr int kMake = O_RDWR | O_CREAT | O_EXCL;
    constexpr mode_t kForAll = 0666;
    OpenedFile opened;
    for (const int how : {kMake, O_RDWR, O_RDONLY, kMake}) {  // again: another may have gone meanwhile
        opened.descriptor = open(file, how | kAlways, kForAll);
        opened.is_new = opened.descriptor >= 0 && how == kMake;
        if (opened.is_new) {
            static_cast<void>(fchmod(opened.descriptor, kForAll));
        }
        if (opened.descriptor >= 0) {
            break;
        }
    }
    return opened;
}

void note_no_lock(const std::string& place, const std::string& reason) {
    std::cerr << message_line("auspex: note: ",
                              place + ": " + reason + ": nothing keeps another command from writing there meanwhile")
              << std::endl;
}

[[noreturn]] void refuse_foreign(const LockWords& words) {
    throw InputError(words.target, "found the lock " + words.file +
                                       " of another user, without permission to write to it; expected that permission, "
                                       "or no such file where no command runs");
}

/// "process 4711 on node7, "auspex compare --out build/compare"": the line that the holder has written.
std::string holder_of(const std::string& file) {
    constexpr std::string_view kUnknown = "another command";  // it has not got to that line yet
    std::array<char, 1024> text{};
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t count = descriptor < 0 ? 0 : read(descriptor, text.data(), text.size());
    if (descriptor >= 0) {
        close(descriptor);
    }
    const std::string_view read_text(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    const std::string_view line = read_text.substr(0, read_text.find('\n'));
    return std::string(line.empty() ? kUnknown : line);
}

}  // namespace

FileLock::FileLock(LockWords words, std::chrono::milliseconds patience) : words_(std::move(words)) {
    constexpr std::chrono::milliseconds kBetweenTries{100};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (try_once() == Try::kTaken) {
        if (std::chrono::steady_clock::now() >= end) {
            throw InputError(words_.target,
                             "found " + holder_of(words_.file) + " that writes there; expected " + words_.expected);
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
}

FileLock::Try FileLock::try_once() {
    const char* const file = words_.file.c_str();
    for (OpenedFile opened = open_or_make(file); opened.descriptor >= 0; opened = open_or_make(file)) {
        descriptor_ = opened.descriptor;
        const int error = flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (error == 0 && is_in_place(descriptor_, words_.file)) {
            say_who_holds_it();
            return Try::kHeld;
        }
        close(std::exchange(descriptor_, -1));
        if (error == EWOULDBLOCK) {
            return Try::kTaken;
        }
        if (error == EBADF) {  // can only be read, on a network file system
            refuse_foreign(words_);
        }
        if (error != 0 && error != EINTR && error != ESTALE) {  // stale: removed meanwhile, on a network file system
            note_no_lock(words_.target, "its file system has no locks (" + std::string(std::strerror(error)) + ")");
            if (opened.is_new) {  // another's may be held, where only this try has failed
                unlink(file);
            }
            return Try::kImpossible;
        }
    }
    return without_file(errno);
}

FileLock::Try FileLock::without_file(int error) const {
    struct stat there {};
    if (lstat(words_.file.c_str(), &there) == 0) {
        refuse_foreign(words_);
    }
    constexpr std::array kNothingIsWritten{ENOENT, ENOTDIR, EACCES, EPERM, EROFS};  // what is refused says so itself
    if (std::ranges::find(kNothingIsWritten, error) == kNothingIsWritten.end()) {
        note_no_lock(words_.target, "no lock " + words_.file + " can be made (" + std::strerror(error) + ")");
    }
    return Try::kImpossible;
}

void FileLock::say_who_holds_it() const {
    constexpr std::size_t kMax = 200;  // of a command line that lists files
    const std::string& command = words_.command;
    const std::string line =
        "process " + std::to_string(getpid()) + " on " + own_host() + ", \"" + printable(command, kMax) + "\",\n";
    if (ftruncate(descriptor_, 0) == 0) {
        static_cast<void>(!write(descriptor_, line.data(), line.size()));  // on a full disk it locks all the same
    }
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) {
        unlink(words_.file.c_str());  // before it is let go of: nobody else's is removed
        close(descriptor_);
    }
}

}  // namespace auspex::launch
