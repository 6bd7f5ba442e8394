/// @file Folders and files of reports.
#include "report/parts/report_files.hpp"

#include <fstream>

#include "base/error.hpp"

namespace auspex::report {

std::filesystem::path make_report_folder(const std::string& directory, std::string_view files) {
    std::filesystem::path folder(directory);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder, error)) {
        throw InputError(directory,
                         "not a folder and cannot be made one; a folder for " + std::string(files) + " is needed");
    }
    return folder;
}

void write_report_file(const std::filesystem::path& file, const std::string& content) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    if (!out) {
        throw InputError(file.string(), "cannot be written; a folder with write permission and free space is needed");
    }
}

}  // namespace auspex::report
