#pragma once
/// @file Pictures in two widths: pages show one in wide windows and the other on phones, so that text is never shrunk.
#include <string>
#include <string_view>

namespace auspex::report {

/// Widths in user units. Text is at least 13 units high and never shrinks below 11 pixels: pages show the first two
/// from windows of 820 pixels on, the last one from 360.
inline constexpr double kPagePicture = 900, kColumnPicture = 640, kPhonePicture = 380;

/// The same picture twice, as inline SVG.
struct Picture {
    std::string wide, phone;
};
/// `draw(width)` returns the SVG of that width.
template <typename Draw>
[[nodiscard]] Picture picture_of(Draw&& draw, double wide = kPagePicture) {
    return {draw(wide), draw(kPhonePicture)};
}

/// An inline picture as a file of its own: with name space and style sheet, a title above it and its source below, both
/// of which may be empty.
[[nodiscard]] std::string standalone_svg(const std::string& inline_svg, std::string_view title = {},
                                         std::string_view source = {});

}  // namespace auspex::report
