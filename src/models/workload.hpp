#pragma once
/// @file The model that is trained: shapes, and the closed-form counts of its parameters and FLOP.
#include <string>
#include <vector>

#include "base/json_forward.hpp"
#include "models/context/image.hpp"
#include "models/training.hpp"

namespace auspex::models {

enum class AttentionKind { kMultiHead, kLatent };      ///< MHA/GQA, or DeepSeek's multi-head latent attention
enum class NormKind { kRms, kNonParametric, kLayer };  ///< parameters per norm: hidden, 0, 2 hidden
enum class FeedForward { kSwiGlu, kGelu };             ///< three matrices, or two
/// What a step minimises. kDpo: direct preference optimisation (arXiv:2305.18290), for which a frozen copy of the
/// model, the reference, runs a forward pass of its own over every micro-batch, of pairs of sequences.
enum class Objective { kNextToken, kDpo };

/// Letters used below: L layers, H hidden_size, I intermediate_size, N num_experts, K top_k, V vocab_size, S
/// sequence_length.
struct Workload {
    std::string name, file;
    int layers = 0;
    int hidden_size = 0;
    int heads = 0;
    int kv_heads = 0;
    int head_size = 0;
    int intermediate_size = 0;  ///< of a dense feed-forward; 0 if every layer is MoE
    int vocab_size = 0;         ///< of an image the numbers that come out for a point
    int sequence_length = 0;
    int window = 0;           ///< tokens that a token of a windowed layer attends to, itself among them; 0: none
    int windowed_layers = 0;  ///< how many layers have it: which ones makes no difference here
    bool tied_embeddings = false;
    bool qk_norm = false;
    bool learned_positions = false;  ///< GPT-3: a table of S x H added to the embedding
    bool biases = false;             ///< GPT-3: every linear layer has one
    NormKind norm = NormKind::kRms;
    FeedForward feed_forward = FeedForward::kSwiGlu;
    AttentionKind attention = AttentionKind::kMultiHead;
    // latent attention (MLA)
    int q_rank = 0, kv_rank = 0, rope_head_size = 0, value_head_size = 0;
    // mixture of experts
    int num_experts = 0;  ///< 0: dense
    int top_k = 0;
    int expert_size = 0;         ///< I of one expert
    int shared_experts = 0;      ///< each of expert_size
    int first_dense_layers = 0;  ///< leading layers with the dense feed-forward
    int expert_groups = 1;  ///< equal groups of neighbouring experts, of which a token goes to those in top_k_groups
    int top_k_groups = 1;   ///< expert_groups: to any
    double capacity_factor =
        0;  ///< rows of an expert over those of even routing, at most: the others are dropped; 0: none
    bool pad_to_capacity = false;  ///< every expert gets as many rows as it may have, zeros where tokens are missing
    bool router_bias =
        false;           ///< a number an expert, added to its score where tokens choose, moved by counts each step
    int mtp_layers = 0;  ///< multi-token prediction: layers behind the last, each predicts one token further
    bool global_aux_loss = false;  ///< auxiliary loss over the router logits of all layers
    Image image;                   ///< of models that read images; sequence_length is rows * columns
    Objective objective = Objective::kNextToken;
    Training training;  ///< how it is trained; no count or prediction depends on it

    /// Linear layers of a feed-forward in front of its activation.
    [[nodiscard]] int gates() const { return feed_forward == FeedForward::kSwiGlu ? 2 : 1; }
    /// Those of prediction modules have the numbers behind the last layer's, and experts where that one has.
    [[nodiscard]] bool is_moe_layer(int layer) const { return num_experts > 0 && layer >= first_dense_layers; }
    [[nodiscard]] int layers_and_predictions() const { return layers + mtp_layers; }
    [[nodiscard]] int moe_layers() const { return num_experts > 0 ? layers_and_predictions() - first_dense_layers : 0; }
};

/// Keys that a token attends to under the causal mask, mean over the tokens of a sequence and the layers: S/2, or with
/// a window of w < S tokens w - w^2 / (2 S). Of an image, without a mask: all of its window.
[[nodiscard]] double mean_keys(const Workload&);

/// Parameters by kind; `active` of a kind counts top_k experts of num_experts.
struct ParameterCount {
    double embedding = 0, positions = 0, attention = 0, norm = 0, dense_feed_forward = 0, router = 0, experts = 0,
           shared_experts = 0,
           lm_head = 0,  ///< 0 when tied
        prediction = 0;  ///< projections of prediction modules; their layers and norms are counted with the others
    [[nodiscard]] double total() const {
        return embedding + positions + attention + norm + dense_feed_forward + router + experts + shared_experts +
               lm_head + prediction;
    }
};

/// Model FLOP of a forward pass, one token of a full sequence, by kind: 2 per multiply-add, attention causal (half; of
/// an image whole), LM head counted (once more for each prediction module; of an image with the embedding, which is a
/// product, too), no recompute, element-wise work not counted, of experts top_k, or with a capacity_factor c < 1 the c
/// top_k that are left; zeros that pad are not counted. Backward is twice forward.
struct TokenFlop {
    double attention_projections = 0, attention_scores = 0, dense_feed_forward = 0, router = 0, experts = 0,
           shared_experts = 0, lm_head = 0, prediction = 0;
    [[nodiscard]] double forward() const {
        return attention_projections + attention_scores + dense_feed_forward + router + experts + shared_experts +
               lm_head + prediction;
    }
    double references = 0;  ///< forward passes of a frozen copy: 1 with kDpo
    [[nodiscard]] double training() const { return (3 + references) * forward(); }
};

[[nodiscard]] Workload load_workload(const JsonDocument& document);
[[nodiscard]] ParameterCount count_parameters(const Workload&);
[[nodiscard]] ParameterCount count_active_parameters(const Workload&);
/// Parameters of one layer (its norms included), by kind; embedding, positions and lm_head are zero. From number
/// `layers` on those of prediction modules, which have a projection and three norms more.
[[nodiscard]] ParameterCount count_layer_parameters(const Workload&, int layer);
[[nodiscard]] TokenFlop count_token_flop(const Workload&);
/// Separately stored tensors of one layer that every ep rank replicates (attention, norms, router, shared experts).
[[nodiscard]] int replicated_tensors_per_layer(const Workload&, int layer);

}  // namespace auspex::models
