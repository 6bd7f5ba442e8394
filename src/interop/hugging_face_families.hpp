#pragma once
/// @file The model families of Hugging Face transformers that can be read, and what their configurations do not say.
#include <span>
#include <string_view>

namespace auspex::interop {

/// Which layers attend over a window of tokens only.
enum class AttentionWindow { kNone, kIfUsed, kAlways };

/// What modeling_*.py and configuration_*.py of a family fix, beside the keys of its config.json. Sources: the files of
/// that name in huggingface/transformers (release 4.57), and the families' own repositories for kimi_k2.
struct ModelFamily {
    std::string_view model_type = {};
    std::string_view expert_width = {};  ///< key of the width of an expert; none: a dense model
    std::string_view dense_width = "intermediate_size";
    std::string_view norm = "rms";
    bool has_qk_norm = false;
    bool is_latent = false;                  ///< multi-head latent attention
    bool has_biases = false;                 ///< every linear layer has one
    bool has_attention_biases = false;       ///< queries, keys and values have one where no key says so
    bool normalizes_top_k = false;           ///< where no key says so
    bool kv_heads_default_to_heads = false;  ///< else a missing number means another one
    bool needs_head_size = false;            ///< a missing one is not hidden_size / heads
    bool needs_dense_and_shared = false;     ///< missing numbers of dense layers and shared experts are not 0
    bool has_router_bias = false;            ///< e_score_correction_bias, unless topk_method is another than noaux_tc
    bool predicts_more_tokens = false;       ///< where num_nextn_predict_layers says so
    bool has_one_shared = false;             ///< one shared expert, as wide as the others, that no key names
    AttentionWindow window = AttentionWindow::kNone;
    std::string_view window_key = "sliding_window";
    bool window_alternates = false;  ///< every second layer has one, the first among them, where layer_types is missing
    int default_window = 0;          ///< where the key is missing; 0: none, as null says
    int default_shared_width = 0;    ///< of shared_expert_intermediate_size, where it is missing
    bool norms_behind = false;       ///< attention and feed-forward have their norms behind them, not in front
    bool norms_each_head = false;    ///< queries and keys, where they are normed
};

[[nodiscard]] std::span<const ModelFamily> model_families();

}  // namespace auspex::interop
