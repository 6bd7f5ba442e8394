/// @file A temporary name, then one rename.
#include "base/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace auspex {
namespace {

std::string reason(int error) {
    return error == 0 ? "the system does not say why" : std::generic_category().message(error);
}

}  // namespace

OutputFile::OutputFile(std::string file) : file_(std::move(file)), partial_(file_ + ".partial") {
    errno = 0;
    stream_.open(partial_, std::ios::binary | std::ios::trunc);
    if (!stream_) {
        throw InputError(file_, "found a place that cannot be written to (" + reason(errno) +
                                    "); expected a folder with write permission and space");
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
    errno = 0;
    if (!stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        fail();
    }
}

void OutputFile::commit() {
    errno = 0;
    stream_.close();
    if (!stream_) {
        fail();
    }
    if (std::rename(partial_.c_str(), file_.c_str()) != 0) {
        fail();
    }
    is_committed_ = true;
}

void OutputFile::fail() const { throw std::runtime_error(file_ + " could not be written: " + reason(errno)); }

void write_file(const std::string& file, std::string_view bytes) {
    OutputFile output(file);
    output.write(bytes);
    output.commit();
}

}  // namespace auspex
