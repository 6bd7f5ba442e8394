/// @file What operations of the mixture of experts make and release.
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {
namespace {

constexpr std::uint64_t kNumber = 8, kRowNumber = 4;

/// Rows that have arrived are sorted by expert before the products, and back behind them.
bool sorts(const MemorySizes& s) { return s.all_to_all && s.local_experts > 1; }

/// Elements of a mask, a number for each of a token's rows among all.
std::uint64_t mask_elements(const MemorySizes& s, std::uint64_t sent_rows) {
    return s.masks ? (s.all_to_all ? s.t_routed : s.gathered) * sent_rows : 0;
}

}  // namespace

void BlockWalk::experts_step(const Operation& op) {
    const bool kept = keeps_experts();
    const std::uint64_t counted = s_.all_to_all ? s_.t_routed : s_.gathered;
    switch (op.kind) {
        case OpKind::kRouter: return keep(kept, s_.t_routed * s_.experts * kReal);
        case OpKind::kRouterTopK: return keep(kept, s_.t_routed * (s_.experts * kReal + s_.top_k * (kNumber + kReal)));
        case OpKind::kTokenCommunication: return dispatch_step();
        case OpKind::kTokenCounting:
            if (op.comm != CommKind::kNone) {  // of whole sequences; over tp first, then summed over cp in place
                const bool counts = op.group == models::GroupKind::kTp || !s_.routes_slices;
                return keep(kept, counts ? s_.sequences * s_.experts * kReal : 0);
            }
            s_.all_to_all ? keep(kept, (s_.experts + 1) * kNumber)
                          : keep_for_weights(kept, (s_.local_experts + 1) * kNumber);
            keep(kept, mask_elements(s_, sent_rows()) * (kReal + 2 * s_.a));
            tally_.make_for_now(kWorkspace, mask_elements(s_, sent_rows()) * kNumber);
            return work(mask_, s_.loop ? s_.experts * s_.top_k * counted * kNumber : 0);
        case OpKind::kIndexGeneration:
            keep(kept, (s_.all_to_all ? sent_rows() : rows()) * kRowNumber);
            work(leaving_, s_.all_to_all ? sent_rows() * (s_.h * s_.a + kNumber) : 0);
            return tally_.release(mask_);
        case OpKind::kExpertComputation: return compute_step();
        default: return return_step(op);
    }
}

void BlockWalk::dispatch_step() {
    const bool kept = keeps_experts();
    if (!s_.all_to_all) {
        keep(kept, s_.gathered * s_.top_k * (kNumber + kReal));
        const std::uint64_t tokens = s_.gathered * s_.h * s_.a;
        return s_.by_node ? tally_.make(arrived_, label_of(kept), tokens) : keep(kept, tokens);
    }
    const std::uint64_t bytes = rows() * s_.h * s_.a;
    keep(kept, rows() * kNumber);
    sorts(s_) ? tally_.make(arrived_, label_of(kept), bytes) : keep_for_weights(kept, s_.as_operands(rows() * s_.h));
    tally_.release(leaving_);
}

void BlockWalk::compute_step() {
    const bool kept = keeps_experts();
    const std::uint64_t r = rows(), row = r * s_.h * s_.a, inner = r * s_.expert_inner * s_.a,
                        operand = s_.as_operands(r * s_.h);
    keep(kept, s_.gates * inner);
    keep_for_weights(kept && !redone().activation, s_.as_operands(r * s_.expert_inner));
    tally_.make_for_now(kWorkspace, s_.biases_by_expert ? 2 * r * s_.h * kReal : 0);
    if (!s_.all_to_all) {
        keep_for_weights(kept, operand);
        s_.keeps_returned ? keep(kept, row) : work(leaving_, row);
        return tally_.release(arrived_);
    }
    keep_for_weights(kept, (s_.local_experts + 1) * kNumber);
    work(leaving_, row);
    if (sorts(s_)) {
        keep_for_weights(kept, operand);
        keep(kept, r * kRowNumber);
        tally_.make_for_now(kWorkspace, row);
        tally_.release(arrived_);
    }
}

void BlockWalk::return_step(const Operation& op) {
    if (op.kind == OpKind::kTokenReturn && s_.all_to_all) {
        const bool is_for_now = !s_.keeps_returned && recomputes();
        keep(keeps_experts() && s_.keeps_returned, is_for_now ? 0 : sent_rows() * s_.h * s_.a);
        return tally_.release(leaving_);
    }
    if (op.kind == OpKind::kOutputReduction && !s_.all_to_all) {
        tally_.release(leaving_);
        if (s_.ep > 1) {
            return work(x_, s_.gathered * s_.h * s_.a);
        }
    }
    end_sublayer(s_.t_routed * s_.h);
}

void BlockWalk::experts_gradient(const Operation& op) {
    const bool sharing = s_.shared_inner > 0;
    switch (op.kind) {
        case OpKind::kTokenReturn:
            if (!s_.all_to_all) {
                return work(d_returned_, s_.gathered * s_.h * s_.a);
            }
            work(sorts(s_) ? d_arrived_ : d_rows_, rows() * s_.h * s_.a);
            return tally_.release(d_returned_);
        case OpKind::kOutputReduction:
            tally_.make_for_now(kWorkspace, mask_elements(s_, sent_rows()) * (s_.a + 2 * kReal));
            if (!s_.all_to_all) {
                return rows_gradient();
            }
            work(d_returned_, sent_rows() * s_.h * s_.a);
            work(d_weights_, s_.t_routed * s_.top_k * kReal);
            return sharing && !s_.etp_differs ? void() : tally_.release(gathered_g_);
        case OpKind::kExpertComputation:
            if (!weight()) {
                return compute_gradient();
            }
            tally_.release(d_rows_);
            return tally_.release(d_gate_up_);
        case OpKind::kTokenCommunication:
            if (s_.all_to_all) {
                return tally_.replace(d_permuted_, kWorkspace, sent_rows() * s_.h * s_.a);
            }
            tally_.replace(x_, kWorkspace, s_.t_routed * s_.h * s_.a);
            return tally_.replace(d_weights_, kWorkspace, s_.t_routed * s_.top_k * kReal);
        case OpKind::kIndexGeneration: work(x_, s_.t_routed * s_.h * s_.a); return tally_.release(d_permuted_);
        case OpKind::kRouterTopK: work(d_logits_, s_.t_routed * s_.experts * kReal); return tally_.release(d_weights_);
        default: break;
    }
    if (weight()) {  // of the router
        tally_.release(d_logits_);
        tally_.release(saved_);
    }
}

void BlockWalk::rows_gradient() {
    work(d_rows_, rows() * s_.h * s_.a);
    work(d_weights_, s_.gathered * s_.top_k * kReal);
}

void BlockWalk::compute_gradient() {
    const std::uint64_t row = rows() * s_.h * s_.a, inner = rows() * s_.expert_inner * s_.a;
    work(d_gate_up_, s_.gates * inner);
    tally_.make_for_now(kWorkspace, inner);
    tally_.make_for_now(kWorkspace, s_.biases_by_expert ? rows() * s_.h * (kReal + s_.a) : 0);
    if (!s_.all_to_all) {
        if (s_.loop) {
            rows_gradient();
            tally_.make_for_now(kWorkspace, s_.gathered * s_.h * s_.a);
        }
        tally_.make_for_now(kWorkspace, row);
        work(x_, s_.gathered * s_.h * s_.a);
        tally_.release(d_returned_);
        return s_.shared_inner > 0 && !s_.etp_differs ? void() : tally_.release(gathered_g_);
    }
    work(d_permuted_, row);
    if (sorts(s_)) {
        work(d_rows_, row);
        tally_.make_for_now(kWorkspace, row);
        tally_.release(d_arrived_);
    }
}

void BlockWalk::shared_step() {
    const bool kept = keeps_experts() && !redone().shared_experts;
    keep(kept, s_.t * s_.gates * s_.shared_inner * s_.a);
    keep_for_weights(kept, s_.as_operands(s_.t * s_.shared_inner));
    work(shared_, s_.t * s_.h * s_.a);
    if (recomputes()) {
        return tally_.release(shared_);
    }
    sums_shared_ = s_.etp_differs && s_.split_tp;
}

void BlockWalk::shared_gradient() {
    if (weight()) {
        tally_.release(d_shared_);
        tally_.release(shared_g_);
        return s_.etp_differs ? void() : tally_.release(gathered_g_);
    }
    work(d_shared_, s_.t * s_.gates * s_.shared_inner * s_.a);
    tally_.make_for_now(kWorkspace, s_.t * s_.shared_inner * s_.a);
    work(shared_, s_.t * s_.h * s_.a);
    sums_shared_ = s_.etp_differs && s_.split_tp;
}

}  // namespace auspex::schedule
