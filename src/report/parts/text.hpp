#pragma once
/// @file Text as HTML and Markdown have it.
#include <string>
#include <string_view>

#include "base/number_text.hpp"

namespace auspex::report {

/// The five characters that mean something in HTML text and attributes, as entities; control characters become spaces.
[[nodiscard]] std::string html_escape(std::string_view text);
/// Text for a Markdown table cell or paragraph: no character of it is markup, no line break survives.
[[nodiscard]] std::string markdown_escape(std::string_view text);

}  // namespace auspex::report
