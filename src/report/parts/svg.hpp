#pragma once
/// @file A small SVG writer: shapes with CSS classes (the page's style sheet has the colours), linear and logarithmic
/// axes.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::report {

/// In user units; y points down.
struct SvgPoint {
    double x = 0, y = 0;
};

/// Maps [low, high] to [from, to] in pixels, linearly or by logarithm.
struct SvgScale {
    double low = 0, high = 1, from = 0, to = 1;
    bool logarithmic = false;
    [[nodiscard]] double operator()(double value) const;
};

/// A text that wants to stand at `y` but may be moved so that it overlaps no other.
struct SvgLabel {
    double y = 0;  ///< wanted; after spread_labels: where it stands
    std::string text, css;
    double anchor_y = 0;  ///< what it names: a leader line starts here
    int swatch = -1;      ///< colour of a square in front of the text
    bool is_led = true;   ///< false: what it names is not at the edge, no leader line
    int curve =
        -1;  ///< the curve (v0 …) that is drawn in front of the text below a picture; beside it, its mark, if not led
    std::size_t shape = 0;  ///< of its marks
    bool is_ring = false;   ///< no curve but single marks, hollow
};

/// What a crosshair shows: at each x of the picture a head, and of each series where its curve is there and what it
/// says.
struct Readout {
    struct Series {
        std::string name;
        std::vector<std::optional<double>> y;  ///< by x; empty: no dot
        std::vector<std::string> texts;        ///< by x; empty: nothing to say
    };
    double top = 0, bottom = 0;
    std::vector<double> x;
    std::vector<std::string> heads;
    std::vector<Series> series;
};

/// Sorts by wanted y and moves labels apart to at least `gap`, inside [top, bottom] as far as they fit.
void spread_labels(std::vector<SvgLabel>& labels, double gap, double top, double bottom);

/// Round values at steps of 1, 2 or 5 x 10^k that cover [low, high], about `wanted` of them.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int wanted);
/// The same of positive values, around which they reach a tenth where they are nearly the same, so that labels differ.
[[nodiscard]] std::vector<double> wide_ticks(double low, double high, int wanted);
/// 1, 2 and 5 x 10^k inside [low, high]; round equal steps where fewer than three of them are.
[[nodiscard]] std::vector<double> decade_ticks(double low, double high);

/// Collects shapes in drawing order. `css`: class of the shape in the page's style sheet.
class Svg {
 public:
    /// `title` and `description` are read to people who cannot see the picture.
    Svg(double width, double height, std::string_view title, std::string_view description);
    void line(SvgPoint a, SvgPoint b, std::string_view css);
    void polyline(const std::vector<SvgPoint>& points, std::string_view css);
    void polygon(const std::vector<SvgPoint>& points, std::string_view css);
    /// `tooltip` may be empty.
    void rect(SvgPoint corner, double width, double height, std::string_view css, std::string_view tooltip);
    /// One shape of many equal dots: the class has their width, as that of a line with round ends.
    void dots(const std::vector<SvgPoint>& centers, std::string_view css);
    /// One of five shapes by index, so that curves differ without colour.
    void marker(SvgPoint center, std::size_t shape, std::string_view css, std::string_view tooltip);
    /// `anchor`: start, middle or end.
    void text(SvgPoint at, std::string_view text, std::string_view css, std::string_view anchor = "start");
    /// Text that reads upwards, for the name of a vertical axis.
    void text_upwards(SvgPoint at, std::string_view text, std::string_view css);
    /// Labels at x with thin lines from (from_x, anchor_y) where they were moved.
    void labels(const std::vector<SvgLabel>& labels, double from_x, double x);
    /// For the page's crosshair. Once.
    void readout(const Readout& readout);
    /// The height, where it is known only when everything is drawn.
    void set_height(double height) { height_ = height; }
    /// The whole <svg> element.
    [[nodiscard]] std::string finish() &&;

 private:
    double width_, height_;
    std::string label_, out_;
};

}  // namespace auspex::report
