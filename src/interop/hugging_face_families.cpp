/// @file The table of model families.
#include "interop/hugging_face_families.hpp"

#include <array>

namespace auspex::interop {

std::span<const ModelFamily> model_families() {
    static constexpr std::string_view kMoeWidth = "moe_intermediate_size", kWidth = "intermediate_size";
    static constexpr ModelFamily kDeepSeek{
        .expert_width = kMoeWidth, .is_latent = true, .normalizes_top_k = true, .needs_dense_and_shared = true};
    static constexpr auto like_deepseek = [](std::string_view model_type, bool normalizes_top_k) {
        ModelFamily family = kDeepSeek;
        family.model_type = model_type, family.normalizes_top_k = normalizes_top_k;
        family.has_router_bias = family.predicts_more_tokens = model_type != "deepseek_v2";
        return family;
    };
    static constexpr std::array kFamilies{
        ModelFamily{.model_type = "llama", .kv_heads_default_to_heads = true},
        ModelFamily{.model_type = "mistral", .window = AttentionWindow::kAlways, .default_window = 4096},
        ModelFamily{.model_type = "mixtral",
                    .expert_width = kWidth,
                    .normalizes_top_k = true,
                    .window = AttentionWindow::kAlways},
        ModelFamily{.model_type = "qwen2",
                    .has_attention_biases = true,
                    .window = AttentionWindow::kIfUsed,
                    .default_window = 4096},
        ModelFamily{.model_type = "qwen2_moe",
                    .expert_width = kMoeWidth,
                    .has_attention_biases = true,
                    .window = AttentionWindow::kIfUsed,
                    .default_window = 4096,
                    .default_shared_width = 5632},
        ModelFamily{.model_type = "qwen3",
                    .has_qk_norm = true,
                    .needs_head_size = true,
                    .window = AttentionWindow::kIfUsed,
                    .default_window = 4096,
                    .norms_each_head = true},
        ModelFamily{.model_type = "qwen3_moe",
                    .expert_width = kMoeWidth,
                    .has_qk_norm = true,
                    .needs_head_size = true,
                    .window = AttentionWindow::kIfUsed,
                    .default_window = 4096,
                    .norms_each_head = true},
        ModelFamily{.model_type = "olmo", .norm = "non-parametric", .kv_heads_default_to_heads = true},
        ModelFamily{
            .model_type = "olmo2", .has_qk_norm = true, .kv_heads_default_to_heads = true, .norms_behind = true},
        ModelFamily{
            .model_type = "olmoe", .expert_width = kWidth, .has_qk_norm = true, .kv_heads_default_to_heads = true},
        like_deepseek("deepseek_v2", false),
        like_deepseek("deepseek_v3", true),
        like_deepseek("kimi_k2", true),
        ModelFamily{.model_type = "glm4_moe",
                    .expert_width = kMoeWidth,
                    .normalizes_top_k = true,
                    .needs_head_size = true,
                    .needs_dense_and_shared = true,
                    .has_router_bias = true,
                    .predicts_more_tokens = true,
                    .norms_each_head = true},
        ModelFamily{.model_type = "gpt_oss",
                    .expert_width = kWidth,
                    .has_biases = true,
                    .normalizes_top_k = true,
                    .needs_head_size = true,
                    .window = AttentionWindow::kAlways,
                    .window_alternates = true,
                    .default_window = 128},
        ModelFamily{.model_type = "llama4_text",
                    .expert_width = kWidth,
                    .dense_width = "intermediate_size_mlp",
                    .has_qk_norm = true,
                    .needs_head_size = true,
                    .has_one_shared = true,
                    .window = AttentionWindow::kAlways,
                    .window_key = "attention_chunk_size",
                    .default_window = 8192,
                    .norms_each_head = true}};
    return kFamilies;
}

}  // namespace auspex::interop
