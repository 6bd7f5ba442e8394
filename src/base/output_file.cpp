/// @file A temporary name, then one rename.
#include "base/output_file.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace auspex {

OutputFile::OutputFile(std::string file)
    : file_(std::move(file)), partial_(file_ + ".partial"), stream_(partial_, std::ios::binary | std::ios::trunc) {
    if (!stream_) {
        fail();
    }
}

OutputFile::~OutputFile() {
    if (!is_committed_) {
        stream_.close();
        std::error_code ignored;
        std::filesystem::remove(partial_, ignored);
    }
}

void OutputFile::write(std::string_view bytes) {
    if (!stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        fail();
    }
}

void OutputFile::commit() {
    stream_.close();
    if (!stream_) {
        fail();
    }
    std::error_code status;
    std::filesystem::rename(partial_, file_, status);
    if (status) {
        fail();
    }
    is_committed_ = true;
}

void OutputFile::fail() const {
    throw InputError(file_, "found a file that cannot be written; expected a folder with write permission and space");
}

void write_file(const std::string& file, std::string_view bytes) {
    OutputFile output(file);
    output.write(bytes);
    output.commit();
}

}  // namespace auspex
