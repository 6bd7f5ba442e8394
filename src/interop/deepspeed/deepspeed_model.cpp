/// @file A workload's shapes as arguments of Megatron-DeepSpeed.
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/deepspeed/deepspeed.hpp"
#include "interop/training_source.hpp"

namespace auspex::interop {
namespace {

void refuse(const models::Workload& workload, const char* field, const std::string& found, const char* expected) {
    throw InputError(workload.file + ": $." + field,
                     "found " + found + "; expected " + expected + " with Megatron-DeepSpeed");
}

void check(const models::Workload& workload) {
    if (workload.attention != models::AttentionKind::kMultiHead) {
        refuse(workload, "attention", "\"latent\"", "\"multi-head\"");
    }
    if (workload.qk_norm) {
        refuse(workload, "qk_norm", "true", "false");
    }
    if (workload.norm == models::NormKind::kNonParametric) {
        refuse(workload, "norm", "\"non-parametric\"", "\"rms\" or \"layer\"");
    }
    if (workload.mtp_layers > 0) {
        refuse(workload, "mtp_layers", std::to_string(workload.mtp_layers), "0");
    }
    if (workload.router_bias) {
        refuse(workload, "router_bias", "true", "false");
    }
    if (workload.capacity_factor > 0 && !workload.pad_to_capacity) {
        refuse(workload, "pad_to_capacity", "false", "true beside a capacity_factor, which DeepSpeed pads to,");
    }
    if (workload.shared_experts > 0) {
        refuse(workload, "shared_experts", std::to_string(workload.shared_experts), "0");
    }
    if (workload.first_dense_layers > 0) {
        refuse(workload, "first_dense_layers", std::to_string(workload.first_dense_layers), "0");
    }
}

void add_experts(const models::Workload& workload, Settings& settings) {
    settings.push_back({"--num-experts", std::to_string(workload.num_experts), "workload.num_experts"});
    settings.push_back({"--topk", std::to_string(workload.top_k), "workload.top_k"});
    settings.push_back({"--mlp-type", "standard", "workload.shared_experts"});
    settings.push_back({"--expert-interval", "1", "workload.first_dense_layers"});
    if (workload.capacity_factor > 0) {
        settings.push_back(
            {"--moe-train-capacity-factor", json_number(workload.capacity_factor), "workload.capacity_factor"});
        settings.push_back({"--moe-min-capacity", "0", "workload.capacity_factor"});  // its own is 4 rows
    } else {
        settings.push_back({"--disable-moe-token-dropping", "", "workload.capacity_factor"});
    }
    settings.push_back({"--moe-loss-coeff", json_number(workload.training.auxiliary_loss),
                        training_source(workload.training, "auxiliary_loss")});
}

}  // namespace

Settings deepspeed_model(const models::Workload& workload) {
    check(workload);
    Settings settings;
    const auto add = [&settings](const char* name, int value, const char* from) {
        settings.push_back({name, std::to_string(value), from});
    };
    const auto add_switch = [&settings](const char* name, const char* from) { settings.push_back({name, "", from}); };
    add("--num-layers", workload.layers, "workload.layers");
    add("--hidden-size", workload.hidden_size, "workload.hidden_size");
    add("--num-attention-heads", workload.heads, "workload.heads");
    add("--num-key-value-heads", workload.kv_heads, "workload.kv_heads");
    add("--kv-channels", workload.head_size, "workload.head_size");
    const bool has_experts = workload.num_experts > 0;
    add("--ffn-hidden-size", has_experts ? workload.expert_size : workload.intermediate_size,
        has_experts ? "workload.expert_size" : "workload.intermediate_size");
    add("--seq-length", workload.sequence_length, "workload.sequence_length");
    add("--max-position-embeddings", workload.sequence_length, "workload.sequence_length");
    add("--vocab-size", workload.vocab_size, "workload.vocab_size");
    if (!workload.learned_positions) {
        add_switch("--use-rotary-position-embeddings", "workload.learned_positions");
        settings.push_back({"--rope-theta", json_number(workload.training.rope_theta),
                            training_source(workload.training, "rope_theta")});
    }
    for (const char* dropout : {"--attention-dropout", "--hidden-dropout"}) {
        settings.push_back({dropout, "0", "no dropout is modelled; Megatron-DeepSpeed's own is 0.1"});
    }
    settings.push_back(
        {"--normalization", workload.norm == models::NormKind::kRms ? "rmsnorm" : "layernorm", "workload.norm"});
    if (workload.feed_forward == models::FeedForward::kSwiGlu) {
        add_switch("--swiglu", "workload.feed_forward");
    }
    if (!workload.biases) {
        add_switch("--disable-bias-linear", "workload.biases");
    }
    if (!workload.tied_embeddings) {
        add_switch("--untie-embeddings-and-output-weights", "workload.tied_embeddings");
    }
    if (has_experts) {
        add_experts(workload, settings);
    }
    return settings;
}

}  // namespace auspex::interop
