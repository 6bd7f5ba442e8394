/// @file The tensors of a rank in the order of its flat arrays.
#include "exec/state/parameters.hpp"

#include <utility>

#include "base/error.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::exec {
namespace {

using Shape = std::vector<std::int64_t>;

/// Lays tensors one behind the other.
class TableBuilder {
 public:
    TableBuilder(const models::Workload& workload, const models::Plan& plan, const RankCoordinates& coordinates)
        : w_(workload), plan_(plan), coordinates_(coordinates) {
        table_.layers.resize(static_cast<std::size_t>(workload.layers_and_predictions()));
    }

    void add_embedding() {
        table_.embedding = table_.lookup = dense("model.embed_tokens.weight", {w_.vocab_size, w_.hidden_size}, 0);
        if (w_.learned_positions) {
            table_.positions = dense("model.embed_positions.weight", {w_.sequence_length, w_.hidden_size}, -1);
        }
    }

    void add_head() {
        if (w_.norm != models::NormKind::kNonParametric) {
            table_.final_norm = norm("model.norm.weight", w_.hidden_size, -1);
        }
        shares_table_ = schedule::has_one_table(w_, plan_);
        if (shares_table_) {
            return;
        }
        table_.lm_head = dense(w_.tied_embeddings ? "model.embed_tokens.weight" : "lm_head.weight",
                               {w_.vocab_size, w_.hidden_size}, 0);
        table_.dense.back().is_copy = w_.tied_embeddings;
        if (table_.lookup == LayerSlots::kNone && w_.tied_embeddings) {
            table_.lookup = table_.lm_head;
        } else if (schedule::tied_copy_parameters(w_, plan_) > 0 && w_.mtp_layers > 0) {
            table_.lookup = dense("model.embed_tokens.weight", {w_.vocab_size, w_.hidden_size}, 0);
            table_.dense.back().is_copy = true;
        }
    }

    void add_layer(int layer) {
        layer_ = layer;
        if (layer >= w_.layers) {
            add_prediction();
        }
        add_attention();
        add_feed_forward();
        layer_ = -1;
    }

    /// What is there so far is what the rank updates.
    void end_updated() { table_.dense_updated = table_.dense_size, table_.experts_updated = table_.experts_size; }

    ParameterTable take() {
        table_.lm_head = shares_table_ ? table_.embedding : table_.lm_head;
        return std::move(table_);
    }

 private:
    [[nodiscard]] std::string name(const std::string& inside) const {
        return "model.layers." + std::to_string(layer_) + "." + inside + ".weight";
    }

    /// Ranks that a tensor is split over, and which of them this one is.
    struct Split {
        int parts, part;
    };
    [[nodiscard]] Parameter tensor(std::string full_name, Shape shape, int split) const {
        return tensor(std::move(full_name), std::move(shape), split, {plan_.tp, coordinates_.tp});
    }
    [[nodiscard]] Parameter tensor(std::string full_name, Shape shape, int split, const Split& over) const {
        Parameter p;
        p.name = std::move(full_name);
        p.layer = layer_;
        p.decayed = shape.size() >= 2;
        p.whole_on_tp = split < 0;
        p.split_dimension = split;
        p.parts = split < 0 ? 1 : over.parts;
        p.part = split < 0 ? 0 : over.part;
        AUSPEX_CHECK(split < 0 || shape[static_cast<std::size_t>(split)] % over.parts == 0,
                     "the ranks that split a tensor divide its shape");
        p.size = 1;
        for (const std::int64_t extent : shape) {
            p.size *= static_cast<std::size_t>(extent);
        }
        p.size /= static_cast<std::size_t>(p.parts);
        p.shape = std::move(shape);
        return p;
    }

