#pragma once
/// @file Megatron-LM's way of writing which layers a stage has.
#include <string>
#include <vector>

namespace auspex::interop {

/// Layers of each virtual stage, in the order in which micro-batches pass them, from "Et*3|(tt|)*29,L": E the
/// embedding, t a layer, L the loss, "|" between stages, X*N or (…)*N for N times, commas for the eye alone. Throws
/// InputError, under `where`, for anything else, and for m, a layer that predicts more tokens, which is not modelled.
[[nodiscard]] std::vector<int> layers_of_pattern(const std::string& pattern, const std::string& where);

}  // namespace auspex::interop
