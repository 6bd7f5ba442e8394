#pragma once
/// @file Sizes of what one rank computes, as whole numbers.
#include <cstddef>

#include "models/layout.hpp"
#include "models/plan.hpp"
#include "models/workload.hpp"

namespace auspex::exec {

struct RankShapes {
    std::size_t sequences = 1;            ///< of a micro-batch
    std::size_t sequence = 0;             ///< S
    std::size_t local_sequence = 0;       ///< tokens of a sequence on this rank: S / cp
    std::size_t t = 0;                    ///< tokens of a micro-batch: sequences * S / cp
    std::size_t t_routed = 0;             ///< tokens that the rank routes: t * etp / tp
    std::size_t t_slice = 0;              ///< tokens of norms and residuals: t / tp with sequence parallelism, else t
    std::size_t h = 0;                    ///< hidden_size
    std::size_t heads = 0, kv_heads = 0;  ///< of this rank
    std::size_t head = 0;                 ///< head_size
    std::size_t q = 0, kv = 0;            ///< heads * head, kv_heads * head
    std::size_t qkv = 0;  ///< q + 2 kv: width of a row of the fused projection, queries then keys then values
    std::size_t q_rank = 0, kv_rank = 0;   ///< of latent attention
    std::size_t rope = 0, value_head = 0;  ///< rotated part of a head behind head_size (latent attention, else 0), and
                                           ///< the head's value
    std::size_t inner = 0;                 ///< intermediate_size / tp
    std::size_t gates = 2;                 ///< linear layers in front of the activation: SwiGLU 2, GELU 1
    std::size_t vocabulary = 0;            ///< vocab_size / tp
    std::size_t experts = 0;               ///< N
    std::size_t local_experts = 0;         ///< N / ep
    std::size_t top_k = 0;
    std::size_t capacity = 0;      ///< rows of an expert from the tokens that the rank routes, at most; 0: any number
    std::size_t expert_inner = 0;  ///< expert_size / etp
    std::size_t shared_inner = 0;  ///< shared_experts * expert_size / tp
    std::size_t gathered = 0;      ///< ep * t_routed: tokens of all ranks of an expert-parallel group
    std::size_t tp = 1, ep = 1, etp = 1;
    bool sequence_parallel =
        false;  ///< sequence parallelism with tp > 1: t_slice < t, and gathers and scatters are in the program
    bool all_to_all = false;        ///< all-to-all dispatch with ep > 1
    bool splits_sequences = false;  ///< the router sees less than whole sequences (splits_routed_sequences)

    // Widths of latent attention on this rank: of queries, of keys and values in a row, of what is projected down.
    [[nodiscard]] std::size_t query() const { return heads * (head + rope); }
    [[nodiscard]] std::size_t key_value() const { return heads * (head + value_head); }
    [[nodiscard]] std::size_t kv_latent() const { return kv_rank + rope; }
    /// Width of what any attention makes.
    [[nodiscard]] std::size_t value() const { return heads * value_head; }
};
/// Requires a plan that unbound_operations (schedule/bindings/bindings.hpp) has nothing against.
[[nodiscard]] RankShapes rank_shapes(const models::Workload& workload, const models::Plan& plan);

/// Where a rank stands in the grid.
struct RankCoordinates {
    int rank = 0;
    int stage = 0;
    int data = 0;  ///< index among data_parallel: which sequences of the batch are its own
    int ep = 0, tp = 0;
    int cp = 0, etp = 0;
    int number = 0;  ///< n of Layout::rank
};
/// Of the dense part's grid (models::dense_place), and that of the experts: n = (dp index * ep + ep index) * etp + etp
/// index within a stage.
[[nodiscard]] RankCoordinates rank_coordinates(const models::Layout& layout, int rank);

}  // namespace auspex::exec
