#pragma once
/// @file What memory is for: the labels that the prediction and the executor's arena share. docs/memory.md says which
/// tensor has which, from when to when.
#include <array>
#include <cstddef>
#include <cstdint>

namespace auspex::schedule {

enum class MemoryLabel : std::uint8_t {
    kWeights,
    kGradients,
    kMasterWeights,
    kMoments,
    kActivations,   ///< kept by a forward pass for its backward pass
    kRouterLogits,  ///< of the layers so far, or their gradients, where the auxiliary loss is over all layers
    kLogits,        ///< of the LM head, or their gradient
    kWorkspace,     ///< what does not outlive its pass: running values, gradients of activations, recomputed tensors
    kCommunication  ///< received messages until they are unpacked, buffers that gather what is scattered in memory
};
inline constexpr std::size_t kMemoryLabelCount = 9;
using LabelBytes = std::array<std::uint64_t, kMemoryLabelCount>;  ///< by MemoryLabel
/// "weights", "gradients", "master_weights", …
[[nodiscard]] const char* to_string(MemoryLabel label);

/// What `activations` are of: what recomputing norms, attention or experts (the feed-forward) would make again, and
/// what stays in any case: inputs of sublayers, and what the final norm reads and makes.
enum class KeptKind : std::uint8_t { kInputs, kNorm, kAttention, kExpert, kHead };
inline constexpr std::size_t kKeptKindCount = 5;
/// "inputs", "norm", "attention", "expert", "head"
[[nodiscard]] const char* to_string(KeptKind kind);

}  // namespace auspex::schedule
