/// @file Rectangles of windows.
#include "models/context/image.hpp"

#include <cstdlib>

namespace auspex::models {
namespace {

/// Along one side of an image, cut in `parts`.
double moved_along(int side, int window, int parts) {
    return parts > 1 ? static_cast<double>(window) / 2 * parts / side : 0;
}

}  // namespace

std::optional<WindowGrid> window_grid(const Image& image, int groups) {
    std::optional<WindowGrid> best;
    for (int rows = 1; rows <= groups; ++rows) {
        const int columns = groups / rows;
        if (groups % rows != 0 || image.rows / image.window_rows % rows != 0 ||
            image.columns / image.window_columns % columns != 0) {
            continue;
        }
        const double stay = (1 - moved_along(image.rows, image.window_rows, rows)) *
                            (1 - moved_along(image.columns, image.window_columns, columns));
        const bool is_as_good = best && 1 - stay == best->moved;
        const bool is_squarer = best && std::abs(rows - columns) < std::abs(best->rows - best->columns);
        if (!best || 1 - stay < best->moved || (is_as_good && is_squarer)) {
            best = WindowGrid{rows, columns, 1 - stay};
        }
    }
    return best;
}

}  // namespace auspex::models