    std::size_t append(std::vector<Parameter>& list, std::size_t& size, Parameter p) {
        p.offset = size;
        size += p.size;
        list.push_back(std::move(p));
        return list.back().offset;
    }
    std::size_t dense(std::string full_name, Shape shape, int split) {
        return append(table_.dense, table_.dense_size, tensor(std::move(full_name), std::move(shape), split));
    }
    std::size_t expert(std::string full_name, Shape shape, int split) {
        return append(table_.experts, table_.experts_size,
                      tensor(std::move(full_name), std::move(shape), split, {plan_.etp, coordinates_.etp}));
    }
    /// In parts, also of the layer whose outputs are summed: each rank adds its part.
    void expert_bias(const std::string& of_weight, int width) {
        if (w_.biases) {
            expert(bias_name(of_weight), {width}, 0);
            table_.experts.back().is_bias = true;
        }
    }
    std::size_t norm(const std::string& full_name, int width, int split) {
        Parameter weight = tensor(full_name, {width}, split);
        weight.summed_over_tp = split < 0 && plan_.tp > 1 && plan_.sequence_parallel;
        Parameter bias = weight;
        const std::size_t slot = append(table_.dense, table_.dense_size, std::move(weight));
        if (w_.norm == models::NormKind::kLayer) {
            bias.name = bias_name(full_name), bias.is_bias = true;
            append(table_.dense, table_.dense_size, std::move(bias));
        }
        return slot;
    }
    [[nodiscard]] static std::string bias_name(const std::string& of_weight) {
        return of_weight.substr(0, of_weight.rfind('.')) + ".bias";
    }
    /// Of a linear layer, where the model has biases.
    std::size_t bias(const std::string& of_weight, int width, int split) {
        if (!w_.biases) {
            return LayerSlots::kNone;
        }
        Parameter p = tensor(bias_name(of_weight), {width}, split);
        p.is_bias = true;
        return append(table_.dense, table_.dense_size, std::move(p));
    }

    /// Every tp rank holds all of it, and makes a part of its gradient.
    std::size_t made_in_parts(std::string full_name, Shape shape) {
        Parameter p = tensor(std::move(full_name), std::move(shape), -1);
        p.summed_over_tp = plan_.tp > 1;
        return append(table_.dense, table_.dense_size, std::move(p));
    }

    /// Names are those of DeepSeek-V3's weights. Each rank projects its own slice of the tokens, or all of them.
    void add_prediction() {
        const int h = w_.hidden_size;
        const auto of_slices = [&](std::string full_name, Shape shape, bool is_bias) {
            Parameter p = tensor(std::move(full_name), std::move(shape), -1);
            p.summed_over_tp = plan_.tp > 1 && plan_.sequence_parallel;
            p.is_bias = is_bias;
            return append(table_.dense, table_.dense_size, std::move(p));
        };
        if (w_.norm != models::NormKind::kNonParametric) {
            slots().embedding_norm = norm(name("enorm"), h, -1);
            slots().state_norm = norm(name("hnorm"), h, -1);
            slots().head_norm = norm(name("shared_head.norm"), h, -1);
        }
        slots().projection = of_slices(name("eh_proj"), {h, 2 * h}, false);
        if (w_.biases) {
            slots().projection_bias = of_slices(bias_name(name("eh_proj")), {h}, true);
        }
    }

    LayerSlots& slots() { return table_.layers[static_cast<std::size_t>(layer_)]; }

    void add_attention() {
        if (w_.norm != models::NormKind::kNonParametric) {
            slots().attention_norm = norm(name("input_layernorm"), w_.hidden_size, -1);
        }
        w_.attention == models::AttentionKind::kLatent ? add_latent() : add_multi_head();
    }

    /// Of each head rows of the query, plain then rotated; of its key, then its value.
    void add_latent() {
        const int h = w_.hidden_size, q_rank = w_.q_rank, query = w_.heads * (w_.head_size + w_.rope_head_size);
        if (q_rank > 0) {
            slots().query_down = made_in_parts(name("self_attn.q_a_proj"), {q_rank, h});
            slots().q_norm = made_in_parts(name("self_attn.q_a_layernorm"), {q_rank});
        }
        slots().query_up = q_rank > 0 ? dense(name("self_attn.q_b_proj"), {query, q_rank}, 0)
                                      : dense(name("self_attn.q_proj"), {query, h}, 0);
        slots().key_value_down =
            made_in_parts(name("self_attn.kv_a_proj_with_mqa"), {w_.kv_rank + w_.rope_head_size, h});
        slots().k_norm = made_in_parts(name("self_attn.kv_a_layernorm"), {w_.kv_rank});
        slots().key_value_up =
            dense(name("self_attn.kv_b_proj"), {w_.heads * (w_.head_size + w_.value_head_size), w_.kv_rank}, 0);
        slots().attention_output = dense(name("self_attn.o_proj"), {h, w_.heads * w_.value_head_size}, 1);
    }

    void add_multi_head() {
        const int h = w_.hidden_size, q = w_.heads * w_.head_size, kv = w_.kv_heads * w_.head_size;
        slots().qkv = dense(name("self_attn.q_proj"), {q, h}, 0);
        dense(name("self_attn.k_proj"), {kv, h}, 0);
        dense(name("self_attn.v_proj"), {kv, h}, 0);
        slots().qkv_bias = bias(name("self_attn.q_proj"), q, 0);
        bias(name("self_attn.k_proj"), kv, 0);
        bias(name("self_attn.v_proj"), kv, 0);
        if (w_.norm == models::NormKind::kRms && w_.qk_norm) {
            slots().q_norm = norm(name("self_attn.q_norm"), q, 0);
            slots().k_norm = norm(name("self_attn.k_norm"), kv, 0);
        }
        slots().attention_output = dense(name("self_attn.o_proj"), {h, q}, 1);
        slots().attention_output_bias = bias(name("self_attn.o_proj"), h, -1);
    }

