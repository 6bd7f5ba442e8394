#pragma once
/// @file A file that several processes write into, each its own part.
#include <cstdint>
#include <string>
#include <string_view>

namespace auspex::exec {

/// Behind the name of a file that is there before it is made.
inline constexpr const char* kFileIsThere = "found something there already; expected the name of a new file";

/// FILE.partial, until one of them moves it to FILE. Nothing of it remains where its maker ends without commit().
class SharedFile {
 public:
    enum class Role { kMaker, kHelper };

    /// The maker makes FILE.partial, helpers open it after that. Throws InputError where it cannot be made or opened,
    /// where FILE is there already, and where the file system has less space than these bytes.
    SharedFile(std::string file, Role role, std::int64_t bytes);
    ~SharedFile();
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    /// Throws std::runtime_error where the system refuses ("No space left on device").
    void write(std::int64_t offset, std::string_view bytes);
    /// Closes the file; what was written is there for others from then on. Throws as write() does.
    void close();
    /// The maker's, when all have closed it.
    void commit();

 private:
    [[noreturn]] void fail() const;

    std::string file_, partial_;
    Role role_;
    int descriptor_ = -1;
    bool is_committed_ = false;
};

}  // namespace auspex::exec
