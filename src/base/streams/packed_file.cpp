/// @file Files through zlib, which passes plain ones on as they are.
#include "base/streams/packed_file.hpp"

#include <zlib.h>

#include <filesystem>
#include <limits>
#include <streambuf>
#include <vector>

#include "base/error.hpp"

namespace auspex {

class PackedFile::Buffer : public std::streambuf {
 public:
    Buffer(const std::string& file, std::uint64_t most_bytes)
        : name_(file), most_bytes_(most_bytes), bytes_(std::size_t{1} << 18), file_(gzopen(file.c_str(), "rb")) {
        gzbuffer(file_, 1U << 17);
    }
    ~Buffer() override {
        if (file_ != nullptr) {
            gzclose(file_);
        }
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] bool is_open() const { return file_ != nullptr; }

 protected:
    int_type underflow() override {
        const int read = gzread(file_, bytes_.data(), static_cast<unsigned>(bytes_.size()));
        int problem = Z_OK;
        gzerror(file_, &problem);
        if (read < 0 || problem == Z_BUF_ERROR) {
            throw InputError(name_, problem == Z_BUF_ERROR
                                        ? "found a gzip file that ends too early; expected a whole one"
                                        : "found a damaged gzip file; expected one that gunzip -t accepts");
        }
        if (read == 0) {
            return traits_type::eof();
        }
        count_ += static_cast<std::uint64_t>(read);
        if (count_ > most_bytes_) {
            throw InputError(
                name_, "found more than " + std::to_string(most_bytes_ >> 20) + " MiB of text in it; expected less");
        }
        setg(bytes_.data(), bytes_.data(), bytes_.data() + read);
        return traits_type::to_int_type(bytes_.front());
    }

 private:
    std::string name_;
    std::uint64_t most_bytes_, count_ = 0;
    std::vector<char> bytes_;
    gzFile file_;
};

PackedFile::PackedFile(const std::string& file, const std::string& expected, std::uint64_t most_bytes) {
    std::error_code status;
    const std::filesystem::file_status what = std::filesystem::status(file, status);
    if (!std::filesystem::exists(what)) {
        throw InputError(file, "found no such file; expected " + expected);
    }
    if (!std::filesystem::is_regular_file(what)) {
        throw InputError(file, std::string("found ") +
                                   (std::filesystem::is_directory(what) ? "a directory" : "no regular file") +
                                   "; expected " + expected);
    }
    if (std::filesystem::file_size(file, status) == 0) {
        throw InputError(file, "found an empty file; expected " + expected);
    }
    buffer_ = std::make_unique<Buffer>(file, most_bytes);
    if (!buffer_->is_open()) {
        throw InputError(file, "found a file that cannot be read; expected " + expected);
    }
    stream_ = std::make_unique<std::istream>(buffer_.get());
}

PackedFile::~PackedFile() = default;
PackedFile::PackedFile(PackedFile&&) noexcept = default;
PackedFile& PackedFile::operator=(PackedFile&&) noexcept = default;

std::istream& PackedFile::stream() { return *stream_; }

}  // namespace auspex
