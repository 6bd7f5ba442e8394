/// @file Four lines, then bytes: what this is, key, digest of the rest, command line.
#include "sim/search/state/checkpoint_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/sha256.hpp"

namespace auspex::search {
namespace {

constexpr std::string_view kFirstLine = "auspex plan checkpoint 2";

std::string bytes_of_file(const std::string& where, const std::string& file) {
    errno = std::filesystem::is_directory(file) ? EISDIR : 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream || errno == EISDIR) {
        throw InputError(where, "found no file that can be read (" + std::string(std::strerror(errno)) +
                                    "); expected one that auspex plan --checkpoint has written");
    }
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Takes a line from the front, without its end; what is left where it has none.
std::string_view take_line(std::string_view& bytes) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    return line;
}

}  // namespace

void write_checkpoint(const std::string& file, const SearchName& name, const SearchState& state) {
    std::string rest = name.command_line;
    std::ranges::replace(rest, '\n', ' ');
    rest += "\n" + bytes_of(state);
    OutputFile output(file);
    output.write(std::string(kFirstLine) + "\n" + name.key + "\n" + sha256_hex(rest) + "\n");
    output.write(rest);
    output.commit();
}

SearchState read_checkpoint(const std::string& flag, const std::string& file, const std::string& key) {
    const std::string where = flag + " " + file, bytes = bytes_of_file(where, file);
    std::string_view rest = bytes;
    if (const std::string_view first = take_line(rest); first != kFirstLine) {
        throw InputError(where, "found a file that does not begin with \"" + std::string(kFirstLine) +
                                    "\"; expected one that auspex plan --checkpoint has written");
    }
    const std::string found_key(take_line(rest)), digest(take_line(rest));
    if (sha256_hex(rest) != digest) {
        throw InputError(where, "found " + std::to_string(bytes.size()) +
                                    " bytes whose checksum is another: cut off or damaged; expected the file as it "
                                    "was written");
    }
    const std::string command_line(take_line(rest));
    if (found_key != key) {
        throw InputError(where, "found the checkpoint of another search (" + command_line +
                                    "); expected one of the same inputs, flags and version");
    }
    return state_of(rest, where);
}

}  // namespace auspex::search
