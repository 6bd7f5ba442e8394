#pragma once
/// @file Lower bounds of a step from the times of its passes: in closed form, and by way of all passes.
#include <span>
#include <vector>

#include "sim/search/space/plan_space.hpp"

namespace auspex::search {

/// For the rounding of sums, so that a bound is one.
inline constexpr double kBelow = 1 - 1e-9;

/// The fields of a plan on which the order of its passes depends, but for auto_order.
[[nodiscard]] models::Plan plan_of_passes(const Candidate& candidate);

/// What the passes of a plan take at least.
struct BoundTerms {
    std::span<const double> forward_s, backward_s;  ///< by virtual stage: of a pass of a micro-batch
    std::span<const double> input_s{}, weight_s{};  ///< of backward passes in two parts, where the schedule has them
    /// By virtual stage: gathers of sharded weights and sums of gradients in both passes of a micro-batch; empty: none.
    std::span<const double> shards_s{};
    bool blocks_shards = false;                 ///< kernels wait for them
    std::span<const double> message_s, back_s;  ///< by virtual stage: a message to the next one; one back from there
    bool blocks_messages = false;               ///< they hold their senders up
    /// By stage: the optimizer block, in parts between which all ranks wait for each other.
    std::span<const std::vector<double>> optimizer_s;
    models::AutoOrder auto_order{};  ///< of zb-auto, resolved: bound_of_passes asks for it
    bool is_among_others = false;    ///< plan.post_validation: steps overlap, and only what a stage has to do counts
};

/// Never above the folded step. With F(v), B(v) the time of virtual stage v in a forward and a backward pass of a
/// micro-batch, M(v) that of a message from there to v + 1, M'(v) of one back, m micro-batches, O(s) the optimizer
/// block:
///   bound = max over stages s of  sum_{t < s} (F(t) + M(t))  +  m sum_{chunks of s} (F + B + messages that block)
///                                 + max(sum_{t < s} (B(t) + M'(t)) + O(0), O(s))
/// or, if that is more, what its stream of gathers and sums has to do, m sum_{chunks of s} S(v). Where that blocks it
/// is added to the passes, but for two of one chunk: the first gather need not wait for the first message, nor stages
/// in front for the last sum. Messages that block have M'(s - 1) among them already, once too often for the sum behind
/// them. Stage s cannot begin before a micro-batch has passed the stages in front of it, nor these end before they have
/// run the last one backward: true of every order whose last pass on each stage is a backward one of its first chunk,
/// with input and weight gradients in one pass. Where they are apart, what stages in front have to do then is left out,
/// and B is the shorter of the whole and both parts.
[[nodiscard]] double bound_of(const Candidate& candidate, const BoundTerms& terms);

/// Never above the folded step, nor below the closed form but for rounding. A pass begins when the one before it on its
/// stage has ended (and sent its message, where messages block) and its own message is there; a message leaves when its
/// pass has ended and the message before it has been sent. Behind the passes the parts of the optimizer block, each
/// begun when all stages have ended the one before. Ignores what the terms do, and nothing else: sharing of links,
/// noise, what runs beside passes. The closed form where passes run beside one another, or steps do.
[[nodiscard]] double bound_of_passes(const Candidate& candidate, const BoundTerms& terms);

}  // namespace auspex::search
