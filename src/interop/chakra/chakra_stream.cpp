/// @file A file of messages, each behind its length: read in portions, whether compressed or not.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/protobuf/protobuf_reader.hpp"
#include "base/streams/packed_file.hpp"
#include "interop/chakra/chakra_reader.hpp"

namespace auspex::interop {
namespace {

/// Bytes of a file, in portions.
class Portions {
 public:
    explicit Portions(const std::string& file) : file_(file, "a Chakra trace, NAME.RANK.et", kMostBytes) {}

    /// What is there, at least `wanted` bytes of it unless the file ends before.
    std::string_view at_least(std::size_t wanted) {
        constexpr std::size_t kPortion = std::size_t{1} << 18U;
        if (bytes_.size() - begin_ >= wanted) {
            return left();
        }
        bytes_.erase(0, begin_);
        begin_ = 0;
        while (bytes_.size() < wanted) {
            const std::size_t before = bytes_.size();
            bytes_.resize(before + kPortion);
            const std::streamsize got = file_.stream().rdbuf()->sgetn(bytes_.data() + before, kPortion);
            bytes_.resize(before + static_cast<std::size_t>(got));
            if (got == 0) {
                break;
            }
        }
        return left();
    }
    void drop(std::size_t count) {
        begin_ += count;
        taken_ += count;
    }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
    [[nodiscard]] std::string_view left() const { return std::string_view(bytes_).substr(begin_); }
    static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36U;
    PackedFile file_;
    std::string bytes_;
    std::size_t begin_ = 0;
    std::uint64_t taken_ = 0;
};

std::string place_of(const std::string& file, std::uint64_t number) {
    return file + ": " + (number == 0 ? "its metadata" : "node number " + std::to_string(number));
}

/// The length in front of the next message; false at the end of the file.
bool take_length(Portions& portions, const std::string& place, std::size_t& length) {
    constexpr std::size_t kLongestVarint = 10;
    std::string_view front = portions.at_least(kLongestVarint);
    if (front.empty()) {
        return false;
    }
    const std::size_t before = front.size();
    const std::optional<std::uint64_t> value = take_varint(front);
    const std::string at = ", at byte " + std::to_string(portions.taken()) + " of the file";
    if (!value) {
        throw InputError(place + at, "found no length; expected a varint of at most 10 bytes");
    }
    if (*value > kLongestChakraMessage) {
        throw InputError(place + at, "found a length of " + std::to_string(*value) + " bytes; expected at most " +
                                         std::to_string(kLongestChakraMessage));
    }
    portions.drop(before - front.size());
    length = *value;
    return true;
}

}  // namespace

void read_chakra_file(const std::string& file, const std::function<void(const ChakraMetadata&)>& visit_metadata,
                      const std::function<void(ChakraNode&)>& visit_node) {
    Portions portions(file);
    ChakraNode node;
    std::size_t length = 0;
    std::uint64_t number = 0;
    for (; take_length(portions, place_of(file, number), length); ++number) {
        const std::string_view there = portions.at_least(length);
        const std::string place = place_of(file, number);
        if (there.size() < length) {
            throw InputError(place, "found " + std::to_string(there.size()) +
                                        " bytes at the end of the file; expected " + std::to_string(length) +
                                        ", as the length in front of them says");
        }
        const std::string_view message = there.substr(0, length);
        if (number == 0) {
            visit_metadata(decode_chakra_metadata(message, place));
        } else {
            decode_chakra_node(message, place, node);
            visit_node(node);
        }
        portions.drop(length);
    }
}

}  // namespace auspex::interop
