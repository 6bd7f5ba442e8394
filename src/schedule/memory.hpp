#pragma once
/// @file Memory of a tile over the step, by label, for every pipeline stage.
#include <string>
#include <utility>
#include <vector>

#include "models/machine.hpp"
#include "schedule/program.hpp"

namespace auspex {

struct StageMemory {
    int stage = 0;
    double peak_bytes = 0;
    std::string peak_operation;                            ///< where in the step the peak occurs
    std::vector<std::pair<std::string, double>> by_label;  ///< at the peak
};

/// Live bytes at the peak of a stage. Labels:
///   weights, gradients  parameters of the rank x weight_bytes, x gradient_bytes
///   master_weights, moments  4 and 8 bytes (fp32) per parameter of the rank's optimizer shard; no master copy when
///     weights are fp32
///   activations    what each micro-batch in flight keeps for its backward, by recompute choice
///   router_logits  of the layers so far, where they travel with the messages, per micro-batch in flight
///   logits         LM head output and its gradient, last stage
///   workspace      the working set of the layer being run (in backward with its recomputed activations and their
///     gradients)
///   communication  receive buffers; with fsdp two gathered units and their gradients, of the size of the largest of
///   the
///     stage's layers, embedding and LM head
///   runtime        the machine's reserved_bytes
/// Kept per layer and micro-batch (t tokens, H, a bytes): the inputs of both halves (2 t H a); norm outputs unless
/// norms are recomputed; queries, keys, values (over cp ranks: those of the whole sequence), attention output unless
/// attention is; gathered tokens or received rows, permuted rows, gate, up, product, expert outputs unless experts are.
/// Ignores: fragmentation, allocator rounding.
[[nodiscard]] StageMemory stage_memory(const Workload& workload, const Plan& plan, const Stack& stack,
                                       const Machine& machine, const Layout& layout, const Program& program, int stage,
                                       double heaviest_rank);

}  // namespace auspex
