#pragma once
/// @file Large input files, read as a stream and unpacked on the way.
#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace auspex {

/// A file, plain or gzip (told by its first two bytes, whatever its name): `stream()` gives what is in it.
class PackedFile {
 public:
    /// Throws InputError for a missing file, a directory, anything that is no regular file, and an empty file;
    /// `expected` says what was expected. While it is read: for damaged or cut-off gzip, and for more than `most_bytes`
    /// unpacked.
    PackedFile(const std::string& file, const std::string& expected, std::uint64_t most_bytes);
    ~PackedFile();
    PackedFile(PackedFile&&) noexcept;
    PackedFile& operator=(PackedFile&&) noexcept;

    [[nodiscard]] std::istream& stream();

 private:
    class Buffer;
    std::unique_ptr<Buffer> buffer_;
    std::unique_ptr<std::istream> stream_;
};

}  // namespace auspex
