/// @file One walk over the text: what is inside quotes, and how deep.
#include "python/members.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace auspex::python {
namespace {

constexpr std::string_view kBlanks = " \n\t\r";

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    const std::size_t found = text.find_first_not_of(kBlanks, at);
    return found == std::string_view::npos ? text.size() : found;
}

/// Behind the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        at += text[at] == '\\' ? 1U : 0U;
    }
    return at + 1;
}

/// Behind the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
    if (text[at] == '"') {
        return skip_string(text, at);
    }
    if (text[at] != '{' && text[at] != '[') {
        return std::min(text.find_first_of(",} \n\t\r", at), text.size());
    }
    int depth = 0;
    for (; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '"') {
            at = skip_string(text, at) - 1;
        } else if (letter == '{' || letter == '[') {
            ++depth;
        } else if ((letter == '}' || letter == ']') && --depth == 0) {
            return at + 1;
        }
    }
    AUSPEX_CHECK(false, "every bracket is closed");
    return at;
}

}  // namespace

std::vector<Member> members_of(std::string_view object) {
    std::vector<Member> members;
    std::size_t at = skip_blanks(object, 0);
    AUSPEX_CHECK(at < object.size() && object[at] == '{', "an answer is an object");
    at = skip_blanks(object, at + 1);
    while (at < object.size() && object[at] == '"') {
        Member member;
        const std::size_t key_end = skip_string(object, at);
        member.key = object.substr(at + 1, key_end - at - 2);
        at = skip_blanks(object, key_end);
        AUSPEX_CHECK(at < object.size() && object[at] == ':', "a key has a value");
        at = skip_blanks(object, at + 1);
        AUSPEX_CHECK(at < object.size(), "a key has a value");
        const std::size_t end = skip_value(object, at);
        member.value = object.substr(at, end - at);
        members.push_back(member);
        at = skip_blanks(object, end);
        if (at < object.size() && object[at] == ',') {
            at = skip_blanks(object, at + 1);
        }
    }
    AUSPEX_CHECK(at < object.size() && object[at] == '}', "an answer ends");
    return members;
}

}  // namespace auspex::python
