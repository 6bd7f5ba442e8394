/// @file config.json of published models: their counts of parameters, and what is refused.
#include "interop/hugging_face.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <tuple>
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
    Changes left_out = {};
};

const Changes kNoMoreTokens{{"num_nextn_predict_layers", "0"}}, kNoWindow{{"sliding_window", "null"}};

TEST(HuggingFace, published_models_have_their_published_parameters) {
    const std::vector<Published> models{
        {"Llama-2-7b", 6.74},
        {"Meta-Llama-3-8B", 8.03},
        {"Llama-3.1-70B", 70.6},
        {"Llama-3.2-1B", 1.24},
        {"Mistral-7B-v0.1", 7.24},
        {"Mixtral-8x7B-v0.1", 46.7},
        {"Mixtral-8x22B-v0.1", 141},
        {"Qwen2-7B", 7.61},
        {"Qwen2-57B-A14B", 57.4},
        {"Qwen3-8B", 8.19},
        {"Qwen3-30B-A3B", 30.5},
        {"Qwen3-235B-A22B", 235},
        {"OLMo-7B", 6.89},
        {"OLMo-2-1124-7B", 7.3},
        {"OLMoE-1B-7B-0924", 6.92},
        {"DeepSeek-V2", 236},
        {"DeepSeek-V2-Lite", 15.7},
        {"DeepSeek-V3", 671, kNoMoreTokens},
        {"Kimi-K2-Instruct", 1030},
        {"gpt-oss-120b", 116.83, kNoWindow},
        {"gpt-oss-20b", 20.91, kNoWindow},
    };
    for (const Published& model : models) {
        const models::Workload workload = workload_of(model.name, model.left_out);
        const double all = count_parameters(workload).total() / 1e9;
        EXPECT_NEAR(all / model.billions, 1, 0.005) << model.name << ": " << all;
    }
}

/// What a publisher counts as active.
enum class Counted { kAll, kWithoutEmbedding };

struct PublishedActive {
    const char* name;
    double billions, digit;  ///< as published, and one of its last digit
    Counted counted;
    Changes left_out = {};
};

