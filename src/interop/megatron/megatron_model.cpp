/// @file A workload's shapes as arguments of Megatron-LM.
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/megatron/megatron.hpp"
#include "interop/training_source.hpp"

namespace auspex::interop {
namespace {

void add_attention(const models::Workload& workload, Settings& settings) {
    const auto add = [&settings](const char* name, int value, const char* from) {
        settings.push_back({name, std::to_string(value), from});
    };
    add("--num-attention-heads", workload.heads, "workload.heads");
    if (workload.attention == models::AttentionKind::kLatent) {
        settings.push_back({"--multi-latent-attention", "", "workload.attention"});
        if (workload.q_rank > 0) {
            add("--q-lora-rank", workload.q_rank, "workload.q_rank");
        }
        add("--kv-lora-rank", workload.kv_rank, "workload.kv_rank");
        add("--qk-head-dim", workload.head_size, "workload.head_size");
        add("--qk-pos-emb-head-dim", workload.rope_head_size, "workload.rope_head_size");
        add("--v-head-dim", workload.value_head_size, "workload.value_head_size");
        settings.push_back({"--qk-layernorm", "", "workload.attention"});  // the norms of the latents
        return;
    }
    if (workload.kv_heads != workload.heads) {
        settings.push_back({"--group-query-attention", "", "workload.kv_heads"});
        add("--num-query-groups", workload.kv_heads, "workload.kv_heads");
    }
    add("--kv-channels", workload.head_size, "workload.head_size");
    if (workload.qk_norm) {
        settings.push_back({"--qk-layernorm", "", "workload.qk_norm"});
    }
}

void add_experts(const models::Workload& workload, Settings& settings) {
    const models::Training& training = workload.training;
    const auto add = [&settings](const char* name, const std::string& value, const std::string& from) {
        settings.push_back({name, value, from});
    };
    add("--num-experts", std::to_string(workload.num_experts), "workload.num_experts");
    add("--moe-router-topk", std::to_string(workload.top_k), "workload.top_k");
    add("--moe-ffn-hidden-size", std::to_string(workload.expert_size), "workload.expert_size");
    if (workload.shared_experts > 0) {
        add("--moe-shared-expert-intermediate-size", std::to_string(workload.shared_experts * workload.expert_size),
            "workload.shared_experts");
    }
    if (workload.top_k_groups < workload.expert_groups) {
        add("--moe-router-num-groups", std::to_string(workload.expert_groups), "workload.expert_groups");
        add("--moe-router-group-topk", std::to_string(workload.top_k_groups), "workload.top_k_groups");
    }
    if (workload.router_bias) {
        add("--moe-router-enable-expert-bias", "", "workload.router_bias");
        add("--moe-router-score-function", "sigmoid", "Megatron-LM moves biases of sigmoid scores only");
    }
    if (workload.capacity_factor > 0) {
        add("--moe-expert-capacity-factor", json_number(workload.capacity_factor), "workload.capacity_factor");
        if (workload.pad_to_capacity) {
            add("--moe-pad-expert-input-to-capacity", "", "workload.pad_to_capacity");
        }
    }
    const std::string of_balance = training_source(training, "auxiliary_loss");
    add("--moe-router-load-balancing-type", "aux_loss", of_balance);
    add("--moe-aux-loss-coeff", json_number(training.auxiliary_loss), of_balance);
    add("--moe-z-loss-coeff", json_number(training.z_loss), training_source(training, "z_loss"));
    if (!training.normalize_top_k) {
        add("--moe-router-pre-softmax", "", training_source(training, "normalize_top_k"));
    }
    if (workload.first_dense_layers > 0) {
        add("--moe-layer-freq",
            "\"([0]*" + std::to_string(workload.first_dense_layers) + "+[1]*" +
                std::to_string(workload.layers - workload.first_dense_layers) + ")\"",
            "workload.first_dense_layers");
    }
}

}  // namespace

Settings megatron_model(const models::Workload& workload) {
    Settings settings;
    const auto add = [&settings](const char* name, int value, const char* from) {
        settings.push_back({name, std::to_string(value), from});
    };
    if (workload.window > 0 && workload.windowed_layers > 0) {
        throw InputError(workload.file + ": $.window",
                         "found " + std::to_string(workload.window) +
                             "; expected no such key: windows are not written for Megatron-LM");
    }
    const auto add_switch = [&settings](const char* name, const char* from) { settings.push_back({name, "", from}); };
    add("--num-layers", workload.layers, "workload.layers");
    add("--hidden-size", workload.hidden_size, "workload.hidden_size");
    if (workload.intermediate_size > 0) {
        add("--ffn-hidden-size", workload.intermediate_size, "workload.intermediate_size");
    }
    add("--seq-length", workload.sequence_length, "workload.sequence_length");
    add("--max-position-embeddings", workload.sequence_length, "workload.sequence_length");
    add("--vocab-size", workload.vocab_size, "workload.vocab_size");
    settings.push_back({"--position-embedding-type", workload.learned_positions ? "learned_absolute" : "rope",
                        "workload.learned_positions"});
    if (workload.norm == models::NormKind::kNonParametric) {
        throw InputError(workload.file + ": $.norm",
                         "found \"non-parametric\"; expected \"rms\" or \"layer\" with Megatron-LM, whose norms have "
                         "weights");
    }
    const models::Training& training = workload.training;
    const auto add_number = [&](const char* name, const std::string& value, const char* key) {
        settings.push_back({name, value, training_source(training, key)});
    };
    if (!workload.learned_positions) {
        add_number("--rotary-base", std::to_string(std::llround(training.rope_theta)),
                   "rope_theta");  // whole ones only
    }
    add_number("--norm-epsilon", json_number(training.norm_epsilon), "norm_epsilon");
    add_number("--init-method-std", json_number(training.initial_deviation), "initial_deviation");
    for (const char* dropout : {"--attention-dropout", "--hidden-dropout"}) {
        settings.push_back({dropout, "0", "no dropout is modelled; Megatron-LM's own is 0.1"});
    }
    settings.push_back(
        {"--normalization", workload.norm == models::NormKind::kRms ? "RMSNorm" : "LayerNorm", "workload.norm"});
    if (workload.feed_forward == models::FeedForward::kSwiGlu) {
        add_switch("--swiglu", "workload.feed_forward");
    }
    if (!workload.biases) {
        add_switch("--disable-bias-linear", "workload.biases");
    }
    if (!workload.tied_embeddings) {
        add_switch("--untie-embeddings-and-output-weights", "workload.tied_embeddings");
    }
    if (workload.mtp_layers > 0) {
        add("--mtp-num-layers", workload.mtp_layers, "workload.mtp_layers");
    }
    add_attention(workload, settings);
    if (workload.num_experts > 0) {
        add_experts(workload, settings);
    }
    return settings;
}

}  // namespace auspex::interop
