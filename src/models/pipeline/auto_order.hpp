#pragma once
/// @file What the order of schedule zb-auto is made for.

namespace auspex::models {

struct Workload;

/// Lengths of the passes of a stage in any one unit, and what a rank may hold of activations.
struct AutoOrder {
    double forward = 0, input = 0, weight = 0;  ///< all 0 in plans that do not say: by model FLOP (resolved)
    double send = 0;                            ///< of a message between stages, in their unit
    int in_flight = 0;                          ///< micro-batches of a stage; 0: twice pp
    double kept_for_weights = 1;  ///< what is held between the gradient of the input and that of weights, over the
                                  ///< activations behind a forward pass: above 1 where gradients of outputs are more
    bool operator==(const AutoOrder&) const = default;
};

/// With lengths by model FLOP where there are none, of the mean stage: forward that of a forward pass; `weight` that of
/// the products whose weights' gradients are passes of their own (all but router and LM head); `input` what is left of
/// a backward pass, which is twice forward. in_flight filled in. Ignores what is no product.
[[nodiscard]] AutoOrder resolved(const AutoOrder& order, const Workload& workload, int pp);

}  // namespace auspex::models
