/// @file Megatron-LM's arguments of a model beside a workload.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "interop/megatron/megatron.hpp"
#include "interop/model_check.hpp"

namespace auspex::interop {
namespace {

constexpr std::size_t kMostLayers = 10'000;

/// A whole number that the text begins with, which is taken away; -1 without one.
int take_number(std::string_view& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) {
        return -1;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, char c) {
    const bool is_next = text.starts_with(c);
    text.remove_prefix(is_next ? 1 : 0);
    return is_next;
}

/// "[0]*3", "[0,1]" or "[1]"; nothing for other text.
std::vector<int> take_term(std::string_view& text) {
    std::vector<int> layers, all;
    if (!take(text, '[')) {
        return {};
    }
    do {
        layers.push_back(take_number(text));
    } while (take(text, ','));
    const bool is_closed = take(text, ']');
    const int times = take(text, '*') ? take_number(text) : 1;
    if (!is_closed || times < 0 || layers.size() * static_cast<std::size_t>(times) > kMostLayers) {
        return {};
    }
    for (int i = 0; i < times; ++i) {
        all.insert(all.end(), layers.begin(), layers.end());
    }
    return all;
}

/// Of "([0]*3+[1]*58)": 0 a dense layer, 1 one with experts; nothing for other text.
std::vector<int> layers_of_frequency(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '(' || c == ')' || c == '"'; });
    std::string_view rest = text;
    std::vector<int> layers;
    do {
        const std::vector<int> more = take_term(rest);
        if (more.empty() || layers.size() + more.size() > kMostLayers) {
            return {};
        }
        layers.insert(layers.end(), more.begin(), more.end());
    } while (take(rest, '+'));
    return rest.empty() ? layers : std::vector<int>();
}

class Comparison {
 public:
    Comparison(ArgumentReader& in, const models::Workload& workload) : in_(in), own_(workload), check_(in, workload) {
        is_whole_ = in.has("--num-layers") && in.has("--hidden-size");
    }

    void run(int tp) {
        constexpr int kVocabularyStep = 128;
        check_.number("--num-layers", own_.layers, "layers");
        check_.number("--hidden-size", own_.hidden_size, "hidden_size");
        check_.number("--seq-length", own_.sequence_length, "sequence_length");
        check_.vocabulary("--vocab-size",
                          std::int64_t{in_.number("--make-vocab-size-divisible-by", kVocabularyStep)} * tp);
        check_.number("--mtp-num-layers", own_.mtp_layers, "mtp_layers");
        if (is_whole_ && own_.mtp_layers > 0) {
            check_.required("--mtp-num-layers", own_.mtp_layers, "mtp_layers");
        }
        compare_kinds();
        compare_attention();
        compare_experts();
        compare_feed_forward();
    }

 private:
    void compare_kinds() {
        check_.word("--normalization", own_.norm == models::NormKind::kLayer ? "LayerNorm" : "RMSNorm", "norm");
        check_.only_if("--swiglu", own_.feed_forward == models::FeedForward::kSwiGlu, "feed_forward");
        check_.only_if("--disable-bias-linear", !own_.biases, "biases");
        check_.only_if("--untie-embeddings-and-output-weights", !own_.tied_embeddings, "tied_embeddings");
        const std::string position = in_.word("--position-embedding-type", "");
        if (!position.empty() && (position == "learned_absolute") != own_.learned_positions) {
            check_.refuse("--position-embedding-type", position, own_.learned_positions ? "learned_absolute" : "rope",
                          "learned_positions");
        }
    }

    void compare_attention() {
        check_.number("--num-attention-heads", own_.heads, "heads");
        const bool is_latent = own_.attention == models::AttentionKind::kLatent;
        check_.only_if("--multi-latent-attention", is_latent, "attention");
        if (is_latent) {
            check_.number("--q-lora-rank", own_.q_rank, "q_rank");
            check_.number("--kv-lora-rank", own_.kv_rank, "kv_rank");
            check_.number("--qk-head-dim", own_.head_size, "head_size");
            check_.number("--qk-pos-emb-head-dim", own_.rope_head_size, "rope_head_size");
            check_.number("--v-head-dim", own_.value_head_size, "value_head_size");
            return;
        }
        check_.number("--num-query-groups", own_.kv_heads, "kv_heads");
        check_.number("--kv-channels", own_.head_size, "head_size");
        check_.only_if("--qk-layernorm", own_.qk_norm, "qk_norm");
        if (is_whole_ && own_.kv_heads != own_.heads) {
            check_.required("--num-query-groups", own_.kv_heads, "kv_heads");
        }
    }