    void add_feed_forward() {
        if (w_.norm != models::NormKind::kNonParametric) {
            slots().feed_forward_norm = norm(name("post_attention_layernorm"), w_.hidden_size, -1);
        }
        if (w_.is_moe_layer(layer_)) {
            add_experts();
            return;
        }
        add_linears("mlp.", w_.intermediate_size);
    }

    void add_linears(const std::string& inside, int width) {
        const int h = w_.hidden_size;
        const bool gated = w_.feed_forward == models::FeedForward::kSwiGlu;
        if (gated) {
            slots().gate_up = dense(name(inside + "gate_proj"), {width, h}, 0);
        }
        const std::size_t up = dense(name(inside + "up_proj"), {width, h}, 0);
        if (gated) {
            slots().gate_up_bias = bias(name(inside + "gate_proj"), width, 0);
        }
        const std::size_t up_bias = bias(name(inside + "up_proj"), width, 0);
        if (!gated) {
            slots().gate_up = up, slots().gate_up_bias = up_bias;
        }
        slots().down = dense(name(inside + "down_proj"), {h, width}, 1);
        slots().down_bias = bias(name(inside + "down_proj"), h, -1);
    }

    void add_experts() {
        const int h = w_.hidden_size, width = w_.expert_size, local = w_.num_experts / plan_.ep;
        slots().router = made_in_parts(name("mlp.gate"), {w_.num_experts, h});
        if (w_.biases) {
            slots().router_bias = made_in_parts(bias_name(name("mlp.gate")), {w_.num_experts});
            table_.dense.back().is_bias = true;
        }
        if (w_.router_bias) {
            Parameter balance = tensor("model.layers." + std::to_string(layer_) + ".mlp.gate.e_score_correction_bias",
                                       {w_.num_experts}, -1);
            slots().router_balance = append(table_.balance, table_.balance_size, std::move(balance));
        }
        if (w_.shared_experts > 0) {
            add_linears("mlp.shared_experts.", w_.shared_experts * width);
        }
        slots().experts = table_.experts_size;
        for (int e = coordinates_.ep * local; e < (coordinates_.ep + 1) * local; ++e) {
            const std::string inside = "mlp.experts." + std::to_string(e) + ".";
            const bool gated = w_.feed_forward == models::FeedForward::kSwiGlu;
            if (gated) {
                expert(name(inside + "gate_proj"), {width, h}, 0);
            }
            expert(name(inside + "up_proj"), {width, h}, 0);
            expert(name(inside + "down_proj"), {h, width}, 1);
            if (gated) {
                expert_bias(name(inside + "gate_proj"), width);
            }
            expert_bias(name(inside + "up_proj"), width);
            expert_bias(name(inside + "down_proj"), h);
        }
        slots().expert_stride = (table_.experts_size - slots().experts) / static_cast<std::size_t>(local);
    }

    const models::Workload& w_;
    const models::Plan& plan_;
    const RankCoordinates& coordinates_;
    ParameterTable table_;
    int layer_ = -1;             ///< being added; -1: outside the layers
    bool shares_table_ = false;  ///< the head is there, and has the embedding's
};

}  // namespace

ParameterTable parameter_table(const models::Workload& workload, const models::Plan& plan,
                               const RankCoordinates& coordinates) {
    TableBuilder builder(workload, plan, coordinates);
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = schedule::virtual_stage_of(plan, chunk, coordinates.stage);
        const schedule::LayerRange range = schedule::layers_of(workload, plan, v);
        if (schedule::is_first_part(plan, v)) {
            builder.add_embedding();
        }
        for (int layer = range.first; layer < range.last; ++layer) {
            builder.add_layer(layer);
        }
        if (schedule::is_last_part(plan, v)) {
            builder.add_head();
        }
        if (chunk == 0 || !has_stages_twice(plan.schedule)) {
            builder.end_updated();
        }
    }
    return builder.take();
}

ParameterTable whole_model(const models::Workload& workload) {
    return parameter_table(workload, models::Plan{}, RankCoordinates{});
}

std::vector<const Parameter*> all_tensors(const ParameterTable& table) {
    std::vector<const Parameter*> all;
    for (const auto* list : {&table.dense, &table.experts}) {
        for (const Parameter& p : *list) {
            all.push_back(&p);
        }
    }
    return all;
}

}  // namespace auspex::exec
