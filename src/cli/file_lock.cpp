/// @file A lock of flock(2) on a file of its own, for what is written may be replaced by another of its name.
#include "cli/file_lock.hpp"

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
#include "cli/messages.hpp"
#include "cli/run_folder.hpp"

namespace auspex {
namespace {

/// False where whoever held it has removed it meanwhile: then it locks nobody out.
bool is_in_place(int descriptor, const std::string& file) {
    struct stat held {};
    struct stat there {};
    return fstat(descriptor, &held) == 0 && stat(file.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
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
            throw InputError(words_.place,
                             "found " + holder_of(words_.file) + " that writes there; expected " + words_.expected);
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
}

FileLock::Try FileLock::try_once() {
    constexpr mode_t kMode = 0666;
    const char* const file = words_.file.c_str();
    while (
        (descriptor_ = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, kMode)) >= 0 ||
        (errno == EACCES && (descriptor_ = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) >= 0)) {  // of another user
        const int error = flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (error == 0 && is_in_place(descriptor_, words_.file)) {
            say_who_holds_it();
            return Try::kHeld;
        }
        close(std::exchange(descriptor_, -1));
        if (error == EWOULDBLOCK) {
            return Try::kTaken;
        }
        if (error != 0 && error != EINTR && error != ESTALE) {  // stale: removed meanwhile, on a network file system
            std::cerr << message_line("auspex: note: ",
                                      words_.place + ": its file system has no locks (" + std::strerror(error) +
                                          "): nothing keeps another command from writing there meanwhile")
                      << std::endl;
            unlink(file);
            return Try::kImpossible;
        }
    }
    return Try::kImpossible;
}

void FileLock::say_who_holds_it() const {
    constexpr std::size_t kMost = 200;  // of a command line that lists files
    const std::string& command = words_.command;
    const std::string line =
        "process " + std::to_string(getpid()) + " on " + own_host() + ", \"" + printable(command, kMost) + "\",\n";
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

}  // namespace auspex
