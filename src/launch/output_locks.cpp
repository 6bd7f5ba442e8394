#include "launch/output_locks.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "launch/flag_context.hpp"

namespace auspex::launch {

namespace fs = std::filesystem;

bool OutputLocks::take_folder(const char* flag, const std::string& folder, const char* name,
                              std::chrono::seconds patience) {
    if (folder.empty()) {
        return false;
    }
    std::error_code status;
    fs::create_directories(folder, status);
    const std::string place = std::string(flag) + " " + folder;
    if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
        throw InputError(place, "found what is not a folder, and none can be made there (" + status.message() +
                                    "); expected a folder that can be written to");
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        throw InputError(place, "found a folder that cannot be written to (" + std::string(std::strerror(errno)) +
                                    "); expected one that can");
    }
    LockWords words;
    words.file = (fs::path(folder) / name).string();
    words.target = place;
    words.expected = "one command at a time, or another folder";
    words.command = command_line_;
    return locks_.emplace_back(std::move(words), patience).is_held();
}

void OutputLocks::take_file(const std::string& place, const std::string& file) {
    std::error_code status;
    const fs::path known = fs::weakly_canonical(file, status);
    LockWords words;
    words.file = (status ? file : known.string()) + ".lock";
    words.target = place;
    words.expected = "one command at a time, or another file";
    words.command = command_line_;
    locks_.emplace_back(std::move(words));
}

void require_writable(const char* flag, const std::string& file) {
    if (std::error_code unread; std::filesystem::is_directory(file, unread)) {
        throw InputError(std::string(flag) + " " + file, "found a folder; expected the name of a file");
    }
    with_flag_context(flag, file, [&] { const OutputFile unused(file); });
}

}  // namespace auspex::launch
