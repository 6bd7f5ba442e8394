/// @file POSIX files, written at offsets.
#include "exec/blend/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;

void require_space(const std::string& file, std::int64_t bytes) {
    std::error_code status;
    const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
    const fs::space_info space = fs::space(folder, status);
    if (!status && space.available < static_cast<std::uintmax_t>(bytes)) {
        throw InputError(file, "found " + std::to_string(space.available) + " bytes of free space; expected " +
                                   std::to_string(bytes) + " or more");
    }
}

}  // namespace

SharedFile::SharedFile(std::string file, Role role, std::int64_t bytes)
    : file_(std::move(file)), partial_(file_ + ".partial"), role_(role) {
    constexpr int kMode = 0666;
    if (role == Role::kMaker) {
        if (std::error_code status; fs::exists(file_, status)) {
            throw InputError(file_, kFileIsThere);
        }
        require_space(file_, bytes);
    }
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CLOEXEC | (role == Role::kMaker ? O_CREAT | O_TRUNC : 0), kMode);
    if (descriptor_ < 0) {
        throw InputError(file_, std::string("found a place that cannot be written to (") + std::strerror(errno) +
                                    "); expected a folder with write permission and space, which all ranks see");
    }
}

SharedFile::~SharedFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (role_ == Role::kMaker && !is_committed_) {
        std::remove(partial_.c_str());
    }
}

void SharedFile::write(std::int64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = pwrite(descriptor_, bytes.data(), bytes.size(), offset);
        if (done < 0 && errno != EINTR) {
            fail();
        }
        const ssize_t count = done < 0 ? 0 : done;
        offset += count;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

void SharedFile::close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        fail();
    }
}

void SharedFile::commit() {
    if (std::rename(partial_.c_str(), file_.c_str()) != 0) {
        fail();
    }
    is_committed_ = true;
}

void SharedFile::fail() const { throw std::runtime_error(file_ + " could not be written: " + std::strerror(errno)); }

}  // namespace auspex::exec
