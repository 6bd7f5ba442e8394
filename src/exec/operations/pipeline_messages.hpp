#pragma once
/// @file How a message between virtual stages is told apart, and its length.
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// Boundaries cross in both directions, and with two stages both directions join the same two ranks.
[[nodiscard]] int message_tag(const models::Plan& plan, const schedule::Operation& op, int micro_batch);

/// Elements of the running value, and of router logits where they travel.
template <class P>
[[nodiscard]] std::size_t message_elements(const Rank<P>& rank, int boundary) {
    const schedule::StageMessage message =
        schedule::stage_message(rank.workload(), rank.plan(), rank.run->stack, boundary);
    return static_cast<std::size_t>(message.activations.elements + message.router_logits.elements);
}

}  // namespace auspex::exec
