#pragma once
/// @file Which layers attend to a window of a sequence, and how much of it their tokens see.
#include <algorithm>

#include "models/workload.hpp"

namespace auspex::models {

/// Tokens that a token of the layer attends to at most, itself among them; 0: all before it. Layers without a window
/// lie as evenly as they go, each behind the windowed ones that it is dealt (of two halves every second layer, of five
/// sixths every sixth); prediction modules have one where all layers have.
[[nodiscard]] inline int window_of(const Workload& w, int layer) {
    const bool has_window = w.window > 0 && w.window < w.sequence_length && w.windowed_layers > 0;
    const int whole = w.layers - w.windowed_layers;
    const bool is_whole = layer < w.layers ? (layer + 1) * whole / w.layers > layer * whole / w.layers : whole > 0;
    return has_window && !is_whole ? w.window : 0;
}

/// Scores that are formed for a sequence in bands of `band` queries, each with all keys from the first that its first
/// query sees to its last query; window 0: from the first of all.
[[nodiscard]] inline double banded_scores(int sequence, int window, int band) {
    double scores = 0;
    for (int begin = 0; begin < sequence; begin += band) {
        const int end = std::min(begin + band, sequence);
        const int first = window > 0 ? std::max(0, begin + 1 - window) : 0;
        scores += static_cast<double>(end - begin) * (end - first);
    }
    return scores;
}

}  // namespace auspex::models
