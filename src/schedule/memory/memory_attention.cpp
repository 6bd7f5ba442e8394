/// @file What operations of attention make and release, with latents or without.
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

void BlockWalk::attention_step(const Operation& op) {
    const bool kept = !redone().attention;
    switch (op.kind) {
        case OpKind::kQkvProjection: {
            const std::uint64_t keys = redone().alternate_products ? s_.key_value / 2 : 0;
            const bool again = recomputes() && keys > 0;  // of them the keys alone
            return keep(kept, s_.t * (again ? keys : s_.query + s_.key_value - keys) * s_.a);
        }
        case OpKind::kQkNormSums: sums_made_ = true; return keep(kept, s_.t * 2 * kReal);
        case OpKind::kQkNorm:
            keep(kept, sums_made_ ? 0 : s_.t * 2 * kReal);
            sums_made_ = false;
            return s_.latent ? keep_for_weights(kept, s_.as_operands(s_.t * s_.normed))
                             : keep(kept, s_.t * s_.normed * s_.a);
        case OpKind::kRotaryEmbedding:
            return keep(kept && !redone().latent_up, s_.keeps_rotated ? s_.t * s_.rotated * s_.a : 0);
        case OpKind::kKeyValueGather: return keep(kept && !redone().core_attention, s_.t * s_.attended * s_.a);
        case OpKind::kKeyValueRing: return work(ring_, 2 * s_.t * s_.attended * s_.a);
        case OpKind::kTokensToHeads:  // what arrives takes the place of what was sent
            tally_.make_for_now(kWorkspace, s_.t * (s_.query + s_.attended) * s_.a);
            return keep(kept, s_.t * (s_.query + s_.attended - s_.exchanged) * s_.a);
        case OpKind::kAttentionOfOthers:
            tally_.make_for_now(kWorkspace, s_.ring > 2 ? part_of_ring() : 0);
            return attention_output();
        case OpKind::kHeadsToTokens:
            tally_.make_for_now(kWorkspace, s_.t * s_.value * s_.a);
            return keep_for_weights(kept, s_.t * s_.value * s_.a);
        case OpKind::kAttention:
            if (s_.ring == 1) {
                return attention_output();
            }
            tally_.make_for_now(kWorkspace, part_of_ring());
            return tally_.release(ring_);
        default: return end_sublayer(s_.t * s_.h);
    }
}

/// Output and log-sum-exps of attention to one part of the keys in a ring.
std::uint64_t BlockWalk::part_of_ring() const { return s_.t * (s_.value * s_.a + s_.heads * kReal); }

void BlockWalk::attention_output() {
    const bool kept = !redone().attention, core_kept = kept && !redone().core_attention;
    const bool is_there = recomputes() && kept;  // written once more
    const std::uint64_t output = s_.t * s_.value * s_.a;
    s_.split_heads ? keep(core_kept, output) : keep_for_weights(kept, is_there ? 0 : output);
    keep(core_kept, s_.t * s_.heads * kReal + (s_.keeps_scores ? s_.t * s_.heads * s_.sequence * s_.a : 0));
}

/// Of queries, keys and values: of those of the rank's tokens, or of those exchanged for them; those of gathered keys
/// beside the former.
void BlockWalk::attended_gradient() {
    const std::uint64_t keys = s_.split_heads ? s_.attended : s_.key_value + s_.shared_key;
    work(d_query_, s_.t * s_.query * s_.a);
    work(d_key_value_, s_.t * (s_.gathers_keys ? s_.attended + keys : keys) * s_.a);
    work(delta_, s_.t * s_.heads * kReal);
    tally_.make_for_now(kWorkspace, s_.keeps_scores ? s_.t * s_.heads * s_.sequence * s_.a : 0);
}

void BlockWalk::attention_gradient(const Operation& op) {
    const std::uint64_t keys = (s_.key_value + s_.shared_key) * s_.a;
    switch (op.kind) {
        case OpKind::kRotaryEmbedding: return;
        case OpKind::kAttentionOutput: return weight() ? tally_.release(gathered_g_) : work(x_, s_.t * s_.value * s_.a);
        case OpKind::kAttention:
            if (s_.ring == 1) {
                attended_gradient();
            }
            tally_.release(delta_);
            return tally_.release(x_);
        case OpKind::kHeadsToTokens:
            tally_.make_for_now(kWorkspace, s_.t * (s_.query + s_.attended) * s_.a);
            return tally_.shrink(d_key_value_, kWorkspace, s_.t * keys);
        case OpKind::kKeyValueGather: return tally_.shrink(d_key_value_, kWorkspace, s_.t * keys);
        case OpKind::kTokensToHeads: return tally_.make_for_now(kWorkspace, s_.t * s_.value * s_.a);
        case OpKind::kKeyValueRing:
            return op.beside ? work(ring_, 4 * s_.t * s_.attended * s_.a) : tally_.release(ring_);
        case OpKind::kAttentionOfOthers: return attended_gradient();
        case OpKind::kQkNormSums: sums_made_ = true; return work(d_sums_, s_.t * 2 * kReal);
        case OpKind::kQkNorm:
            work(d_sums_, sums_made_ ? 0 : s_.t * 2 * kReal);
            sums_made_ = false;
            return tally_.release(d_sums_);
        default: break;
    }
    if (!weight()) {
        return work(x_, s_.t * s_.h * s_.a);
    }
    tally_.release(d_query_);
    tally_.release(d_key_value_);
    tally_.release(saved_);
}

void BlockWalk::latent_step(const Operation& op) {
    const std::uint64_t width = op.kind == OpKind::kQueryDown      ? s_.q_rank
                                : op.kind == OpKind::kKeyValueDown ? s_.kv_latent
                                : op.kind == OpKind::kQueryUp      ? s_.query
                                                                   : s_.key_value;
    const bool is_latent = op.kind == OpKind::kQueryDown || op.kind == OpKind::kKeyValueDown;
    const bool weights_read_it = is_latent && s_.normed == 0;  // else what is made of it by the norm
    const bool kept = !redone().attention && (is_latent || !redone().latent_up);
    weights_read_it ? keep_for_weights(kept, s_.as_operands(s_.t * width)) : keep(kept, s_.t * width * s_.a);
}

void BlockWalk::latent_gradient(const Operation& op) {
    const bool from_latent = op.kind == OpKind::kKeyValueUp || (op.kind == OpKind::kQueryUp && s_.q_rank > 0);
    if (!weight()) {
        if (from_latent) {
            const bool query = op.kind == OpKind::kQueryUp;
            return work(query ? d_q_latent_ : d_kv_latent_, s_.t * (query ? s_.q_rank : s_.kv_latent) * s_.a);
        }
        const bool first = x_.bytes[static_cast<std::size_t>(kWorkspace)] == 0;
        return work(x_, first ? s_.t * s_.h * s_.a : 0);
    }
    switch (op.kind) {
        case OpKind::kKeyValueUp: return tally_.release(d_key_value_);
        case OpKind::kQueryUp: return tally_.release(d_query_);
        case OpKind::kKeyValueDown: tally_.release(d_kv_latent_); break;
        default: tally_.release(d_q_latent_); break;
    }
    if (op.kind == OpKind::kQueryDown || s_.q_rank == 0) {
        tally_.release(saved_);
    }
}

}  // namespace auspex::schedule
