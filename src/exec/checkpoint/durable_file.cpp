/// @file POSIX calls with their errors as exceptions.
#include "exec/checkpoint/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace auspex::exec {
namespace {

[[noreturn]] void fail(const std::string& file, int error) {
    throw FileError(file + ": " + std::generic_category().message(error));
}

}  // namespace

DurableFile::DurableFile(std::string file)
    : file_(std::move(file)), descriptor_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
        fail(file_, errno);
    }
}

DurableFile::~DurableFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void DurableFile::write(std::span<const std::byte> bytes) {
    hash_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    bytes_ += bytes.size();
    while (!bytes.empty()) {
        const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
        if (done < 0 && errno != EINTR) {
            fail(file_, errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
}

void DurableFile::overwrite_begin(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t done = ::pwrite(descriptor_, text.data() + at, text.size() - at, static_cast<off_t>(at));
        if (done < 0 && errno != EINTR) {
            fail(file_, errno);
        }
        at += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
    }
}

void DurableFile::finish() {
    const bool is_synced = ::fsync(descriptor_) == 0;
    const int error = errno;
    const bool is_closed = ::close(std::exchange(descriptor_, -1)) == 0;
    if (!is_synced || !is_closed) {
        fail(file_, is_synced ? errno : error);
    }
}

ReadFile::ReadFile(std::string file)
    // Without O_NONBLOCK a named pipe would be waited for.
    : file_(std::move(file)), descriptor_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        const int error = errno;
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        fail(file_, error);
    }
    if (!S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        throw FileError(file_ + ": no regular file");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

ReadFile::~ReadFile() { ::close(descriptor_); }

void ReadFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t done = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            fail(file_, errno);
        }
        if (done == 0) {
            throw FileError(file_ + ": ends before byte " + std::to_string(offset + bytes.size()));
        }
        offset += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
}

std::string sha256_of_file(const std::string& file, std::uint64_t begin) {
    constexpr std::uint64_t kPiece = 1 << 20;
    const ReadFile input(file);
    Sha256 hash;
    std::vector<char> piece(kPiece);
    for (std::uint64_t at = begin; at < input.size(); at += kPiece) {
        const auto count = static_cast<std::size_t>(std::min(kPiece, input.size() - at));
        input.read(at, std::as_writable_bytes(std::span(piece).first(count)));
        hash.add({piece.data(), count});
    }
    return hash.hex();
}

void sync_folder(const std::string& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        fail(folder, errno);
    }
    const bool is_synced = ::fsync(descriptor) == 0;
    const int error = errno;
    ::close(descriptor);
    if (!is_synced) {
        fail(folder, error);
    }
}

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        fail(folder, error.value());
    }
}

void move_into_place(const std::string& from, const std::string& to) {
    if (std::rename(from.c_str(), to.c_str()) != 0) {
        fail(to, errno);
    }
    const std::string folder = std::filesystem::path(to).parent_path().string();
    sync_folder(folder.empty() ? "." : folder);
}

void remove_file(const std::string& file) {
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) {
        fail(file, error.value());
    }
}

}  // namespace auspex::exec
