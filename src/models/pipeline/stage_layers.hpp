#pragma once
/// @file How many layers each stage of a pipeline gets.
#include <array>
#include <vector>

#include "models/workload.hpp"

namespace auspex::models {

/// How layers are dealt to the stages of a pipeline, in their order.
enum class StageDeal {
    kEven,           ///< as evenly as they go, the first stages getting the rest
    kByCost,         ///< layers_by_cost
    kWithEmbedding,  ///< like kEven, with the embedding counted as a layer of the first stage
    kWithHead,       ///< like kEven, with the LM head counted as a layer of the last stage
    kWithBoth,
    kList  ///< as the plan lists them
};
/// Those that a word names.
inline constexpr std::array<StageDeal, 5> kNamedDeals{StageDeal::kEven, StageDeal::kByCost, StageDeal::kWithEmbedding,
                                                      StageDeal::kWithHead, StageDeal::kWithBoth};

/// Layers of each of `stages` stages, which divide the multiply-adds of a token: those of a layer's matrices (of its
/// experts top_k), and behind the last layer those of the LM head and of prediction modules, each with its layer and
/// the head once more; the embedding looks up. With C(i) of layers 0 to i, and C of all and the head, layer i is of the
/// first stage s with C(i) <= C (s + 1) / stages, as nanotron deals them (github.com/huggingface/nanotron,
/// src/nanotron/models/base.py). A stage may get none. Ignores attention's products of scores.
[[nodiscard]] std::vector<int> layers_by_cost(const Workload& workload, int stages);

/// Layers of each of `stages` stages, at most as many as there are layers, by any deal but kList. Embedding and head
/// are counted as layers as Megatron-LM does with --account-for-embedding-in-pipeline-split and
/// --account-for-loss-in-pipeline-split, which ask that all stages then come out equal; here the first ones get the
/// rest. A single stage has both, and all layers. A stage may get none.
[[nodiscard]] std::vector<int> layers_dealt(const Workload& workload, StageDeal deal, int stages);

/// "even", "by-cost", "even-with-embedding", "even-with-head", "even-with-both"; "list".
[[nodiscard]] const char* to_string(StageDeal);

}  // namespace auspex::models
