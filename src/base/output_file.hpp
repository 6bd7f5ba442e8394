#pragma once
/// @file Files that are either whole or not there: written beside their place and moved into it.
#include <fstream>
#include <string>
#include <string_view>

namespace auspex {

/// Writes FILE.partial; commit() renames it to FILE. Without commit() nothing remains.
/// Throws InputError naming FILE where it cannot be made (no folder, no permission), std::runtime_error where it cannot
/// be written to the end (disk full).
class OutputFile {
 public:
    explicit OutputFile(std::string file);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes);
    void commit();

 private:
    [[noreturn]] void fail() const;  ///< by errno

    std::string file_, partial_;
    std::ofstream stream_;
    bool is_committed_ = false;
};

/// The whole file at once.
void write_file(const std::string& file, std::string_view bytes);

}  // namespace auspex
