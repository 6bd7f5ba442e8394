#pragma once
/// @file How many layers each stage of a pipeline gets.
#include <vector>

#include "models/workload.hpp"

namespace auspex::models {

/// Layers of each of `stages` stages, which divide the multiply-adds of a token: those of a layer's matrices (of its
/// experts top_k), and behind the last layer those of the LM head; the embedding looks up. With C(i) of layers 0 to i,
/// and C of all and the head, layer i is of the first stage s with C(i) <= C (s + 1) / stages, as nanotron deals them
/// (github.com/huggingface/nanotron, src/nanotron/models/base.py). A stage may get none. Ignores attention's products
/// of scores.
[[nodiscard]] std::vector<int> layers_by_cost(const Workload& workload, int stages);

}  // namespace auspex::models
