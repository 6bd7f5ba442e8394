/// @file Words of a case's model, as keys of a workload.
#include "compare/evaluate/runs/run_workload.hpp"

#include <algorithm>
#include <sstream>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "compare/evaluate/words/window_words.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

void write_attention(JsonWriter& json, const PublishedRun& run, std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.attention == "MLA") {
        if (m.are_latents_assumed) {
            notes.push_back("latents as DeepSeek has them are assumed: " + std::to_string(m.kv_rank) +
                            " of keys and values, " + (m.q_rank > 0 ? std::to_string(m.q_rank) : std::string("none")) +
                            " of queries, heads of " + std::to_string(m.plain_head_size) + " + " +
                            std::to_string(m.rope_head_size));
        }
        json.member("attention", "latent").member("kv_heads", m.heads).member("head_size", m.plain_head_size);
        json.member("q_rank", m.q_rank).member("kv_rank", m.kv_rank).member("rope_head_size", m.rope_head_size);
        json.member("value_head_size", m.value_head_size);
        return;
    }
    const bool are_copied = m.kv_heads > 0 && m.kv_heads < run.plan.tp && run.plan.tp % m.kv_heads == 0;
    if (are_copied) {
        notes.push_back("each of tp " + std::to_string(run.plan.tp) +
                        " ranks has a head of keys and values, copies of " + std::to_string(m.kv_heads));
    }
    json.member("attention", "multi-head").member("kv_heads", are_copied ? run.plan.tp : m.kv_heads);
    json.member("head_size", m.head_size);
}

void write_window(JsonWriter& json, const PublishedRun& run) {
    const std::optional<StatedWindow> window = window_in(run.model.window, run.model.layers);
    if (!window) {
        refuse(run.id, "sliding_window " + json_quote(run.model.window),
               "TOKENS, alone or with \"on alternate layers\", \"on every layer\" or \"on N of M layers\"");
    }
    if (window->layers > 0 && window->tokens < run.model.sequence) {
        json.member("window", window->tokens).member("windowed_layers", window->layers);
    }
}

/// Routing limited to some groups of experts: as the case says, or as DeepSeek-V3 has it (arXiv:2412.19437,
/// section 2.1.2: 4 of 8).
void write_expert_groups(JsonWriter& json, const PublishedRun::Model& m, std::vector<std::string>& notes) {
    constexpr int kExperts = 256, kGroups = 8, kChosen = 4;
    const bool is_known = m.expert_groups == 0 && m.name.starts_with("deepseek-v3") && m.experts == kExperts;
    if (is_known) {
        notes.emplace_back("experts of 4 of 8 groups are assumed");
    }
    if (is_known || m.expert_groups > 0) {
        json.member("expert_groups", is_known ? kGroups : m.expert_groups);
        json.member("top_k_groups", is_known ? kChosen : m.top_k_groups);
    }
}

/// As the case says, or where the framework cannot do without one, its default.
void write_capacity(JsonWriter& json, const PublishedRun& run, const RunNames::Framework& framework,
                    std::vector<std::string>& notes) {
    const bool is_stated = run.plan.capacity_factor > 0;
    const double factor = is_stated ? run.plan.capacity_factor : framework.capacity_unstated;
    if (factor <= 0) {
        return;
    }
    if (!is_stated) {
        notes.push_back("capacity_factor " + json_number(factor) + " is assumed");
    }
    json.member("capacity_factor", factor).member("pad_to_capacity", framework.pads_to_capacity);
}

