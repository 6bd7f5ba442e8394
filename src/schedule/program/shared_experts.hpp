#pragma once
/// @file Experts that every token visits, beside the routed ones.
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {

/// Shared experts are split over tp. `input` as the block gets it, `entered` as its routed experts do. The sum over tp
/// starts here, so that dispatch and routed experts can hide it. kNoValue where there are none.
Value shared_forward(BlockBuilder& builder, Value input, Value entered);
/// The routed experts' outputs, or input gradients, summed over ranks, and those of the shared experts added to them.
Value leave_with_shared(BlockBuilder& builder, Value x, Value shared);

struct SharedGradient {
    Value sum = kNoValue;    ///< of the input
    Value saved = kNoValue;  ///< the input once more, for the weights of router and shared experts
};

/// Backward of the shared experts: `outer` is the gradient that the block gets, `entered` as its routed experts get it.
SharedGradient shared_backward(BlockBuilder& builder, Value outer, Value entered);

}  // namespace auspex::schedule
