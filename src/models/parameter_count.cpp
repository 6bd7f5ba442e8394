/// @file Closed-form counts of parameters, FLOP and tensors of a workload. docs/formats-workload-plan.md has the
/// formulas.
#include <algorithm>

#include "base/error.hpp"
#include "models/workload.hpp"

namespace auspex::models {

namespace {

/// One linear layer: a matrix of in x out, and `out` biases where the model has them.
struct Linear {
    double in = 0, out = 0;
};

std::vector<Linear> attention_layers(const Workload& workload) {
    const double hidden = workload.hidden_size;
    const double heads = workload.heads;
    if (workload.attention == AttentionKind::kMultiHead) {
        const double query = heads * workload.head_size;
        const double key = static_cast<double>(workload.kv_heads) * workload.head_size;
        return {{hidden, query}, {hidden, key}, {hidden, key}, {query, hidden}};
    }
    const double query = heads * (workload.head_size + workload.rope_head_size);
    std::vector<Linear> layers;
    if (workload.q_rank > 0) {
        layers.push_back({hidden, static_cast<double>(workload.q_rank)});
        layers.push_back({static_cast<double>(workload.q_rank), query});
    } else {
        layers.push_back({hidden, query});
    }
    layers.push_back({hidden, static_cast<double>(workload.kv_rank + workload.rope_head_size)});
    layers.push_back({static_cast<double>(workload.kv_rank), heads * (workload.head_size + workload.value_head_size)});
    layers.push_back({heads * workload.value_head_size, hidden});
    return layers;
}

std::vector<Linear> feed_forward_layers(const Workload& workload, double width) {
    const double hidden = workload.hidden_size;
    if (workload.feed_forward == FeedForward::kSwiGlu) {
        return {{hidden, width}, {hidden, width}, {width, hidden}};
    }
    return {{hidden, width}, {width, hidden}};
}

double weights(const std::vector<Linear>& layers) {
    double sum = 0;
    for (const Linear& layer : layers) {
        sum += layer.in * layer.out;
    }
    return sum;
}

double parameters(const Workload& workload, const std::vector<Linear>& layers) {
    double sum = weights(layers);
    for (const Linear& layer : layers) {
        sum += workload.biases ? layer.out : 0;
    }
    return sum;
}

/// Tensors, and so parameters per normalised element, of one norm.
int tensors_of_norm(const Workload& workload) {
    switch (workload.norm) {
        case NormKind::kRms: return 1;
        case NormKind::kNonParametric: return 0;
        case NormKind::kLayer: return 2;
    }
    return 0;
}

/// Widths normalised in one layer: before attention, before the feed-forward, queries and keys (all heads together, as
/// OLMoE does), and the two latents of MLA.
std::vector<double> norm_widths(const Workload& workload) {
    std::vector<double> widths(2, workload.hidden_size);
    if (workload.qk_norm) {
        widths.push_back(static_cast<double>(workload.heads) * workload.head_size);
        widths.push_back(static_cast<double>(workload.kv_heads) * workload.head_size);
    }
    if (workload.attention == AttentionKind::kLatent) {
        if (workload.q_rank > 0) {
            widths.push_back(workload.q_rank);
        }
        widths.push_back(workload.kv_rank);
    }
    return widths;
}

/// Of the state, of the embedding, and in front of the LM head.
constexpr int kNormsOfPrediction = 3;

/// Matrices outside attention, feed-forward and experts: scales, shifts and gates of both norms.
std::vector<Linear> modulation_layers(const Workload& workload) {
    const double hidden = workload.hidden_size;
    return workload.image.adaptive_norm ? std::vector<Linear>{{hidden, 6 * hidden}} : std::vector<Linear>{};
}

double embedding_rows(const Workload& workload) {
    return workload.image.is_given() ? workload.image.input_channels : workload.vocab_size;
}

double shared_width(const Workload& workload) {
    return static_cast<double>(workload.shared_experts) * workload.expert_size;
}

/// A layer's parameters when `experts` of its routed experts are counted.
ParameterCount count_layer(const Workload& workload, int layer, double experts) {
    ParameterCount count;
    count.attention = parameters(workload, attention_layers(workload));
    for (const double width : norm_widths(workload)) {
        count.norm += tensors_of_norm(workload) * width;
    }
    count.norm += parameters(workload, modulation_layers(workload));
    if (layer >= workload.layers) {
        const double hidden = workload.hidden_size;
        count.prediction = parameters(workload, {{2 * hidden, hidden}});
        count.norm += kNormsOfPrediction * tensors_of_norm(workload) * hidden;
    }
    if (!workload.is_moe_layer(layer)) {
        count.dense_feed_forward = parameters(workload, feed_forward_layers(workload, workload.intermediate_size));
        return count;
    }
    count.router =
        parameters(workload, {{static_cast<double>(workload.hidden_size), static_cast<double>(workload.num_experts)}});
    count.experts = experts * parameters(workload, feed_forward_layers(workload, workload.expert_size));
    if (workload.shared_experts > 0) {
        count.shared_experts = parameters(workload, feed_forward_layers(workload, shared_width(workload)));
    }
    return count;
}

ParameterCount count_model(const Workload& workload, double experts) {
    const double hidden = workload.hidden_size;
    ParameterCount sum;
    sum.embedding = hidden * embedding_rows(workload);
    sum.positions = workload.learned_positions ? hidden * workload.sequence_length : 0;
    sum.norm = tensors_of_norm(workload) * hidden;
    sum.lm_head = workload.tied_embeddings ? 0 : hidden * workload.vocab_size;
    for (int layer = 0; layer < workload.layers_and_predictions(); ++layer) {
        const ParameterCount count = count_layer(workload, layer, experts);
        sum.attention += count.attention;
        sum.norm += count.norm;
        sum.dense_feed_forward += count.dense_feed_forward;
        sum.router += count.router;
        sum.experts += count.experts;
        sum.shared_experts += count.shared_experts;
        sum.prediction += count.prediction;
    }
    return sum;
}

}  // namespace

ParameterCount count_parameters(const Workload& workload) { return count_model(workload, workload.num_experts); }

ParameterCount count_active_parameters(const Workload& workload) { return count_model(workload, workload.top_k); }

ParameterCount count_layer_parameters(const Workload& workload, int layer) {
    AUSPEX_CHECK(layer >= 0 && layer < workload.layers_and_predictions(), "the layer must exist");
    return count_layer(workload, layer, workload.num_experts);
}

double mean_keys(const Workload& workload) {
    const double s = workload.sequence_length, w = workload.window;
    if (workload.image.is_given()) {
        return workload.image.window_tokens();
    }
    if (workload.window == 0 || workload.window >= workload.sequence_length) {
        return s / 2;
    }
    const double windowed = static_cast<double>(workload.windowed_layers) / workload.layers;
    return windowed * (w - w * w / (2 * s)) + (1 - windowed) * s / 2;
}

TokenFlop count_token_flop(const Workload& workload) {
    const double layers = workload.layers_and_predictions(), predictions = workload.mtp_layers;
    const double moe_layers = workload.moe_layers();
    const double kept = workload.capacity_factor > 0 ? std::min(1.0, workload.capacity_factor) : 1;
    const bool latent = workload.attention == AttentionKind::kLatent;
    const double key_size = workload.head_size + (latent ? workload.rope_head_size : 0);
    const double value_size = latent ? workload.value_head_size : workload.head_size;
    TokenFlop flop;
    flop.attention_projections = layers * 2 * weights(attention_layers(workload));
    // A causal token sees half of the sequence on average: 2 S/2 multiply-adds' FLOP per element of key and of value.
    flop.attention_scores = layers * 2 * mean_keys(workload) * workload.heads * (key_size + value_size);
    flop.dense_feed_forward =
        (layers - moe_layers) * 2 * weights(feed_forward_layers(workload, workload.intermediate_size));
    flop.router = moe_layers * 2 * workload.hidden_size * workload.num_experts;
    flop.experts =
        kept * moe_layers * workload.top_k * 2 * weights(feed_forward_layers(workload, workload.expert_size));
    flop.shared_experts = moe_layers * 2 * weights(feed_forward_layers(workload, shared_width(workload)));
    const double channels = workload.image.input_channels;
    flop.lm_head = 2.0 * workload.hidden_size * ((1 + predictions) * workload.vocab_size + channels);
    flop.prediction = predictions * 2 * weights({{2.0 * workload.hidden_size, 1.0 * workload.hidden_size}});
    flop.references = workload.objective == Objective::kDpo ? 1 : 0;
    return flop;
}

int replicated_tensors_per_layer(const Workload& workload, int layer) {
    AUSPEX_CHECK(layer >= 0 && layer < workload.layers_and_predictions(), "the layer must exist");
    const auto count_of = [](const std::vector<Linear>& layers) { return static_cast<int>(layers.size()); };
    const bool predicts = layer >= workload.layers;
    int linears = count_of(attention_layers(workload)) + count_of(modulation_layers(workload)) + (predicts ? 1 : 0);
    if (!workload.is_moe_layer(layer)) {
        linears += count_of(feed_forward_layers(workload, workload.intermediate_size));
    } else {
        linears += 1;
        linears += workload.shared_experts > 0 ? count_of(feed_forward_layers(workload, shared_width(workload))) : 0;
    }
    const int normed = static_cast<int>(norm_widths(workload).size()) + (predicts ? kNormsOfPrediction : 0);
    const int norms = normed * tensors_of_norm(workload);
    return linears * (workload.biases ? 2 : 1) + norms;
}

}  // namespace auspex::models
