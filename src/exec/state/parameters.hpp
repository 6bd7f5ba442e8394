#pragma once
/// @file The parameters of a rank: which tensors, which slice of each, where in its two flat arrays.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/state/arena.hpp"
#include "exec/state/shapes.hpp"

namespace auspex::exec {

/// One tensor, or the slice of it that a rank holds. Names and shapes are those of Hugging Face's OlmoeForCausalLM
/// (MoE) and OlmoForCausalLM (dense): "model.layers.3.mlp.experts.5.down_proj.weight" [hidden, expert_size]. What these
/// have not is as in DeepseekV3ForCausalLM: "model.layers.3.mlp.shared_experts.up_proj.weight". Biases have ".bias" in
/// place of ".weight"; learned positions are "model.embed_positions.weight" [sequence_length, hidden].
struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;  ///< of the whole tensor, row-major; linear weights are [out, in]
    int split_dimension = -1;         ///< along which the rank has part `part` of `parts` equal ones; -1: whole
    int parts = 1, part = 0;
    int layer = -1;
    std::size_t offset = 0;       ///< of the slice (row-major by itself) in its flat array
    std::size_t size = 0;         ///< elements of the slice
    bool is_bias = false;         ///< of a linear layer or a norm: begins at 0
    bool decayed = true;          ///< weight decay applies: two dimensions or more
    bool summed_over_tp = false;  ///< gradients of the tp ranks are parts: router with its bias, projections down to
                                  ///< latents and norms of these; with sequence parallelism norms (not those of queries
                                  ///< and keys, which are split with the heads)
    bool is_copy = false;      ///< of the embedding's table, which the first stage owns: tied embeddings on two stages.
                               ///< Updated like any other; nobody asks this rank for it
    bool whole_on_tp = false;  ///< every tp rank holds all of it: counts 1/tp in the gradient norm
};

/// Offsets of one layer's weights; kNone where the layer has none. Fused neighbours: q, k, v rows follow one another,
/// so do gate and up, so that one product makes all.
struct LayerSlots {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    // in the dense array
    std::size_t attention_norm = kNone, qkv = kNone, attention_output = kNone;
    // Of biases, which lie behind their layers' weights in the same order. Of a layer whose input is split over tp
    // every rank has the whole bias, and the first adds it.
    std::size_t qkv_bias = kNone, attention_output_bias = kNone, gate_up_bias = kNone, down_bias = kNone;
    std::size_t q_norm = kNone, k_norm = kNone;  ///< of queries and keys, or of latents
    std::size_t query_down = kNone, key_value_down = kNone, query_up = kNone, key_value_up = kNone;
    // of a prediction module: norms, projection of both [h, 2 h], and the norm in front of its head
    std::size_t embedding_norm = kNone, state_norm = kNone, projection = kNone, projection_bias = kNone,
                head_norm = kNone;
    std::size_t feed_forward_norm = kNone, router = kNone, router_bias = kNone;
    std::size_t gate_up = kNone, down = kNone;  ///< of the dense feed-forward, or of shared experts
    // in the experts' array: local expert e has gate_up [gates expert_inner, h] at experts + e * expert_stride, down
    // [h, expert_inner] behind it, then biases in the same order: of down's bias each of the ranks that split the
    // expert has, and adds, a part
    std::size_t experts = kNone, expert_stride = 0;
    std::size_t router_balance = kNone;  ///< in the array of RouterBalance: [N]
};

/// The dense array: chunk after chunk embedding, layers, final norm, LM head, as far as the chunk has them; the
/// experts' array: MoE layers in the same order, local experts in order.
struct ParameterTable {
    std::vector<Parameter> dense, experts;
    std::size_t dense_size = 0, experts_size = 0;
    /// Of both arrays the first elements, which the rank updates: all, or where stages are there twice those of chunk
    /// 0.
    std::size_t dense_updated = 0, experts_updated = 0;
    std::vector<Parameter> balance;  ///< biases of routers that no gradient trains, of the stage's layers in order
    std::size_t balance_size = 0;
    std::vector<LayerSlots> layers;  ///< indexed by the model's layer number; untouched for layers of other stages
    std::size_t positions = LayerSlots::kNone, embedding = LayerSlots::kNone, final_norm = LayerSlots::kNone,
                lm_head = LayerSlots::kNone;
    std::size_t lookup = LayerSlots::kNone;  ///< the table that prediction modules look up in, and that both ends have:
                                             ///< the embedding, its copy, or the LM head that it is tied to
    ///< lm_head == embedding where tied on one stage; on two the head's is a copy (Parameter::is_copy)
};
[[nodiscard]] ParameterTable parameter_table(const models::Workload& workload, const models::Plan& plan,
                                             const RankCoordinates& coordinates);
/// As one rank would hold it: every tensor of the model, whole.
[[nodiscard]] ParameterTable whole_model(const models::Workload& workload);
/// The dense ones, then the experts'; not those that no gradient trains.
[[nodiscard]] std::vector<const Parameter*> all_tensors(const ParameterTable& table);

/// A bucket of the two arrays, whole: weights gathered for a pass, gradients until they are summed. Empty where they
/// are not there.
template <class P>
struct UnitTensors {
    Buffer<typename P::Value> dense, experts;
    Buffer<typename P::Gradient> dense_gradient, experts_gradient;
};

/// Which arrays have the elements of the rank's shard alone, one piece behind the other (Shard).
struct ShardedArrays {
    bool dense = false, experts = false;
    bool dense_gradient = false, experts_gradient = false;
};

/// Of a stage's routers, one behind the other, [N] each: biases that are added to probabilities where tokens choose,
/// and the counts that move them. The same on every rank of the stage once counts are summed.
struct RouterBalance {
    Buffer<float> bias, counts;
};

template <class P>
struct Weights {
    Buffer<typename P::Value> dense, experts;
    Buffer<typename P::Gradient> dense_gradient, experts_gradient;
    ShardedArrays sharded;
    std::vector<UnitTensors<P>> units;  ///< as Rank::buckets
    RouterBalance balance;
};

}  // namespace auspex::exec