// Sources: model cards at huggingface.co, of gpt-oss its own (arXiv:2508.10925, Table 1: embeddings are not counted as
// active, the head is), arXiv:2412.19437 and arXiv:2405.04434. A figure is rounded, or cut off as Qwen3-30B-A3B's 3.35
// and DeepSeek-V2-Lite's 2.45 are. GLM-4.5-Air is none of them: its 12 leave out the head, too (12.2).
TEST(HuggingFace, published_models_have_their_published_active_parameters) {
    const std::vector<PublishedActive> models{{"gpt-oss-120b", 5.13, 0.01, Counted::kWithoutEmbedding, kNoWindow},
                                              {"gpt-oss-20b", 3.61, 0.01, Counted::kWithoutEmbedding, kNoWindow},
                                              {"DeepSeek-V3", 37, 1, Counted::kWithoutEmbedding, kNoMoreTokens},
                                              {"DeepSeek-V2", 21, 1, Counted::kWithoutEmbedding},
                                              {"DeepSeek-V2-Lite", 2.4, 0.1, Counted::kWithoutEmbedding},
                                              {"Kimi-K2-Instruct", 32, 1, Counted::kWithoutEmbedding},
                                              {"Qwen3-30B-A3B", 3.3, 0.1, Counted::kAll},
                                              {"Qwen3-235B-A22B", 22, 1, Counted::kAll},
                                              {"Qwen2-57B-A14B", 14, 1, Counted::kAll},
                                              {"Mixtral-8x7B-v0.1", 12.9, 0.1, Counted::kAll},
                                              {"Mixtral-8x22B-v0.1", 39, 1, Counted::kAll},
                                              {"OLMoE-1B-7B-0924", 1.3, 0.1, Counted::kAll},
                                              {"Llama-4-Scout-17B-16E", 17, 1, Counted::kAll}};
    for (const PublishedActive& model : models) {
        const models::Workload workload = workload_of(model.name, model.left_out);
        const double active = (model.counted == Counted::kAll ? count_active_parameters(workload).total()
                                                              : active_without_embedding(workload)) /
                              1e9;
        EXPECT_GE(active, model.billions - model.digit / 2) << model.name;
        EXPECT_LT(active, model.billions + model.digit) << model.name;
    }
    const models::Workload tied = workload_of("Llama-3.2-1B");  // whose table is its head
    EXPECT_EQ(active_without_embedding(tied), count_parameters(tied).total());
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

TEST(HuggingFace, a_limit_on_groups_of_experts_comes_along) {
    const models::Workload limited = workload_of("DeepSeek-V3", kNoMoreTokens), free = workload_of("Kimi-K2-Instruct");
    EXPECT_EQ(limited.expert_groups, 8);
    EXPECT_EQ(limited.top_k_groups, 4);
    EXPECT_EQ(free.expert_groups, free.top_k_groups);
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

TEST(HuggingFace, where_norms_are_is_said) {
    const auto says = [](const std::string& name, const Changes& changes, const char* words) {
        const std::vector<std::string> notes = import_hugging_face(config_of(name, changes)).notes;
        return std::ranges::any_of(notes,
                                   [&](const std::string& note) { return note.find(words) != std::string::npos; });
    };
    EXPECT_PRED3(says, "OLMo-2-1124-7B", Changes{}, "behind attention");
    EXPECT_PRED3(says, "Qwen3-8B", Changes{}, "head by head");
    EXPECT_FALSE(says("OLMoE-1B-7B-0924", {}, "head by head"));
}

TEST(HuggingFace, a_sequence_beyond_what_a_model_is_published_for_is_said) {
    const std::vector<std::string> notes = import_hugging_face(config_of("OLMo-7B")).notes;
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("2048"), std::string::npos) << notes[0];
}

TEST(HuggingFace, layers_that_predict_more_tokens_and_the_bias_of_routers_are_read) {
    EXPECT_EQ(workload_of("DeepSeek-V3").mtp_layers, 1);
    EXPECT_EQ(workload_of("DeepSeek-V3", {{"num_nextn_predict_layers", "0"}}).mtp_layers, 0);
    EXPECT_EQ(workload_of("GLM-4.5-Air").mtp_layers, 1);
    EXPECT_TRUE(workload_of("DeepSeek-V3").router_bias);
    EXPECT_TRUE(workload_of("GLM-4.5-Air").router_bias);
    EXPECT_TRUE(workload_of("Kimi-K2-Instruct").router_bias);
    EXPECT_FALSE(workload_of("DeepSeek-V3", {{"topk_method", "\"greedy\""}}).router_bias);
    EXPECT_FALSE(workload_of("Qwen3-30B-A3B").router_bias);
}

TEST(HuggingFace, what_changes_the_cost_and_is_not_modelled_is_refused_by_name) {
    const auto names = [](const std::string& error, const char* key) {
        return error.find(std::string("$.") + key + ": found") != std::string::npos;
    };
    EXPECT_PRED2(names, error_of("Qwen3-30B-A3B", {{"num_nextn_predict_layers", "1"}}), "num_nextn_predict_layers");
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

/// Of a config without a key.
std::string error_without(const std::string& name, const std::string& key) {
    const std::string file = std::string(AUSPEX_SOURCE_DIR) + "/tests/interop/configs/" + name + "/config.json";
    std::ifstream in(file);
    std::string text, line;
    while (std::getline(in, line)) {
        text += line.find("\"" + key + "\":") == std::string::npos ? line + "\n" : "";
    }
    JsonDocument config = JsonDocument::parse(text, file);
    config.set("sequence_length", "4096");
    try {
        static_cast<void>(import_hugging_face(config));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

// configuration_gpt_oss.py, configuration_mistral.py, configuration_qwen2_moe.py, configuration_llama4.py: 128, 4096,
// 5632, 8192 where nothing is said.
TEST(HuggingFace, keys_whose_absence_is_a_number_have_to_be_there) {
    for (const auto& [name, key, value] : {std::tuple("gpt-oss-20b", "sliding_window", "128"),
                                           {"Mistral-7B-v0.1", "sliding_window", "4096"},
                                           {"Qwen2-57B-A14B", "shared_expert_intermediate_size", "5632"},
                                           {"Llama-4-Scout-17B-16E", "attention_chunk_size", "8192"}}) {
        const std::string error = error_without(name, key), expected = "\"" + std::string(key) + "\": " + value;
        EXPECT_NE(error.find(std::string(key) + ": found no such key"), std::string::npos) << error;
        EXPECT_NE(error.find("expected it, " + expected), std::string::npos) << error;
    }
    EXPECT_EQ(error_without("Qwen2-7B", "sliding_window"), "accepted") << "its windows are not used";
}

TEST(HuggingFace, windows_shorter_than_the_sequence_come_along_with_the_layers_that_have_them) {
    const auto windows = [](const std::string& name, const Changes& changes) {
        const models::Workload workload = workload_of(name, changes);
        return std::pair(workload.window, workload.windowed_layers);
    };
    EXPECT_EQ(windows("gpt-oss-20b", {}), std::pair(128, 12));
    EXPECT_EQ(windows("Mistral-7B-v0.1", {{"sequence_length", "8192"}}), std::pair(4096, 32));
    EXPECT_EQ(windows("Mistral-7B-v0.1", {}), std::pair(0, 0));
    EXPECT_EQ(
        windows("Qwen2-7B", {{"use_sliding_window", "true"}, {"sliding_window", "1024"}, {"max_window_layers", "20"}}),
        std::pair(1024, 8));
    EXPECT_EQ(windows("Qwen2-7B", {{"use_sliding_window", "true"}, {"sliding_window", "1024"}}), std::pair(0, 0))
        << "28 layers, and windows from the 28th on";
}

TEST(HuggingFace, kinds_of_layers_need_a_window_and_as_many_words) {
    std::string kinds = R"(["sliding_attention")";
    for (int layer = 1; layer < 36; ++layer) {
        kinds += R"(, "full_attention")";
    }
    kinds += "]";
    const auto names = [](const std::string& error, const char* key) {
        return error.find(std::string("$.") + key + ": found") != std::string::npos;
    };
    const models::Workload one = workload_of("Qwen3-8B", {{"layer_types", kinds.c_str()}, {"sliding_window", "1024"}});
    EXPECT_EQ(std::pair(one.window, one.windowed_layers), std::pair(1024, 1));
    EXPECT_PRED2(names, error_of("Qwen3-8B", {{"layer_types", R"(["full_attention"])"}}), "layer_types");
    EXPECT_PRED2(names, error_of("OLMo-7B", {{"num_hidden_layers", "1"}, {"layer_types", R"(["sliding_attention"])"}}),
                 "layer_types");
}

TEST(HuggingFace, keys_around_a_language_model_are_looked_at) {
    EXPECT_NE(error_of("Llama-4-Scout-17B-16E", {{"num_nextn_predict_layers", "3"}}).find("num_nextn_predict_layers"),
              std::string::npos);
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
