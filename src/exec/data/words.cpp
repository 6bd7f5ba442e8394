/// @file Words by classes of bytes.
#include "exec/data/words.hpp"

#include "base/error.hpp"

namespace auspex::exec {
namespace {

enum class Class { kSpace, kLetter, kDigit, kOther };

Class class_of(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ' || (byte >= '\t' && byte <= '\r')) {
        return Class::kSpace;
    }
    if (byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z')) {
        return Class::kLetter;
    }
    return byte >= '0' && byte <= '9' ? Class::kDigit : Class::kOther;
}

}  // namespace

std::size_t first_word_length(std::string_view text) {
    AUSPEX_CHECK(!text.empty(), "an empty text has no first word");
    const bool takes_space = text[0] == ' ' && text.size() > 1 && class_of(text[1]) != Class::kSpace;
    std::size_t end = takes_space ? 1 : 0;
    const Class kind = class_of(text[end]);
    while (end < text.size() && end < kLongestWord && class_of(text[end]) == kind) {
        ++end;
    }
    const bool next_takes_space =
        kind == Class::kSpace && end > 1 && end < text.size() && text[end - 1] == ' ' && class_of(text[end]) != kind;
    return next_takes_space ? end - 1 : end;
}

}  // namespace auspex::exec
