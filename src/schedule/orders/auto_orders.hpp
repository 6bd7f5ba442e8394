#pragma once
/// @file Zero-bubble orders that follow from the lengths of passes and a limit of memory.
#include <memory>

#include "models/pipeline/auto_order.hpp"
#include "schedule/orders/pipeline_pass.hpp"

namespace auspex::schedule {

/// The shortest, by the longest span of a rank, of a few orders that list scheduling gives, as the automatic schedules
/// of arXiv:2401.10241, section 3.1, are found (zb-1p with in_flight p, zb-2p with 2 p; the habits are not its
/// authors'). A rank runs what it can begin first: the gradient of an input, a forward pass as long as its activations
/// leave room, and gradients of weights where it would wait or has no room left. Forward passes that would hold up the
/// first gradient of all wait for it. zb-h1 and zb-h2 are taken where they are shorter and hold no more. Lengths that
/// are all 0 are taken as alike. Requires micro_batches >= 1. The same numbers give the same order in every process;
/// the last ones are kept.
[[nodiscard]] std::shared_ptr<const PipelineOrder> zb_auto_order(int ranks, int micro_batches,
                                                                 const models::AutoOrder& lengths);

}  // namespace auspex::schedule
