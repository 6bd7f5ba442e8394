#pragma once
/// @file The members of a JSON object, as texts: most of a long answer is never looked at.
#include <string_view>
#include <vector>

namespace auspex::python {

/// A key, without quotes, and the text of its value. Both point into the text that was split.
struct Member {
    std::string_view key, value;
};

/// Of an object that JsonWriter wrote, in order: well formed, no escapes in keys of the top level.
[[nodiscard]] std::vector<Member> members_of(std::string_view object);

}  // namespace auspex::python
