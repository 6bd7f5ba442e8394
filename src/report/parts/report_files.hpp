#pragma once
/// @file Writing a report's files.
#include <filesystem>
#include <string>
#include <string_view>

namespace auspex::report {

/// Makes the folder if it is not there. `files` names what is to be written, for the message. Throws InputError.
[[nodiscard]] std::filesystem::path make_report_folder(const std::string& directory, std::string_view files);
/// Throws InputError when the file cannot be written.
void write_report_file(const std::filesystem::path& file, const std::string& content);

}  // namespace auspex::report
