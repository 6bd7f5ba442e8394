#pragma once
/// @file Images as sequences: tokens on a grid that attend within rectangular windows, and how groups of ranks share
/// them.
#include <optional>

namespace auspex::models {

/// Of a workload whose tokens are the points of an image: rows x columns of them, in windows that a token sees whole,
/// without a causal mask. All counts are of tokens.
struct Image {
    int rows = 0, columns = 0;                ///< 0: the model reads text
    int window_rows = 0, window_columns = 0;  ///< divisors of these; the same: a token attends to all
    bool shifted_windows = false;  ///< those of every second layer lie half a window further in both directions, round
                                   ///< the edges (Swin, arXiv:2103.14030)
    bool adaptive_norm = false;    ///< norms are scaled, shifted and gated by a product of a vector [H] of the sequence
                                   ///< with [H, 6 H] in each layer (adaLN-Zero, arXiv:2212.09748)
    int input_channels = 0;        ///< numbers of a point: the embedding is a product with [input_channels, H]

    [[nodiscard]] bool is_given() const { return rows > 0; }
    [[nodiscard]] int window_tokens() const { return window_rows * window_columns; }
    bool operator==(const Image&) const = default;
};

/// Groups of ranks that have a rectangle of whole windows each (window parallelism, arXiv:2509.13523).
struct WindowGrid {
    int rows = 1, columns = 1;  ///< of rectangles
    /// Share of a group's tokens that lie in another group's rectangle when windows move by half their size:
    ///   1 - (1 - f(window_rows, height)) (1 - f(window_columns, width)),  f(w, side) = w / 2 / side, 0 where one
    /// rectangle is as long as the image; height and width those of a rectangle.
    double moved = 0;
};
/// Of all rows x columns = groups with as many windows in every rectangle, the one with the least moved, and of these
/// the one that is closest to a square. None: no such grid.
[[nodiscard]] std::optional<WindowGrid> window_grid(const Image& image, int groups);

}  // namespace auspex::models
