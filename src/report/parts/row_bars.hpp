#pragma once
/// @file Bars that lie, a row a name: a waterfall, things side by side, what has changed.
#include <string>
#include <vector>

namespace auspex::report {

/// From one value to another.
struct RowBar {
    double from = 0, to = 0;
    int color = 0;       ///< of segments, l0 …
    std::string text{};  ///< behind its end; the texts of a row stand one below the other
    std::string tooltip{};
};

struct BarRow {
    std::string name;
    std::vector<RowBar> bars;  ///< one below the other
};

struct RowBarChart {
    std::string title, description;  ///< for people who do not see the picture
    std::string axis_name;           ///< below the axis
    std::vector<BarRow> rows;
    std::vector<std::pair<int, std::string>> legend;  ///< colours and what they stand for; may be empty
    double text_characters = 10;                      ///< of the longest text behind a bar
    double least_end = 0;                             ///< the axis ends here at the least
    bool is_shared_line = false;                      ///< bars of a row stand on one line: parts of one whole
};

/// Inline SVG. The axis begins at 0, or below where a bar does. In narrow pictures names stand above their bars.
/// Requires a row with a bar.
[[nodiscard]] std::string row_bar_chart(const RowBarChart& chart, double width);

}  // namespace auspex::report
