#pragma once
/// @file A file read through the page cache: as large as it likes, no memory of its own.
#include <string>
#include <string_view>

namespace auspex::exec {

/// The bytes of a regular file, mapped read-only for as long as the object lives.
class MappedFile {
 public:
    /// Throws InputError: no such file, no regular file, not readable. `expected` says what it should have been: "a
    /// text file".
    MappedFile(const std::string& file, const std::string& expected);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
    std::string_view bytes_;
};

}  // namespace auspex::exec
