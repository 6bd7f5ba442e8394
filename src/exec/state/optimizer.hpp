#pragma once
/// @file AdamW over the shard of parameters that a rank owns.
#include <span>

#include "exec/state/sharding.hpp"

namespace auspex::exec {

/// The shard that shard_of / optimizer_shards (schedule) give this rank, by shard_begin; moments are zero, masters not
/// set.
template <class P>
[[nodiscard]] OptimizerState<P> make_optimizer_state(const Rank<P>& rank);

/// One step of AdamW (Loshchilov and Hutter, arXiv:1711.05101), decay decoupled:
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
///   w = (1 - rate decay) w - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
struct AdamW {
    double rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;
    double gradient_scale = 1;  ///< of clipping: g is the stored gradient times this
    int t = 1;                  ///< steps, this one counted
};
/// Over arrays of one length. Where `master` is not empty it is what is updated, and `weights` are its rounded values.
template <class P>
void update(const AdamW& adam, std::span<const typename P::Gradient> gradients, std::span<float> m, std::span<float> v,
            std::span<float> master, std::span<typename P::Value> weights);

/// What gradients are multiplied by so that their norm is at most `clip`: clip / max(norm, clip); 1 if clip is 0.
[[nodiscard]] double clip_scale(double norm, double clip);
/// Sum of squares of the gradients in the rank's shards; what n ranks all own counts 1/n on each, copies do not.
template <class P>
[[nodiscard]] double shard_square_sum(const Rank<P>& rank);
/// AdamW over the rank's shards with the rate of rank.step, gradients clipped by rank.gradient_norm. Gradients stay as
/// they are.
template <class P>
void update_shards(Rank<P>& rank);

}  // namespace auspex::exec
