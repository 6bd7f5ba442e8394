/// @file Shapes of a workload as a model that Optimus-LM scales.
#include <array>
#include <cmath>
#include <string>
#include <utility>

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
    bool scales_shapes;  ///< SA, SH, SE, SI and L; else N (experts) and L
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

/// A number of the workload that has to be the base's.
struct Fixed {
    const char* field;
    int own, of_base;
};

std::array<Fixed, 20> fixed_shapes(const Workload& w, const Base& base) {
    const Workload& b = base.shapes;
    const bool scales = base.scales_shapes && b.num_experts > 0;
    return {{{"head_size", w.head_size, b.head_size},
             {"kv_heads", w.kv_heads, scales ? w.heads : b.kv_heads},
             {"vocab_size", w.vocab_size, b.vocab_size},
             {"top_k", w.top_k, b.top_k},
             {"attention", static_cast<int>(w.attention), static_cast<int>(b.attention)},
             {"norm", static_cast<int>(w.norm), static_cast<int>(b.norm)},
             {"qk_norm", w.qk_norm ? 1 : 0, b.qk_norm ? 1 : 0},
             {"feed_forward", static_cast<int>(w.feed_forward), static_cast<int>(b.feed_forward)},
             {"biases", w.biases ? 1 : 0, b.biases ? 1 : 0},
             {"learned_positions", w.learned_positions ? 1 : 0, b.learned_positions ? 1 : 0},
             {"tied_embeddings", w.tied_embeddings ? 1 : 0, b.tied_embeddings ? 1 : 0},
             {"intermediate_size", w.intermediate_size, b.intermediate_size},
             {"shared_experts", w.shared_experts, b.shared_experts},
             {"first_dense_layers", w.first_dense_layers, b.first_dense_layers},
             {"q_rank", w.q_rank, b.q_rank},
             {"kv_rank", w.kv_rank, b.kv_rank},
             {"rope_head_size", w.rope_head_size, b.rope_head_size},
             {"value_head_size", w.value_head_size, b.value_head_size},
             {"hidden_size", w.hidden_size, scales ? w.hidden_size : b.hidden_size},
             {"expert_size", w.expert_size, scales ? w.expert_size : b.expert_size}}};
}

/// The first that is another than the base's; none.
const char* other_field(const Workload& workload, const Base& base) {
    for (const Fixed& one : fixed_shapes(workload, base)) {
        if (one.own != one.of_base) {
            return one.field;
        }
    }
    return nullptr;
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
    const Base dense{"allenai/OLMo-1B-hf", olmo_1b(), true};
    const Base latent{"deepseek-ai/DeepSeek-V3", deepseek_v3(), false};
    const Base sparse{"allenai/OLMoE-1B-7B-0924", olmoe(), true};
    const Base& base = workload.num_experts == 0                              ? dense
                       : workload.attention == models::AttentionKind::kLatent ? latent
                                                                              : sparse;
    const char* const other = other_field(workload, base);
    const bool is_other_dense = workload.num_experts == 0 && workload.heads != base.shapes.heads;
    const bool is_other_latent = &base == &latent && workload.heads != base.shapes.heads;
    if (other != nullptr || is_other_dense || is_other_latent) {
        throw InputError(workload.file + ": $." + (other != nullptr ? other : "heads"),
                         std::string("found another value than that of ") + base.name +
                             "; expected the same: Optimus-LM trains that model, with layers, experts and, of OLMoE, "
                             "heads and widths scaled");
    }
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
