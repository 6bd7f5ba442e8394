#pragma once
/// @file What a page asks, and what it is told: JSON in, JSON out.
#include <string>
#include <string_view>

#include "explore/session.hpp"

namespace auspex::explore {

/// `status` as HTTP has it: 200, or 400 for a request or an input that is refused.
struct Answer {
    int status = 200;
    std::string body;  ///< JSON; of what is refused {"error": {"message", "field"?}}
};

/// "ask" says what: "fields" (what may be chosen and changed), "step" (a prediction and its timeline), "curve" (other
/// numbers of tiles). docs/explore.md has the keys. Throws nothing.
[[nodiscard]] Answer answer(Session& session, std::string_view request);

}  // namespace auspex::explore
