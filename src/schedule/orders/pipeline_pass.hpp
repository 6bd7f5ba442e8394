#pragma once
/// @file Passes of a pipeline in the order in which ranks run them, backward passes whole or in their two parts.
#include <cstdint>
#include <string>
#include <vector>

namespace auspex::schedule {

/// F, I, W and B of torch.distributed.pipelining.
enum class PassKind : std::uint8_t {
    kForward,
    kBackwardInput,   ///< the gradient of the stage's input
    kBackwardWeight,  ///< the gradients of its weights, from what the former left
    kBackward         ///< both, one after the other
};
[[nodiscard]] constexpr char letter_of(PassKind kind) { return "FIWB"[static_cast<std::size_t>(kind)]; }

/// One micro-batch through one stage.
struct StagePass {
    PassKind kind = PassKind::kForward;
    int stage = 0;
    int micro_batch = 0;
    bool beside_next = false;  ///< a forward pass that runs beside the backward pass behind it
    bool operator==(const StagePass&) const = default;
};

/// "3F0": stage, letter, micro-batch, as torch's files and messages have it.
[[nodiscard]] inline std::string text_of(const StagePass& pass) {
    return std::to_string(pass.stage) + letter_of(pass.kind) + std::to_string(pass.micro_batch);
}

/// What each rank runs. Stages count along the way of a micro-batch; where they lie is where their passes are, and may
/// differ by micro-batch (DualPipe has each stage twice).
struct PipelineOrder {
    int stages = 0, micro_batches = 0;
    std::vector<std::vector<StagePass>> ranks;
};
/// One without passes.
[[nodiscard]] inline PipelineOrder empty_order(int ranks, int stages, int micro_batches) {
    return {stages, micro_batches, std::vector<std::vector<StagePass>>(static_cast<std::size_t>(ranks))};
}

}  // namespace auspex::schedule