    void compare_experts() {
        check_.number("--num-experts", own_.num_experts, "num_experts");
        check_.number("--moe-shared-expert-intermediate-size", std::int64_t{own_.shared_experts} * own_.expert_size,
                      "shared_experts times workload.expert_size");
        if (own_.num_experts == 0) {
            return;
        }
        check_.number("--moe-router-topk", own_.top_k, "top_k");
        check_.number("--moe-ffn-hidden-size", own_.expert_size, "expert_size");
        compare_balancing();
        check_.number("--moe-router-num-groups", own_.expert_groups, "expert_groups");
        check_.number("--moe-router-group-topk", own_.top_k_groups, "top_k_groups");
        if (is_whole_) {
            check_.required("--num-experts", own_.num_experts, "num_experts");
        }
        compare_frequency();
    }

    void compare_balancing() {
        const char* const bias = "--moe-router-enable-expert-bias";
        const char* const capacity = "--moe-expert-capacity-factor";
        const char* const pads = "--moe-pad-expert-input-to-capacity";
        check_.only_if(bias, own_.router_bias, "router_bias");
        check_.only_if(pads, own_.pad_to_capacity, "pad_to_capacity");
        require_switch(bias, own_.router_bias, "router_bias");
        require_switch(pads, own_.pad_to_capacity, "pad_to_capacity");
        const std::string own = own_.capacity_factor > 0 ? json_number(own_.capacity_factor) : "no such argument";
        const std::string given = in_.word(capacity, "no such argument");
        const bool is_same = given == own || (own_.capacity_factor > 0 && in_.has(capacity) &&
                                              std::strtod(given.c_str(), nullptr) == own_.capacity_factor);
        if (!is_same && (is_whole_ || in_.has(capacity))) {
            check_.refuse(capacity, given, own, "capacity_factor");
        }
    }

    /// Of the arguments of a model.
    void require_switch(const char* name, bool own, const char* field) {
        if (is_whole_ && own && !in_.has(name)) {
            check_.refuse(name, "no such switch", "it", field);
        }
    }

    void compare_frequency() {
        const std::string frequency = in_.word("--moe-layer-freq", "1");
        const auto dense = static_cast<std::size_t>(own_.first_dense_layers),
                   all = static_cast<std::size_t>(own_.layers);
        std::vector<int> layers(all, 1);
        std::fill(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(dense), 0);
        const bool says_all = frequency == "1" && dense == 0;
        if ((in_.has("--moe-layer-freq") || is_whole_) && !says_all && layers_of_frequency(frequency) != layers) {
            check_.refuse("--moe-layer-freq", in_.has("--moe-layer-freq") ? frequency : "no such argument",
                          "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(all - dense) + ")",
                          "first_dense_layers");
        }
    }

    /// It is the width of experts, too, unless these have one of their own.
    void compare_feed_forward() {
        if (own_.intermediate_size > 0) {
            check_.number("--ffn-hidden-size", own_.intermediate_size, "intermediate_size");
        }
        if (own_.num_experts > 0 && !in_.has("--moe-ffn-hidden-size")) {
            check_.number("--ffn-hidden-size", own_.expert_size, "expert_size");
        }
    }

    ArgumentReader& in_;
    const models::Workload& own_;
    ModelCheck check_;
    bool is_whole_ = false;  ///< the arguments are those of a model, not of a plan alone
};

}  // namespace

void check_megatron_model(ArgumentReader& in, const models::Workload& workload, int tp) {
    Comparison(in, workload).run(tp);
}

}  // namespace auspex::interop
