#pragma once
/// @file Files whose bytes are on the disk when a call has returned, and reads from any offset of a file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/sha256.hpp"

namespace auspex::exec {

/// The system refused: "FILE: No space left on device".
class FileError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A new file, written from front to back. All members throw FileError.
class DurableFile {
 public:
    /// Creates the file, or empties it.
    explicit DurableFile(std::string file);
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;
    ~DurableFile();

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Puts other bytes in the place of the first ones of the file; bytes() and sha256() are as before.
    void overwrite_begin(std::string_view text);
    /// Brings everything to the disk and closes the file.
    void finish();
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Of what was written.
    [[nodiscard]] std::string sha256() const { return hash_.hex(); }

 private:
    std::string file_;
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
    Sha256 hash_;
};

/// A file to read from. All members throw FileError.
class ReadFile {
 public:
    explicit ReadFile(std::string file);
    ReadFile(const ReadFile&) = delete;
    ReadFile& operator=(const ReadFile&) = delete;
    ~ReadFile();

    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Fills `bytes` from byte `offset` on; a file that ends before that is an error.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
    std::string file_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};
/// Of the bytes from `begin` on.
[[nodiscard]] std::string sha256_of_file(const std::string& file, std::uint64_t begin = 0);

/// Brings the names in a folder to the disk. Throws FileError.
void sync_folder(const std::string& folder);
/// Creates the folder and those above it, if they are not there. Throws FileError.
void make_folder(const std::string& folder);
/// Puts a finished file in the place of another in one step, on the disk too. Throws FileError.
void move_into_place(const std::string& from, const std::string& to);
/// Removes a file if it is there. Throws FileError.
void remove_file(const std::string& file);

}  // namespace auspex::exec
