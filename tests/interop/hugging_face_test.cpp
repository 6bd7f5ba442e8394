/// @file config.json of published models: their counts of parameters, and what is refused.
#include "interop/hugging_face.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "models/workload.hpp"

namespace auspex::interop {
namespace {

using Changes = std::vector<std::pair<const char*, const char*>>;

/// configs/NAME/config.json: the keys and values of the file of that name that the model's authors publish at
/// huggingface.co (long lists of rope scaling and quantization shortened).
JsonDocument config_of(const std::string& name, const Changes& changes = {}) {
    JsonDocument config =
        JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/tests/interop/configs/" + name + "/config.json");
    config.set("sequence_length", "4096");
    for (const auto& [path, value] : changes) {
        config.set(path, value);
    }
    return config;
}

models::Workload workload_of(const std::string& name, const Changes& changes = {}) {
    return models::load_workload(import_hugging_face(config_of(name, changes)).document);
}

std::string error_of(const std::string& name, const Changes& changes = {}) {
    try {
        static_cast<void>(workload_of(name, changes));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

struct Published {
    const char* name;
    double billions;  ///< parameters as the model's authors, or its page at huggingface.co, count them
    double active_billions = 0;
    Changes left_out = {};
};

TEST(HuggingFace, published_models_have_their_published_parameters) {
    const Changes no_more_tokens{{"num_nextn_predict_layers", "0"}}, no_window{{"sliding_window", "null"}};
    const std::vector<Published> models{
        {"Llama-2-7b", 6.74},
        {"Meta-Llama-3-8B", 8.03},
        {"Llama-3.1-70B", 70.6},
        {"Llama-3.2-1B", 1.24},
        {"Mistral-7B-v0.1", 7.24},
        {"Mixtral-8x7B-v0.1", 46.7, 12.9},
        {"Mixtral-8x22B-v0.1", 141, 39},
        {"Qwen2-7B", 7.61},
        {"Qwen2-57B-A14B", 57.4},
        {"Qwen3-8B", 8.19},
        {"Qwen3-30B-A3B", 30.5, 3.34},
        {"Qwen3-235B-A22B", 235, 22.1},
        {"OLMo-7B", 6.89},
        {"OLMo-2-1124-7B", 7.3},
        {"OLMoE-1B-7B-0924", 6.92, 1.28},
        {"DeepSeek-V2", 236},
        {"DeepSeek-V2-Lite", 15.7},
        {"DeepSeek-V3", 671, 37.5, no_more_tokens},
        {"Kimi-K2-Instruct", 1030, 0},
        {"gpt-oss-120b", 116.83, 0, no_window},
        {"gpt-oss-20b", 20.91, 0, no_window},
    };
    for (const Published& model : models) {
        const models::Workload workload = workload_of(model.name, model.left_out);
        const double all = count_parameters(workload).total() / 1e9;
        EXPECT_NEAR(all / model.billions, 1, 0.005) << model.name << ": " << all;
        if (model.active_billions > 0) {
            const double active = count_active_parameters(workload).total() / 1e9;
            EXPECT_NEAR(active / model.active_billions, 1, 0.005) << model.name << ": " << active;
        }
    }
}

// GLM-4.5-Air: 45 layers of 128 + 1 experts of 3 x 4,096 x 1,408, one dense one of 3 x 4,096 x 10,944, 46 x attention
// of 2 x 4,096 x 12,288 + 2 x 4,096 x 1,024, a router each, two tables of 151,552 x 4,096 and norms. Scout's language
// model: 48 layers of 16 + 1 experts of 3 x 5,120 x 8,192, attention of 2 x 5,120 x 5,120 + 2 x 5,120 x 1,024, …
TEST(HuggingFace, models_whose_published_counts_hold_more_parts_are_counted_by_hand) {
    const double expert = 3.0 * 4096 * 1408, attention = 2.0 * 4096 * 12288 + 2.0 * 4096 * 1024;
    const double air = 45 * (129 * expert + 4096.0 * 128) + 3.0 * 4096 * 10944 + 46 * (attention + 2 * 4096) +
                       2.0 * 151552 * 4096 + 4096;
    EXPECT_EQ(count_parameters(workload_of("GLM-4.5-Air", {{"num_nextn_predict_layers", "0"}})).total(), air);
    const double of_scout = 3.0 * 5120 * 8192, norms = 2 * 5120 + 40 * 128 + 8 * 128;
    const double scout =
        48 * (17 * of_scout + 5120.0 * 16 + 2.0 * 5120 * 5120 + 2.0 * 5120 * 1024 + norms) + 2.0 * 202048 * 5120 + 5120;
    EXPECT_EQ(count_parameters(workload_of("Llama-4-Scout-17B-16E")).total(), scout);
}

TEST(HuggingFace, a_workload_file_of_the_same_model_has_the_same_shapes) {
    for (const auto& [config, file] : {std::pair("Mixtral-8x7B-v0.1", "mixtral-8x7b"),
                                       {"Llama-3.1-70B", "llama3-70b"},
                                       {"OLMoE-1B-7B-0924", "olmoe-1b-7b"},
                                       {"Qwen2-57B-A14B", "qwen2-57b-a14b"}}) {
        const models::Workload own =
            models::load_workload(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/" + file + ".json"));
        const models::Workload imported = workload_of(config);
        EXPECT_EQ(count_parameters(imported).total(), count_parameters(own).total()) << config;
        EXPECT_EQ(count_active_parameters(imported).total(), count_active_parameters(own).total()) << config;
        EXPECT_EQ(imported.shared_experts, own.shared_experts) << config;
        EXPECT_EQ(imported.kv_heads, own.kv_heads) << config;
    }
}

TEST(HuggingFace, the_name_is_that_of_the_folder_and_the_checksum_that_of_the_file) {
    const JsonDocument config = config_of("Qwen3-8B");
    const ImportedWorkload imported = import_hugging_face(config);
    EXPECT_EQ(models::load_workload(imported.document).name, "Qwen3-8B");
    EXPECT_EQ(imported.document.sha256(), config.sha256());
}

TEST(HuggingFace, how_a_model_is_trained_comes_along) {
    const models::Workload workload = workload_of("Qwen3-30B-A3B");
    EXPECT_EQ(workload.training.rope_theta, 1e6);
    EXPECT_EQ(workload.training.norm_epsilon, 1e-6);
    EXPECT_EQ(workload.training.auxiliary_loss, 0.001);
    EXPECT_TRUE(workload.training.normalize_top_k);
    EXPECT_TRUE(workload_of("Mixtral-8x7B-v0.1").training.normalize_top_k);
    EXPECT_FALSE(workload_of("OLMoE-1B-7B-0924").training.normalize_top_k);
}

TEST(HuggingFace, parts_that_cost_little_are_left_out_and_said) {
    const std::vector<std::string> of_qwen = import_hugging_face(config_of("Qwen2-57B-A14B")).notes;
    ASSERT_EQ(of_qwen.size(), 2U);
    EXPECT_NE(of_qwen[0].find("gate"), std::string::npos);
    EXPECT_NE(of_qwen[1].find("biases of queries"), std::string::npos);
    EXPECT_TRUE(import_hugging_face(config_of("Meta-Llama-3-8B")).notes.empty());
}

TEST(HuggingFace, a_sequence_beyond_what_a_model_is_published_for_is_said) {
    const std::vector<std::string> notes = import_hugging_face(config_of("OLMo-7B")).notes;
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("2048"), std::string::npos) << notes[0];
}

TEST(HuggingFace, what_changes_the_cost_and_is_not_modelled_is_refused_by_name) {
    const auto names = [](const std::string& error, const char* key) {
        return error.find(std::string("$.") + key + ": found") != std::string::npos;
    };
    EXPECT_PRED2(names, error_of("DeepSeek-V3"), "num_nextn_predict_layers");
    EXPECT_PRED2(names, error_of("gpt-oss-20b"), "sliding_window");
    EXPECT_PRED2(names, error_of("Mistral-7B-v0.1", {{"sequence_length", "8192"}}), "sliding_window");
    EXPECT_PRED2(names, error_of("Llama-4-Scout-17B-16E", {{"sequence_length", "16384"}}),
                 "text_config.attention_chunk_size");
    EXPECT_PRED2(names, error_of("Llama-4-Scout-17B-16E", {{"text_config.interleave_moe_layer_step", "2"}}),
                 "text_config.interleave_moe_layer_step");
    EXPECT_PRED2(names, error_of("Qwen3-30B-A3B", {{"decoder_sparse_step", "2"}}), "decoder_sparse_step");
    EXPECT_PRED2(names, error_of("Qwen3-30B-A3B", {{"mlp_only_layers", "[5]"}}), "mlp_only_layers");
    EXPECT_PRED2(names, error_of("Qwen2-57B-A14B", {{"shared_expert_intermediate_size", "20481"}}),
                 "shared_expert_intermediate_size");
    EXPECT_PRED2(names, error_of("Meta-Llama-3-8B", {{"hidden_act", "gelu"}}), "hidden_act");
    EXPECT_PRED2(names, error_of("Meta-Llama-3-8B", {{"model_type", "rwkv"}}), "model_type");
    EXPECT_PRED2(names, error_of("Meta-Llama-3-8B", {{"state_size", "16"}}), "state_size");
    EXPECT_PRED2(names, error_of("Qwen3-30B-A3B", {{"num_local_experts", "64"}}), "num_local_experts");
    EXPECT_PRED2(names, error_of("Meta-Llama-3-8B", {{"num_hidden_layers", "0"}}), "num_hidden_layers");
}

TEST(HuggingFace, lists_of_layers_have_to_be_those_of_the_model) {
    const auto names = [](const std::string& error, const char* key) {
        return error.find(std::string("$.") + key + ": found") != std::string::npos;
    };
    EXPECT_PRED2(names, error_of("Llama-4-Scout-17B-16E", {{"text_config.moe_layers", "[1, 3, 5]"}}),
                 "text_config.moe_layers");
    EXPECT_PRED2(names, error_of("Llama-4-Scout-17B-16E", {{"text_config.num_hidden_layers", "40"}}),
                 "text_config.moe_layers");
    EXPECT_PRED2(
        names,
        error_of("DeepSeek-V3", {{"num_nextn_predict_layers", "0"}, {"mlp_layer_types", R"(["dense", "sparse"])"}}),
        "mlp_layer_types");
    EXPECT_PRED2(names, error_of("DeepSeek-V3", {{"num_nextn_predict_layers", "0"}, {"mlp_only_layers", "[0, 1]"}}),
                 "mlp_only_layers");
    EXPECT_PRED2(names, error_of("DeepSeek-V3", {{"num_nextn_predict_layers", "0"}, {"first_k_dense_replace", "61"}}),
                 "first_k_dense_replace");
    EXPECT_PRED2(names, error_of("Qwen3-8B", {{"layer_types", R"(["linear_attention"])"}}), "layer_types[0]");
}

// What a missing key means is the family's; where that is not what it looks like, the key has to be there.
TEST(HuggingFace, keys_with_defaults_of_their_family_have_to_be_there) {
    const auto is_refused = [](const std::string& error, const char* key) {
        return error.find(std::string("$.") + key) != std::string::npos;
    };
    EXPECT_PRED2(is_refused, error_of("DeepSeek-V2", {{"first_k_dense_replace", "null"}}), "first_k_dense_replace");
    EXPECT_PRED2(is_refused, error_of("DeepSeek-V2", {{"n_shared_experts", "null"}}), "n_shared_experts");
    EXPECT_PRED2(is_refused, error_of("Mistral-7B-v0.1", {{"num_key_value_heads", "null"}}), "num_key_value_heads");
    EXPECT_PRED2(is_refused, error_of("gpt-oss-20b", {{"sliding_window", "null"}, {"head_dim", "null"}}), "head_dim");
    EXPECT_EQ(workload_of("DeepSeek-V2-Lite").q_rank, 0) << "null: no latent of queries";
}

TEST(HuggingFace, keys_around_a_language_model_are_looked_at) {
    EXPECT_NE(error_of("Llama-4-Scout-17B-16E", {{"num_nextn_predict_layers", "3"}}).find("num_nextn_predict_layers"),
              std::string::npos);
}

TEST(HuggingFace, windows_of_layers_that_there_are_not_are_none) {
    EXPECT_EQ(error_of("Qwen2-7B", {{"use_sliding_window", "true"}, {"sliding_window", "1024"}}), "accepted");
    EXPECT_NE(
        error_of("Qwen2-7B", {{"use_sliding_window", "true"}, {"sliding_window", "1024"}, {"max_window_layers", "20"}}),
        "accepted");
}

TEST(HuggingFace, the_same_number_by_two_names_is_one) {
    EXPECT_EQ(workload_of("Qwen3-30B-A3B", {{"num_local_experts", "128"}}).num_experts, 128);
}

TEST(HuggingFace, leading_dense_layers_are_read_in_all_spellings) {
    EXPECT_EQ(workload_of("Qwen3-30B-A3B", {{"mlp_only_layers", "[0, 1]"}}).first_dense_layers, 2);
    std::string kinds = R"(["dense", "dense", "dense")";
    for (int layer = 3; layer < 46; ++layer) {
        kinds += ", \"sparse\"";
    }
    kinds += "]";
    const Changes spelled{
        {"num_nextn_predict_layers", "0"}, {"first_k_dense_replace", "null"}, {"mlp_layer_types", kinds.c_str()}};
    EXPECT_EQ(workload_of("GLM-4.5-Air", spelled).first_dense_layers, 3);
}

TEST(HuggingFace, the_training_sequence_has_to_be_given) {
    const JsonDocument config =
        JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/tests/interop/configs/Qwen3-8B/config.json");
    try {
        static_cast<void>(import_hugging_face(config));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("$.sequence_length: found no such key"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("40960"), std::string::npos);
    }
}

}  // namespace
}  // namespace auspex::interop
