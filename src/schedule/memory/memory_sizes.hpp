#pragma once
/// @file Sizes that docs/memory.md is written in, as whole numbers, for one rank of a plan.
#include <cstdint>
#include <vector>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Taken off a sum of probabilities or of shares before it is rounded up to whole rows.
inline constexpr double kRounding = 1e-6;

/// Rows of a layer: those that the rank's experts compute, and those that leave the rank (0 of a dense layer).
struct LayerRows {
    std::uint64_t computed = 0, sent = 0;
};

/// Elements unless said otherwise; what does not divide is rounded up.
struct MemorySizes {
    std::uint64_t t = 0;               ///< tokens of a micro-batch on a rank: micro_batch_size * S / cp
    std::uint64_t slice = 0;           ///< t / tp
    std::uint64_t ts = 0;              ///< tokens of norms and residuals: the slice with sequence parallelism, else t
    std::uint64_t t_routed = 0;        ///< tokens that a rank routes: t * etp / tp
    std::uint64_t sequences = 0;       ///< of a micro-batch
    std::uint64_t gathered = 0;        ///< T: ep * t_routed, or those of them that have experts here (gathered_tokens)
    std::uint64_t sequence = 0;        ///< S
    std::uint64_t a = 2;               ///< bytes of an activation
    std::uint64_t operand_16ths = 32;  ///< of a byte, of an element that weight gradients read: 16 in 8 bits, 9 in 4
                                       ///< bits with their scales, else 16 a; 16 a, too, with activations in host
                                       ///< memory, whose copies are of a
    std::uint64_t h = 0, heads = 0;
    std::uint64_t query = 0, key_value = 0, value = 0;  ///< widths; query and key_value as projected
    std::uint64_t attended = 0;    ///< of keys and values that a rank attends to at a time, over its t tokens: those of
                                   ///< all cp ranks, of its own in a ring, or of its heads' copies in an all-to-all
    std::uint64_t shared_key = 0;  ///< latent attention: the rotated part of keys, which all heads share; else 0
    std::uint64_t exchanged = 0;   ///< of queries, keys and values, those that are not needed once they are exchanged
    std::uint64_t ring = 1;        ///< ranks that pass keys and values on
    std::uint64_t logit_copies = 0;           ///< fp32, while cross entropy is computed
    std::uint64_t rotated = 0;                ///< width of queries and keys that are rotated
    std::uint64_t normed = 0;                 ///< width of queries and keys, or latents, that are normalised
    std::uint64_t q_rank = 0, kv_latent = 0;  ///< latent attention: kv_latent = kv_rank + rope_head_size
    std::uint64_t gates = 2;                  ///< 2 with SwiGLU, 1 with GELU
    std::uint64_t inner = 0, vocabulary = 0, shared_inner = 0;
    std::uint64_t experts = 0, local_experts = 0, top_k = 0, expert_inner = 0;
    std::uint64_t rows = 0;       ///< R, uniform: t_routed * top_k
    std::uint64_t sent_rows = 0;  ///< that leave a rank: t_routed * top_k
    std::uint64_t ep = 1, cp = 1;
    bool latent = false, all_to_all = false, loop = false;
    bool by_node = false;       ///< rows come by node with ep > 1: tokens that came are copied into rows, then free
    bool masks = false;         ///< rows are formed and summed up by products with one-hot masks
    bool split_tp = false;      ///< tp > 1
    bool split_heads = false;   ///< cp ranks exchange tokens for heads
    bool gathers_keys = false;  ///< all-gather with cp > 1
    bool sequence_parallel = false;  ///< sequence parallelism with tp > 1
    bool etp_differs = false;        ///< etp != tp
    bool routes_slices = false;      ///< etp < tp
    bool keeps_scores = false;       ///< attention writes its scores to memory
    bool keeps_rotated = false;      ///< rotated queries and keys beside the projected ones
    bool keeps_activation = false;   ///< the activated gate beside the product
    bool keeps_unread = false;       ///< products that are not repeated, also where nothing reads them
    bool biases_by_expert = false;   ///< outputs of experts are there twice more in fp32; backward once, and in `a`
    bool keeps_returned = true;    ///< rows of experts as they have come back, which gradients of routing weights read
    bool loss_of_pytorch = false;  ///< logits in `a`, and so their gradient, which is another tensor. With logit_copies
                                   ///< they go when log-softmax is there, beside which the backward pass has the copies
    bool keeps_bf16_logits = false;  ///< cross entropy in several passes: logits a second time, as activations
    /// Bytes of elements that weight gradients read.
    [[nodiscard]] std::uint64_t as_operands(std::uint64_t elements) const {
        return (elements * operand_16ths + 15) / 16;
    }
    std::vector<models::Recompute> recompute;  ///< recompute_of, by layer of a virtual stage; those behind are alike
};
/// Requires a resolved plan.
[[nodiscard]] MemorySizes memory_sizes(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack);

/// A bucket of gradients whose sums' shard is kept: bytes of those that are by themselves until they are summed.
struct BucketBytes {
    int unit = 0;  ///< the last
    std::uint64_t dense = 0, experts = 0;
    std::uint64_t dense_shard = 0, expert_shard = 0;  ///< of the rank
};

/// Where a model chunk sits, and what it exchanges.
struct ChunkSizes {
    LayerRange layers;
    int dense_layers = 0;                             ///< of them, without experts: the first
    bool last = false;                                ///< the model's last chunk, with final norm and LM head
    bool from_own_rank = false, to_own_rank = false;  ///< the chunk before, or behind, is the rank's: no message
    std::uint64_t received = 0;                       ///< bytes of the message from the chunk before
    std::uint64_t received_back = 0;                  ///< bytes of the message of gradients from the chunk behind
    std::uint64_t gradients_from_mirror = 0, parameters_from_mirror = 0;  ///< bytes, where stages are there twice
    bool shards_weights = false;   ///< passes gather them, and release them behind the last that reads them
    bool keeps_last_unit = false;  ///< of the model's last chunk: schedule::keeps_last_unit
    /// gradients_come_and_go: bytes of the shards that its backward pass leaves, unit by unit as they are summed and
    /// the rest at its end; else 0. Of chunk 0 those of all chunks of the stage, too, which the update releases.
    std::uint64_t gradients = 0, gradients_of_stage = 0;
    bool is_tied = false;              ///< the LM head reads the embedding's table, which the chunk's stage holds
    std::uint64_t router_logits = 0;   ///< bytes of those of all layers up to the chunk's last, or the last of
                                       ///< the chunk that takes them over; 0 where none are kept
    std::vector<BucketBytes> buckets;  ///< only of plans that shard gradients
};
[[nodiscard]] ChunkSizes chunk_sizes(const models::Workload& workload, const models::Plan& plan,
                                     const models::Stack& stack, int stage, int chunk);

}  // namespace auspex::schedule
