#pragma once
/// @file Two steps side by side: a page.
#include <string>

#include "report/difference/difference.hpp"
#include "report/parts/picture.hpp"

namespace auspex::report {

struct DifferencePage {
    std::string command;
    std::vector<std::string> overrides;  ///< of both
    Difference difference;
};

/// The losses of both, one bar below the other, as inline SVG.
[[nodiscard]] std::string difference_chart(const Difference& difference, double width = kPagePicture);
[[nodiscard]] std::string render_difference_html(const DifferencePage& page);
/// Writes DIR/index.html (creating DIR). Throws InputError when it cannot.
void write_difference_page(const DifferencePage& page, const std::string& directory);

}  // namespace auspex::report
