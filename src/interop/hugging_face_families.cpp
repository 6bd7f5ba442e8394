/// @file The table of model families.
#include "interop/hugging_face_families.hpp"

#include <array>

namespace auspex::interop {

std::span<const ModelFamily> model_families() {
    static constexpr std::string_view kMoeWidth = "moe_intermediate_size", kWidth = "intermediate_size";
    static constexpr std::array kFamilies{
        ModelFamily{.model_type = "llama"},
        ModelFamily{.model_type = "mistral", .window = AttentionWindow::kAlways},
        ModelFamily{.model_type = "mixtral",
                    .expert_width = kWidth,
                    .normalizes_top_k = true,
                    .window = AttentionWindow::kAlways},
        ModelFamily{.model_type = "qwen2", .has_attention_biases = true, .window = AttentionWindow::kIfUsed},
        ModelFamily{.model_type = "qwen2_moe",
                    .expert_width = kMoeWidth,
                    .has_attention_biases = true,
                    .window = AttentionWindow::kIfUsed},
        ModelFamily{.model_type = "qwen3", .has_qk_norm = true, .window = AttentionWindow::kIfUsed},
        ModelFamily{.model_type = "qwen3_moe",
                    .expert_width = kMoeWidth,
                    .has_qk_norm = true,
                    .window = AttentionWindow::kIfUsed},
        ModelFamily{.model_type = "olmo", .norm = "non-parametric"},
        ModelFamily{.model_type = "olmo2", .has_qk_norm = true},
        ModelFamily{.model_type = "olmoe", .expert_width = kWidth, .has_qk_norm = true},
        ModelFamily{.model_type = "deepseek_v2", .expert_width = kMoeWidth, .is_latent = true},
        ModelFamily{
            .model_type = "deepseek_v3", .expert_width = kMoeWidth, .is_latent = true, .normalizes_top_k = true},
        ModelFamily{.model_type = "kimi_k2", .expert_width = kMoeWidth, .is_latent = true, .normalizes_top_k = true},
        ModelFamily{.model_type = "glm4_moe", .expert_width = kMoeWidth, .normalizes_top_k = true},
        ModelFamily{.model_type = "gpt_oss",
                    .expert_width = kWidth,
                    .has_biases = true,
                    .normalizes_top_k = true,
                    .window = AttentionWindow::kAlways},
        ModelFamily{.model_type = "llama4_text",
                    .expert_width = kWidth,
                    .dense_width = "intermediate_size_mlp",
                    .has_one_shared = true,
                    .window = AttentionWindow::kAlways,
                    .window_key = "attention_chunk_size"}};
    return kFamilies;
}

}  // namespace auspex::interop
