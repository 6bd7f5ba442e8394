/// @file Shapes of a workload as a model that Optimus-LM scales.
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/optimus/optimus.hpp"

namespace auspex::interop {
namespace {

using models::Workload;

/// A published model, and which of its shapes a tag changes.
struct Base {
    const char* name;
    Workload shapes;
    bool scales_shapes;  ///< SA, SH, SE, SI and L; else experts (N) and L
};

/// arXiv:2409.02060, Table 1, and its config.json.
Workload olmoe() {
    Workload w;
    w.layers = 16, w.hidden_size = 2048, w.heads = w.kv_heads = 16, w.head_size = 128, w.vocab_size = 50'304;
    w.qk_norm = true, w.num_experts = 64, w.top_k = 8, w.expert_size = 1024;
    return w;
}

/// Its head is untied: arXiv:2604.00785 counts 1.3 B parameters.
Workload olmo_1b() {
    Workload w;
    w.layers = 16, w.hidden_size = 2048, w.heads = w.kv_heads = 16, w.head_size = 128, w.vocab_size = 50'304;
    w.norm = models::NormKind::kNonParametric, w.intermediate_size = 8192;
    return w;
}

/// arXiv:2412.19437, section 4.2.
Workload deepseek_v3() {
    Workload w;
    w.layers = 61, w.hidden_size = 7168, w.heads = w.kv_heads = 128, w.head_size = 128, w.vocab_size = 129'280;
    w.attention = models::AttentionKind::kLatent;
    w.q_rank = 1536, w.kv_rank = 512, w.rope_head_size = 64, w.value_head_size = 128, w.intermediate_size = 18'432;
    w.num_experts = 256, w.top_k = 8, w.expert_size = 2048, w.shared_experts = 1, w.first_dense_layers = 3;
    return w;
}

/// A field of the workload that has to be the base's.
struct Fixed {
    const char* field;
    std::string own, of_base;
};

std::string word(bool holds) { return holds ? "true" : "false"; }
std::string word(models::AttentionKind kind) {
    return kind == models::AttentionKind::kLatent ? "\"latent\"" : "\"multi-head\"";
}
std::string word(models::FeedForward kind) { return kind == models::FeedForward::kSwiGlu ? "\"swiglu\"" : "\"gelu\""; }
std::string word(models::NormKind kind) {
    return kind == models::NormKind::kRms     ? "\"rms\""
           : kind == models::NormKind::kLayer ? "\"layer\""
                                              : "\"non-parametric\"";
}

std::vector<Fixed> fixed_shapes(const Workload& w, const Base& base) {
    const Workload& b = base.shapes;
    std::vector<Fixed> fixed{{"attention", word(w.attention), word(b.attention)},
                             {"norm", word(w.norm), word(b.norm)},
                             {"qk_norm", word(w.qk_norm), word(b.qk_norm)},
                             {"feed_forward", word(w.feed_forward), word(b.feed_forward)},
                             {"biases", word(w.biases), word(b.biases)},
                             {"learned_positions", word(w.learned_positions), word(b.learned_positions)},
                             {"tied_embeddings", word(w.tied_embeddings), word(b.tied_embeddings)},
                             {"router_bias", word(w.router_bias), word(b.router_bias)},
                             {"capacity_factor", json_number(w.capacity_factor), json_number(b.capacity_factor)},
                             {"mtp_layers", std::to_string(w.mtp_layers), std::to_string(b.mtp_layers)}};
    const bool scales = base.scales_shapes;
    for (const auto& [field, own, of_base] : {std::tuple("heads", w.heads, scales ? w.heads : b.heads),
                                              {"kv_heads", w.kv_heads, scales ? w.heads : b.kv_heads},
                                              {"head_size", w.head_size, b.head_size},
                                              {"hidden_size", w.hidden_size, scales ? w.hidden_size : b.hidden_size},
                                              {"expert_size", w.expert_size, scales ? w.expert_size : b.expert_size},
                                              {"vocab_size", w.vocab_size, b.vocab_size},
                                              {"top_k", w.top_k, b.top_k},
                                              {"intermediate_size", w.intermediate_size, b.intermediate_size},
                                              {"shared_experts", w.shared_experts, b.shared_experts},
                                              {"first_dense_layers", w.first_dense_layers, b.first_dense_layers},
                                              {"q_rank", w.q_rank, b.q_rank},
                                              {"kv_rank", w.kv_rank, b.kv_rank},
                                              {"rope_head_size", w.rope_head_size, b.rope_head_size},
                                              {"value_head_size", w.value_head_size, b.value_head_size}}) {
        fixed.push_back({field, std::to_string(own), std::to_string(of_base)});
    }
    return fixed;
}

void require_base(const Workload& workload, const Base& base) {
    for (const Fixed& one : fixed_shapes(workload, base)) {
        if (one.own != one.of_base) {
            throw InputError(workload.file + ": $." + one.field,
                             "found " + one.own + "; expected " + one.of_base + ", as " + base.name +
                                 " has: with Optimus-LM only what it scales of a model may be another");
        }
    }
}

/// "SE1.5" where a shape is another than the base's. A factor of more than four decimals is none that a name has.
std::string scaled(const Workload& workload, const char* letters, const char* field, int own, int of_base) {
    if (own == of_base) {
        return "";
    }
    const double factor = static_cast<double>(own) / of_base;
    constexpr double kDecimals = 1e4;
    const double rounded = std::round(factor * kDecimals) / kDecimals;
    if (std::llround(rounded * of_base) != own || std::abs(rounded * of_base - own) > 1e-9 * own) {
        throw InputError(workload.file + ": $." + field,
                         "found " + std::to_string(own) + "; expected " + std::to_string(of_base) +
                             " times a number of at most four decimals: Optimus-LM scales OLMoE-1B-7B");
    }
    return "-" + std::string(letters) + json_number(rounded);
}

std::string with_tag(const char* name, const std::string& tag) {
    return tag.empty() ? name : std::string(name) + "-" + tag;  // two "-" in front of the first
}

std::string layers_tag(const Workload& workload, const Base& base) {
    return workload.layers == base.shapes.layers ? "" : "-L" + std::to_string(workload.layers);
}

}  // namespace

std::string optimus_model(const Workload& workload) {
    const Base dense{"allenai/OLMo-1B-hf", olmo_1b(), false};
    const Base latent{"deepseek-ai/DeepSeek-V3", deepseek_v3(), false};
    const Base sparse{"allenai/OLMoE-1B-7B-0924", olmoe(), true};
    const Base& base = workload.num_experts == 0                              ? dense
                       : workload.attention == models::AttentionKind::kLatent ? latent
                                                                              : sparse;
    require_base(workload, base);
    const Workload& b = base.shapes;
    std::string tag;
    if (&base == &sparse) {
        tag = scaled(workload, "SA", "heads", workload.heads, b.heads) +
              scaled(workload, "SH", "hidden_size", workload.hidden_size, b.hidden_size) +
              scaled(workload, "SE", "num_experts", workload.num_experts, b.num_experts) +
              scaled(workload, "SI", "expert_size", workload.expert_size, b.expert_size);
    } else if (&base == &latent && workload.num_experts != b.num_experts) {
        tag = "-N" + std::to_string(workload.num_experts);
    }
    return with_tag(base.name, tag + layers_tag(workload, base));
}

}  // namespace auspex::interop
