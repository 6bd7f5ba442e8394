#pragma once
/// @file The page of an exploration.
#include <string>

#include "explore/session.hpp"

namespace auspex::explore {

/// The files of page/ and engine/workers.js, as cmake/embed.cmake puts them into the program.
extern const char* const kPage;
extern const char* const kPageStyle;
extern const char* const kWorkersScript;
extern const char* const kAskScript;
extern const char* const kFieldsScript;
extern const char* const kPicturesScript;
extern const char* const kExploreScript;

/// The whole document, which loads nothing and begins with `start`. `engine` is the script of an engine
/// (engine/engine.cpp) that answers requests in the page itself; empty: it asks the server that it comes from.
[[nodiscard]] std::string explore_page(const State& start, const std::string& engine);

}  // namespace auspex::explore
