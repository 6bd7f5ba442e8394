/// @file Settings by name, and their comparison.
#include "exec/state/run_settings.hpp"

#include "base/json.hpp"
#include "base/sha256.hpp"

namespace auspex::exec {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(double value) { return json_number(value); }

const char* word_of(models::NormKind norm) {
    return norm == models::NormKind::kRms             ? "rms"
           : norm == models::NormKind::kNonParametric ? "non-parametric"
                                                      : "layer";
}

const char* word_of(models::RoutingDistribution routing) {
    return routing == models::RoutingDistribution::kUniform ? "uniform"
           : routing == models::RoutingDistribution::kTrace ? "trace"
                                                            : "learned";
}

}  // namespace

/// What only some models have is not named for others: their checkpoints are older than it.
Settings model_settings(const models::Workload& w, const models::Training& t) {
    Settings settings{{"layers", text_of(w.layers)},
                      {"hidden_size", text_of(w.hidden_size)},
                      {"heads", text_of(w.heads)},
                      {"kv_heads", text_of(w.kv_heads)},
                      {"head_size", text_of(w.head_size)},
                      {"intermediate_size", text_of(w.intermediate_size)},
                      {"vocab_size", text_of(w.vocab_size)},
                      {"tied_embeddings", text_of(w.tied_embeddings)},
                      {"qk_norm", text_of(w.qk_norm)},
                      {"learned_positions", text_of(w.learned_positions)},
                      {"biases", text_of(w.biases)},
                      {"norm", word_of(w.norm)},
                      {"norm_epsilon", text_of(t.norm_epsilon)},
                      {"feed_forward", w.feed_forward == models::FeedForward::kSwiGlu ? "swiglu" : "gelu"},
                      {"attention", w.attention == models::AttentionKind::kMultiHead ? "multi-head" : "latent"},
                      {"q_rank", text_of(w.q_rank)},
                      {"kv_rank", text_of(w.kv_rank)},
                      {"rope_head_size", text_of(w.rope_head_size)},
                      {"value_head_size", text_of(w.value_head_size)},
                      {"rope_theta", text_of(t.rope_theta)},
                      {"num_experts", text_of(w.num_experts)},
                      {"top_k", text_of(w.top_k)},
                      {"normalize_top_k", text_of(t.normalize_top_k)},
                      {"expert_size", text_of(w.expert_size)},
                      {"shared_experts", text_of(w.shared_experts)},
                      {"first_dense_layers", text_of(w.first_dense_layers)}};
    if (w.window > 0 && w.window < w.sequence_length && w.windowed_layers > 0) {
        settings["window"] = text_of(w.window);
        settings["windowed_layers"] = text_of(w.windowed_layers);
    }
    if (w.capacity_factor > 0) {
        settings["capacity_factor"] = text_of(w.capacity_factor);
    }
    if (w.mtp_layers > 0) {
        settings["mtp_layers"] = text_of(w.mtp_layers);
    }
    if (w.router_bias) {
        settings["router_bias"] = text_of(w.router_bias);
    }
    return settings;
}

Settings training_settings(const RunInputs& run, const std::string& content_digest) {
    const models::Training& t = run.training;
    Settings settings{{"dataset", content_digest},
                      {"seed", std::to_string(run.seed)},
                      {"sequence_length", text_of(run.workload.sequence_length)},
                      {"global_batch", text_of(run.layout.global_batch)},
                      {"micro_batch_size", text_of(run.plan.micro_batch_size)},
                      {"precision", run.plan.precision},
                      {"gradient_bytes", text_of(run.plan.gradient_bytes)},
                      {"routing", word_of(run.plan.routing.kind)},
                      {"learning_rate", text_of(t.learning_rate)},
                      {"final_learning_rate", text_of(t.final_learning_rate)},
                      {"warmup_steps", text_of(t.warmup_steps)},
                      {"decay_end", text_of(t.decay_steps > 0 ? t.decay_steps : run.last_step + 1)},
                      {"beta1", text_of(t.beta1)},
                      {"beta2", text_of(t.beta2)},
                      {"epsilon", text_of(t.epsilon)},
                      {"weight_decay", text_of(t.weight_decay)},
                      {"clip", text_of(t.clip)},
                      {"auxiliary_loss", text_of(t.auxiliary_loss)},
                      {"global_aux_loss", text_of(run.workload.global_aux_loss)},
                      {"z_loss", text_of(t.z_loss)},
                      {"initial_deviation", text_of(t.initial_deviation)}};
    if (run.workload.mtp_layers > 0) {
        settings["prediction_loss"] = text_of(t.prediction_loss);
    }
    if (run.workload.router_bias) {
        settings["router_bias_speed"] = text_of(t.router_bias_speed);
    }
    return settings;
}

std::string changes(const Settings& before, const Settings& now) {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& value, const std::string& was) {
        text += (text.empty() ? "" : "; ") + name + " " + was + ", now " + value;
    };
    for (const auto& [name, value] : now) {
        const auto found = before.find(name);
        if (found == before.end()) {
            add(name, value, "unknown");
        } else if (found->second != value) {
            add(name, value, found->second);
        }
    }
    for (const auto& [name, value] : before) {
        if (!now.contains(name)) {
            add(name, "unknown", value);
        }
    }
    return text;
}

}  // namespace auspex::exec
