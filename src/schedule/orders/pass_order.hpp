#pragma once
/// @file The passes of a stage of a plan, in order.
#include <vector>

#include "models/plan.hpp"
#include "schedule/orders/pipeline_pass.hpp"

namespace auspex::schedule {

/// One micro-batch through one chunk of a stage.
struct Pass {
    PassKind kind = PassKind::kForward;
    int chunk = 0;
    int micro_batch = 0;
    bool beside_next = false;  ///< a forward pass that runs beside the backward pass behind it
    [[nodiscard]] bool is_forward() const { return kind == PassKind::kForward; }
    bool operator==(const Pass&) const = default;
};

/// A forward pass runs beside a backward pass of another micro-batch, and each hides the other's communication of
/// experts: dualpipe, dualpipev, interleaved-1f1b and, on one stage, 1f1b, with ep > 1 whose communication overlaps.
/// interleaved-1f1b and 1f1b then have one forward pass more in front, as Megatron-LM's
/// --overlap-moe-expert-parallel-comm.
[[nodiscard]] bool pairs_passes(const models::Plan& plan);

/// As order_words() (orders.hpp) says of the plan's schedule. Of gpipe, 1f1b and interleaved-1f1b no list is held:
/// Megatron's order over virtual stages (arXiv:2104.04473) has a warm-up of 2 (pp - 1 - stage) + (virtual_stages - 1)
/// pp forward passes, 1f1b one of min(pp - 1 - stage, m), gpipe of all.
class PassOrder {
 public:
    PassOrder(const models::Plan& plan, int stage);
    [[nodiscard]] int size() const { return list_.empty() ? 2 * passes_ : static_cast<int>(list_.size()); }
    /// Number i of `size()`.
    [[nodiscard]] Pass operator[](int i) const;

 private:
    [[nodiscard]] Pass pass(int i, PassKind kind) const;

    int pp_, chunks_, passes_;  ///< passes_: forward ones
    int ahead_ = 0;             ///< forward ones before passes alternate
    bool interleaved_;
    bool pairs_;
    std::vector<Pass> list_;  ///< of schedules with weight gradients apart
};
/// All of it.
[[nodiscard]] std::vector<Pass> pipeline_order(const models::Plan& plan, int stage);

}  // namespace auspex::schedule
