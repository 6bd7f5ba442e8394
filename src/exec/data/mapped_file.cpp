/// @file POSIX mmap.
#include "exec/data/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/error.hpp"

namespace auspex::exec {
namespace {

std::string_view map_descriptor(int descriptor, const std::string& file, const std::string& expected) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        throw InputError(file, "found something that is no regular file; expected " + expected);
    }
    if (status.st_size == 0) {
        return {};
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const begin = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (begin == MAP_FAILED) {
        throw InputError(file, "found a file that cannot be mapped into memory; expected " + expected);
    }
    return {static_cast<const char*>(begin), size};
}

}  // namespace

MappedFile::MappedFile(const std::string& file, const std::string& expected) {
    // Without O_NONBLOCK a named pipe would be waited for.
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        throw InputError(file, "found no file that can be read; expected " + expected);
    }
    try {
        bytes_ = map_descriptor(descriptor, file, expected);
    } catch (const InputError&) {
        close(descriptor);
        throw;
    }
    close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) {
        munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
}

}  // namespace auspex::exec
