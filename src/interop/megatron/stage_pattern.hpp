#pragma once
/// @file Megatron-LM's way of writing which layers a stage has.
#include <string>
#include <vector>

namespace auspex::interop {

struct StagePattern {
    std::vector<int> layers;  ///< of each virtual stage, in the order in which micro-batches pass them
    int predictions = 0;      ///< modules that predict more tokens, of the last stage
};

/// From "Et*3|(tt|)*29,mL": E the embedding, t a layer, m a prediction module, L the loss, "|" between stages, X*N or
/// (…)*N for N times, commas for the eye alone. Throws InputError, under `where`, for anything else, and for prediction
/// modules on another stage than the loss.
[[nodiscard]] StagePattern layers_of_pattern(const std::string& pattern, const std::string& where);

}  // namespace auspex::interop
