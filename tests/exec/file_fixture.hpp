#pragma once
/// @file Files of a test, as bytes, and what is said of them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace auspex::file_fixture {

/// An empty folder of its own, gone with the test.
class TestFolder {
 public:
    TestFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "auspex-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;
    ~TestFolder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] const std::string& path() const { return path_; }

 private:
    std::string path_;
};

inline std::string bytes_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}
inline void write_bytes(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// what() of the exception of this type that the call throws.
template <class Error, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no such exception";
}

}  // namespace auspex::file_fixture