void write_experts(JsonWriter& json, const PublishedRun& run, const RunNames::Framework& framework,
                   std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.experts == 0 || m.dense_layers > 0) {
        if (m.ffn < 1) {
            refuse(run.id, "no inner width of dense layers", "model.ffn");
        }
        json.member("intermediate_size", m.ffn);
    }
    if (m.is_ffn_assumed) {
        notes.emplace_back("an inner width of 4 hidden is assumed");
    }
    if (m.experts == 0) {
        if (m.top_k > 0) {
            notes.emplace_back("topk is passed over: without experts the model is dense");
        }
        return;
    }
    if (m.expert_ffn < 1 || m.top_k < 1) {
        refuse(run.id, "experts without model.moe_ffn or model.topk", "both");
    }
    if (m.are_experts_assumed) {
        notes.push_back("experts as wide as ffn, " + std::to_string(m.expert_ffn) + ", are assumed");
    }
    json.member("num_experts", m.experts).member("top_k", m.top_k).member("expert_size", m.expert_ffn);
    json.member("shared_experts", m.shared_experts).member("first_dense_layers", m.dense_layers);
    if (m.expert_interval > 1) {
        if (run.plan.pp > 1) {
            refuse(run.id,
                   "moe_layer_freq " + std::to_string(m.expert_interval) + " with pp " + std::to_string(run.plan.pp),
                   "pp 1: models have all dense layers in front, which makes stages unequal");
        }
        notes.push_back("experts in one of every " + std::to_string(m.expert_interval) +
                        " layers are taken as those of the last ones, behind all dense layers");
    }
    write_expert_groups(json, m, notes);
    write_capacity(json, run, framework, notes);
}

bool is_squared_relu(const PublishedRun::Model& m) {
    const std::string words = lower_case(m.activation);
    return has(words, "relu") && contains_any(words, {"squared", "relu2", "relu^2", "relu**2", "relu²"});
}

void note_activation(const PublishedRun::Model& m, bool swiglu, std::vector<std::string>& notes) {
    const std::string words = lower_case(m.activation), taken = swiglu ? "SwiGLU" : "GELU";
    if (!says_gated(m)) {
        notes.push_back((m.activation.empty() ? "" : json_quote(m.activation) + " is not known: ") + taken +
                        " is assumed");
    } else if (words != "swiglu" && words != "gelu") {
        notes.push_back(m.activation + " is taken as " + taken);
    }
}

/// As the case says, or as gpt-oss has them (config.json: attention_bias, and biases of its experts); else those of
/// GPT.
bool has_biases(const PublishedRun::Model& m, bool is_gpt, std::vector<std::string>& notes) {
    std::string name = lower_case(m.name);
    std::ranges::replace(name, '_', '-');
    const bool is_known = !m.biases && has(name, "gpt-oss");
    if (is_known) {
        notes.emplace_back("biases are assumed");
    }
    return m.biases.value_or(is_gpt || is_known);
}

}  // namespace

std::string workload_text(const PublishedRun& run, const RunNames::Framework& framework,
                          std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.heads < 1) {
        refuse(run.id, "no number of attention heads", "model.heads");
    }
    if (m.head_size * m.heads != m.hidden && !m.has_head_size && m.attention != "MLA") {
        notes.push_back("hidden is no multiple of heads: heads of " + std::to_string(m.head_size) + " are assumed");
    }
    const bool swiglu = is_swiglu(m);
    if (swiglu && m.is_kv_assumed && m.attention != "MLA") {
        notes.push_back(std::to_string(m.kv_heads) + " heads of keys and values, as of queries, are assumed");
    }
    note_activation(m, swiglu, notes);
    const bool is_gpt = !swiglu && !is_squared_relu(m);  // those with squared ReLU are like SwiGLU's in all else
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source);
        json.member("layers", m.layers).member("hidden_size", m.hidden).member("heads", m.heads);
        write_attention(json, run, notes);
        json.member("norm", swiglu ? "rms" : "layer").member("feed_forward", swiglu ? "swiglu" : "gelu");
        json.member("biases", has_biases(m, is_gpt, notes)).member("learned_positions", is_gpt && m.position.empty());
        write_experts(json, run, framework, notes);
        write_window(json, run);
        if (m.prediction_layers > 0) {
            json.member("mtp_layers", m.prediction_layers);
        }
        json.member("vocab_size", m.vocab).member("tied_embeddings", m.tied_embeddings.value_or(is_gpt));
        json.member("sequence_length", m.sequence).end_object();
    }
    return out.str();
}

}  // namespace auspex::evaluate
