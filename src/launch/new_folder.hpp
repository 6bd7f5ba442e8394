#pragma once
/// @file Folders for the time of one command.
#include <string>

namespace auspex::launch {

/// Where the system keeps what lives for a short time: TMPDIR, or /tmp. Throws InputError, naming the variable, where
/// that is no folder that can be written to.
[[nodiscard]] std::string temporary_folder();

/// PARENT/PREFIX and six letters that make it a new one; removed at the end, with what is in it. Throws InputError
/// where it cannot be made.
class NewFolder {
 public:
    NewFolder(const std::string& parent, const std::string& prefix);
    ~NewFolder();
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }  ///< absolute
    /// The text without the folder's name and the slash behind it, for the name is another one each time.
    [[nodiscard]] std::string without_path(std::string text) const;

 private:
    std::string path_;
};

}  // namespace auspex::launch
