/// @file Workload files: what is read, what is refused, and counts against numbers worked out by hand and published
/// totals.
#include "models/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr double kBillion = 1e9;

Workload load(const std::string& name) {
    return load_workload(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/" + name + ".json"));
}

/// A mixture of experts with every optional key that may stand beside the others.
JsonDocument small_document() {
    return JsonDocument::parse(
        R"({"source": "made up", "layers": 4, "hidden_size": 64, "heads": 4, "kv_heads": 2, "head_size": 16,
        "attention": "multi-head", "norm": "rms", "qk_norm": true, "feed_forward": "swiglu", "biases": false, "intermediate_size": 256,
        "num_experts": 8, "top_k": 2, "expert_size": 32, "shared_experts": 1, "first_dense_layers": 1, "global_aux_loss": true,
        "capacity_factor": 1.25, "pad_to_capacity": true, "router_bias": true, "mtp_layers": 0,
        "vocab_size": 512, "tied_embeddings": false, "learned_positions": false, "sequence_length": 128})",
        "small.json");
}

using Change = std::pair<const char*, const char*>;

std::string error_of(const std::vector<Change>& changes) {
    JsonDocument document = small_document();
    for (const auto& [path, value] : changes) {
        document.set(path, value);
    }
    try {
        static_cast<void>(load_workload(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

std::string error_of_text(const std::string& text) {
    try {
        static_cast<void>(load_workload(JsonDocument::parse(text, "w.json")));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Workload, every_key_of_a_file_is_read) {
    const Workload workload = load_workload(small_document());
    EXPECT_EQ(workload.name, "small");
    EXPECT_EQ(workload.file, "small.json");
    EXPECT_EQ(workload.layers, 4);
    EXPECT_EQ(workload.hidden_size, 64);
    EXPECT_EQ(workload.heads, 4);
    EXPECT_EQ(workload.kv_heads, 2);
    EXPECT_EQ(workload.head_size, 16);
    EXPECT_EQ(workload.intermediate_size, 256);
    EXPECT_EQ(workload.vocab_size, 512);
    EXPECT_EQ(workload.sequence_length, 128);
    EXPECT_EQ(workload.num_experts, 8);
    EXPECT_EQ(workload.top_k, 2);
    EXPECT_EQ(workload.expert_size, 32);
    EXPECT_EQ(workload.shared_experts, 1);
    EXPECT_EQ(workload.first_dense_layers, 1);
    EXPECT_TRUE(workload.global_aux_loss);
    EXPECT_EQ(workload.capacity_factor, 1.25);
    EXPECT_TRUE(workload.pad_to_capacity);
    EXPECT_TRUE(workload.router_bias);
    EXPECT_TRUE(workload.qk_norm);
    EXPECT_FALSE(workload.is_moe_layer(0));
    EXPECT_TRUE(workload.is_moe_layer(1));
}

TEST(Workload, kv_heads_default_to_heads_and_head_size_to_hidden_over_heads) {
    const Workload workload = load_workload(JsonDocument::parse(
        R"({"source": "s", "layers": 2, "hidden_size": 96, "heads": 6, "intermediate_size": 10, "vocab_size": 7, "sequence_length": 3})",
        "w"));
    EXPECT_EQ(workload.kv_heads, 6);
    EXPECT_EQ(workload.head_size, 16);
    EXPECT_EQ(workload.num_experts, 0);
}

TEST(Workload, latent_attention_is_read_with_its_ranks) {
    const Workload workload = load("deepseek-v3");
    EXPECT_EQ(workload.attention, AttentionKind::kLatent);
    EXPECT_EQ(workload.q_rank, 1536);
    EXPECT_EQ(workload.kv_rank, 512);
    EXPECT_EQ(workload.head_size, 128);
    EXPECT_EQ(workload.rope_head_size, 64);
    EXPECT_EQ(workload.value_head_size, 128);
}

struct Refusal {
    std::vector<Change> changes;
    const char* where;
    const char* allowed;
};

TEST(Workload, each_wrong_value_is_refused_with_its_place_and_what_is_allowed) {
    const Refusal refusals[] = {
        {{{"nope", "1"}}, "small.json: $", "unknown key \"nope\""},
        {{{"layers", "0"}}, "$.layers", "from 1 to 10000"},
        {{{"layers", "-3"}}, "$.layers", "from 1"},
        {{{"layers", "2.5"}}, "$.layers", "an integer"},
        {{{"hidden_size", "\"64\""}}, "$.hidden_size", "an integer"},
        {{{"vocab_size", "99999999999"}}, "$.vocab_size", "100000000"},
        {{{"kv_heads", "3"}}, "$.kv_heads", "a divisor of heads (4)"},
        {{{"top_k", "9"}}, "$.top_k", "at most num_experts (8)"},
        {{{"top_k", "0"}}, "$.top_k", "from 1"},
        {{{"num_experts", "0"}}, "$.num_experts", "from 1"},
        {{{"first_dense_layers", "4"}}, "$.first_dense_layers", "fewer than layers (4)"},
        {{{"first_dense_layers", "0"}}, "$.intermediate_size", "no such key when every layer is MoE"},
        {{{"norm", "\"batch\""}}, "$.norm", "\"rms\", \"non-parametric\", \"layer\""},
        {{{"feed_forward", "\"relu\""}}, "$.feed_forward", "\"swiglu\", \"gelu\""},
        {{{"attention", "\"linear\""}}, "$.attention", "\"multi-head\", \"latent\""},
        {{{"qk_norm", "1"}}, "$.qk_norm", "true or false"},
        {{{"q_rank", "8"}}, "$.q_rank", "unless \"attention\" is \"latent\""},
        {{{"attention", "\"latent\""}}, "small.json: $", "missing key \"q_rank\""},
        {{{"source", "\"\""}}, "$.source", "not an empty string"},
    };
    for (const Refusal& refusal : refusals) {
        const std::string error = error_of(refusal.changes);
        EXPECT_NE(error.find(refusal.where), std::string::npos) << error;
        EXPECT_NE(error.find(refusal.allowed), std::string::npos) << error;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

TEST(Workload, capacity_and_prediction_modules_are_refused_where_they_mean_nothing) {
    EXPECT_NE(error_of({{"capacity_factor", "0"}}).find("$.pad_to_capacity"), std::string::npos);
    EXPECT_NE(error_of({{"capacity_factor", "0.001"}}).find("$.capacity_factor"), std::string::npos);
    EXPECT_NE(error_of({{"capacity_factor", "-1"}}).find("$.capacity_factor"), std::string::npos);
    EXPECT_NE(error_of({{"mtp_layers", "101"}}).find("$.mtp_layers"), std::string::npos);
    EXPECT_EQ(error_of({{"mtp_layers", "3"}, {"pad_to_capacity", "false"}}), "accepted");
    const std::string dense =
        R"({"source": "s", "layers": 2, "hidden_size": 64, "heads": 4, "vocab_size": 7, "sequence_length": 3,
            "intermediate_size": 8, )";
    for (const char* key : {R"("capacity_factor": 1)", R"("pad_to_capacity": true)", R"("router_bias": true)"}) {
        EXPECT_NE(error_of_text(dense + key + "}").find("without \"num_experts\""), std::string::npos) << key;
    }
    EXPECT_EQ(error_of_text(dense + R"("mtp_layers": 1})"), "accepted");
}

// Each module: a projection of 2 H to H, three norms, a layer like the last one; the head's product once more.
TEST(Workload, a_prediction_module_is_a_projection_three_norms_a_layer_and_the_head_once_more) {
    Workload workload = load_workload(small_document());
    const ParameterCount before = count_parameters(workload), active = count_active_parameters(workload);
    const TokenFlop flop_before = count_token_flop(workload);
    const double layer = count_layer_parameters(workload, 3).total();
    workload.mtp_layers = 2;
    const ParameterCount after = count_parameters(workload);
    EXPECT_EQ(after.total() - before.total(), 2 * (layer + 2 * 64 * 64 + 3 * 64));
    EXPECT_EQ(after.prediction, 2 * 2 * 64 * 64);
    EXPECT_EQ(after.norm - before.norm, 2 * (224 + 3 * 64));
    EXPECT_EQ(after.embedding + after.lm_head, before.embedding + before.lm_head) << "tables are shared";
    EXPECT_EQ(count_active_parameters(workload).experts - active.experts, 2 * 2 * 3 * 64 * 32);
    const TokenFlop flop = count_token_flop(workload);
    EXPECT_EQ(flop.lm_head, 3 * flop_before.lm_head);
    EXPECT_EQ(flop.prediction, 2 * 2 * 2 * 64 * 64);
    EXPECT_EQ(flop.attention_projections, flop_before.attention_projections * 6 / 4);
    EXPECT_EQ(flop.experts, flop_before.experts * 5 / 3);
    EXPECT_EQ(replicated_tensors_per_layer(workload, 4), replicated_tensors_per_layer(workload, 3) + 1 + 3);
}

TEST(Workload, deepseek_v3_has_671_billion_parameters_and_a_prediction_module_of_14) {
    // The report counts the module with the two tables that it shares.
    Workload workload = load("deepseek-v3");
    EXPECT_EQ(workload.mtp_layers, 1);
    EXPECT_TRUE(workload.router_bias);
    const ParameterCount with = count_parameters(workload);
    workload.mtp_layers = 0;
    const double main_model = count_parameters(workload).total();
    EXPECT_NEAR(main_model, 671e9, 0.5e9);
    EXPECT_NEAR(with.total() - main_model + with.embedding + with.lm_head, 14e9, 0.05 * 14e9);
}

TEST(Workload, a_capacity_below_that_of_even_routing_leaves_that_part_of_the_experts_flop) {
    Workload workload = load_workload(small_document());
    const double all = count_token_flop(workload).experts;
    EXPECT_EQ(count_token_flop(load_workload(small_document())).experts, 3.0 * 2 * 2 * 3 * 64 * 32);
    workload.capacity_factor = 0.5;
    EXPECT_EQ(count_token_flop(workload).experts, all / 2);
}

TEST(Workload, latent_attention_refuses_what_it_does_not_model) {
    const std::vector<Change> latent = {{"attention", "\"latent\""}, {"q_rank", "0"},           {"kv_rank", "8"},
                                        {"rope_head_size", "4"},     {"value_head_size", "16"}, {"kv_heads", "4"},
                                        {"qk_norm", "false"}};
    EXPECT_EQ(error_of(latent), "accepted");
    for (const Change& change : {Change{"kv_heads", "2"}, Change{"qk_norm", "true"}, Change{"biases", "true"}}) {
        std::vector<Change> changes = latent;
        changes.push_back(change);
        EXPECT_NE(error_of(changes).find(std::string("$.") + change.first), std::string::npos) << error_of(changes);
    }
}

TEST(Workload, missing_keys_and_keys_without_experts_are_named) {
    const std::string shape = R"("layers": 2, "hidden_size": 64, "heads": 4, "vocab_size": 7, "sequence_length": 3)";
    EXPECT_NE(error_of_text("{" + shape + "}").find("missing key \"source\""), std::string::npos);
    EXPECT_NE(error_of_text(R"({"source": "s", )" + shape + "}").find("missing key \"intermediate_size\""),
              std::string::npos);
    EXPECT_NE(error_of_text(R"({"source": "s", "num_experts": 4, )" + shape + "}").find("missing key \"top_k\""),
              std::string::npos);
    EXPECT_NE(error_of_text(R"({"source": "s", "intermediate_size": 8, "top_k": 2, )" + shape + "}").find("$.top_k"),
              std::string::npos);
    EXPECT_NE(
        error_of_text(
            R"({"source": "s", "intermediate_size": 8, "layers": 2, "hidden_size": 65, "heads": 4, "vocab_size": 7,
        "sequence_length": 3})")
            .find("\"head_size\""),
        std::string::npos);
    EXPECT_NE(error_of_text("[]").find("expected an object"), std::string::npos);
}

TEST(Workload, parameters_of_a_mixture_are_the_sums_of_its_matrices) {
    const Workload workload = load_workload(small_document());
    const ParameterCount count = count_parameters(workload);
    // Four layers of W_q, W_o [64, 4*16] and W_k, W_v [64, 2*16].
    EXPECT_EQ(count.attention, 4 * (2 * 64 * 64 + 2 * 64 * 32));
    // Four layers of two norms of 64, a query norm of 4*16 and a key norm of 2*16; one final norm.
    EXPECT_EQ(count.norm, 4 * (64 + 64 + 64 + 32) + 64);
    EXPECT_EQ(count.dense_feed_forward, 1 * 3 * 64 * 256);
    EXPECT_EQ(count.router, 3 * 64 * 8);
    EXPECT_EQ(count.experts, 3 * 8 * 3 * 64 * 32);
    EXPECT_EQ(count.shared_experts, 3 * 1 * 3 * 64 * 32);
    EXPECT_EQ(count.embedding, 512 * 64);
    EXPECT_EQ(count.lm_head, 512 * 64);
    EXPECT_EQ(count.positions, 0);
    EXPECT_EQ(count.total(), 49152 + 960 + 49152 + 1536 + 147456 + 18432 + 32768 + 32768);
    const ParameterCount active = count_active_parameters(workload);
    EXPECT_EQ(active.experts, 3 * 2 * 3 * 64 * 32);
    EXPECT_EQ(count.total() - active.total(), 3 * (8 - 2) * 3 * 64 * 32);
}

TEST(Workload, layers_the_final_norm_and_the_vocabulary_add_up_to_the_model) {
    for (const char* name : {"mula-220b-a10b", "deepseek-v3", "gpt3-175b", "mula-1b", "toy-moe"}) {
        const Workload workload = load(name);
        const ParameterCount model = count_parameters(workload);
        double sum = model.embedding + model.positions + model.lm_head;
        for (int layer = 0; layer < workload.layers_and_predictions(); ++layer) {
            const ParameterCount count = count_layer_parameters(workload, layer);
            EXPECT_EQ(count.embedding + count.positions + count.lm_head, 0);
            sum += count.total();
        }
        const double final_norm = (workload.norm == NormKind::kRms     ? 1
                                   : workload.norm == NormKind::kLayer ? 2
                                                                       : 0) *
                                  workload.hidden_size;
        EXPECT_EQ(sum + final_norm, model.total()) << name;
    }
}

TEST(Workload, gpt3_counts_biases_positions_and_layer_norms_and_ties_its_head) {
    const ParameterCount count = count_parameters(load("gpt3-175b"));
    const double h = 12288;
    // The textbook count: 12 h^2 weights and 13 h biases and norm parameters per layer, 2 h for the final norm.
    EXPECT_EQ(count.attention + count.dense_feed_forward + count.norm, 96 * (12 * h * h + 13 * h) + 2 * h);
    EXPECT_EQ(count.embedding, 51200 * h);
    EXPECT_EQ(count.positions, 2048 * h);
    EXPECT_EQ(count.lm_head, 0);
}

TEST(Workload, a_non_parametric_norm_has_no_parameters) { EXPECT_EQ(count_parameters(load("mula-1b")).norm, 0); }

TEST(Workload, latent_attention_counts_its_five_matrices_and_two_latent_norms) {
    Workload workload = load("deepseek-v3");
    const ParameterCount layer = count_layer_parameters(workload, 10);
    EXPECT_EQ(layer.attention, 7168.0 * 1536 + 1536.0 * 128 * (128 + 64) + 7168.0 * (512 + 64) +
                                   512.0 * 128 * (128 + 128) + 128.0 * 128 * 7168);
    EXPECT_EQ(layer.norm, 2 * 7168 + 1536 + 512);
    EXPECT_EQ(layer.router, 7168 * 256);
    EXPECT_EQ(layer.experts, 256.0 * 3 * 7168 * 2048);
    EXPECT_EQ(layer.shared_experts, 3.0 * 7168 * 2048);
    EXPECT_EQ(count_layer_parameters(workload, 2).dense_feed_forward, 3.0 * 7168 * 18432);
    // The published main model has 671,026,419,200 parameters, 58 x 256 of them the router's biases, which no gradient
    // trains.
    workload.mtp_layers = 0;
    EXPECT_EQ(count_parameters(workload).total() + 58 * 256, 671'026'419'200.0);
}

struct Published {
    const char* name;
    double total, active;                    ///< billions
    double total_rounding, active_rounding;  ///< half of the last digit published
};

TEST(Workload, published_totals_come_out_within_one_percent_or_their_rounding) {
    const Published models[] = {
        {"mula-1b", 1.3, 1.3, 0.05, 0.05},        {"mula-7b-a1b", 6.9, 1.3, 0.05, 0.05},
        {"mula-20b-a2b", 20, 2.4, 0.5, 0.05},     {"mula-100b-a7b", 100, 7.6, 0.5, 0.05},
        {"mula-220b-a10b", 220, 10, 0.5, 0.5},    {"olmoe-1b-7b", 6.9, 1.3, 0.05, 0.05},
        {"mixtral-8x7b", 46.7, 12.9, 0.05, 0.05}, {"deepseek-v3", 671, 37, 0.5, 0.5},
        {"gpt3-175b", 175, 175, 0.5, 0.5},        {"llama3-70b", 70.6, 70.6, 0.05, 0.05},
        {"agpt-70b", 68.98, 68.98, 0.005, 0.005}, {"agpt-2b", 1.99, 1.99, 0.005, 0.005},
        {"agpt-20b", 20.7, 20.7, 0.05, 0.05},     {"agpt-30b", 28.1, 28.1, 0.05, 0.05},
        {"llama3-8b", 8.03, 8.03, 0.005, 0.005},  {"llama3-405b", 405.9, 405.9, 0.05, 0.05},
        {"qwen3-235b-a22b", 235, 22, 0.5, 0.5},   {"gpt-oss-120b", 116.8, 5.13, 0.05, 0.005},
    };
    for (const Published& model : models) {
        Workload workload = load(model.name);
        workload.mtp_layers = 0;  // published counts are of the main model
        const double total = count_parameters(workload).total() / kBillion;
        const ParameterCount active_count = count_active_parameters(workload);
        // The 37 B of DeepSeek leave out the input embedding (37.55 B with it), as those of gpt-oss; others count it.
        const std::string name = model.name;
        const bool without_embedding = name == "deepseek-v3" || name == "gpt-oss-120b";
        const double active = (active_count.total() - (without_embedding ? active_count.embedding : 0)) / kBillion;
        EXPECT_NEAR(total, model.total, std::max(0.01 * model.total, model.total_rounding)) << model.name;
        EXPECT_NEAR(active, model.active, std::max(0.01 * model.active, model.active_rounding)) << model.name;
    }
}

TEST(Workload, a_token_costs_two_flop_per_active_weight_and_half_of_the_full_attention) {
    const TokenFlop flop = count_token_flop(load_workload(small_document()));
    EXPECT_EQ(flop.attention_projections, 2 * 4 * (2 * 64 * 64 + 2 * 64 * 32));
    // QK^T and PV: 2 * 2 * S * heads * head_size / 2 per layer.
    EXPECT_EQ(flop.attention_scores, 4 * (2 * 2 * 128 * 4 * 16 / 2));
    EXPECT_EQ(flop.dense_feed_forward, 2 * 3 * 64 * 256);
    EXPECT_EQ(flop.router, 3 * 2 * 64 * 8);
    EXPECT_EQ(flop.experts, 3 * 2 * 2 * 3 * 64 * 32);
    EXPECT_EQ(flop.shared_experts, 3 * 2 * 3 * 64 * 32);
    EXPECT_EQ(flop.lm_head, 2 * 64 * 512);
    EXPECT_EQ(flop.forward(), 98304 + 65536 + 98304 + 3072 + 73728 + 36864 + 65536);
    EXPECT_EQ(flop.training(), 3 * flop.forward());
}

TEST(Workload, latent_scores_use_the_longer_keys_and_the_value_heads) {
    // 2 * S/2 * heads * (nope + rope) for QK^T and 2 * S/2 * heads * value for PV, 61 layers and a prediction module's.
    EXPECT_EQ(count_token_flop(load("deepseek-v3")).attention_scores, 62.0 * 4096 * 128 * (192 + 128));
}

TEST(Workload, forward_flop_without_scores_are_twice_the_active_matrices) {
    for (const char* name : {"mula-220b-a10b", "deepseek-v3", "llama3-70b", "mixtral-8x7b"}) {
        const Workload workload = load(name);
        const ParameterCount active = count_active_parameters(workload);
        const TokenFlop flop = count_token_flop(workload);
        const double heads = (1 + workload.mtp_layers) * active.lm_head;
        EXPECT_DOUBLE_EQ(flop.forward() - flop.attention_scores,
                         2 * (active.total() - active.embedding - active.norm - active.lm_head + heads))
            << name;
    }
}

TEST(Workload, replicated_tensors_are_attention_norms_router_and_shared_or_dense_feed_forward) {
    const Workload mixed = load_workload(small_document());
    EXPECT_EQ(replicated_tensors_per_layer(mixed, 0),
              4 + 4 + 3);  // q k v o; two norms, two query-key norms; gate up down
    EXPECT_EQ(replicated_tensors_per_layer(mixed, 1), 4 + 4 + 1 + 3);  // the router, and the shared expert's three
    EXPECT_EQ(replicated_tensors_per_layer(load("mula-220b-a10b"), 0), 4 + 4 + 1);
    EXPECT_EQ(replicated_tensors_per_layer(load("deepseek-v3"), 60), 5 + 4 + 1 + 3);
    EXPECT_EQ(replicated_tensors_per_layer(load("gpt3-175b"), 0), 2 * 4 + 2 * 2 + 2 * 2);
    EXPECT_EQ(replicated_tensors_per_layer(load("mula-1b"), 0), 4 + 3);
}

TEST(Workload, every_file_in_workloads_loads_and_is_named_as_its_file) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(AUSPEX_SOURCE_DIR) + "/workloads")) {
        const Workload workload = load_workload(JsonDocument::load(entry.path().string()));
        EXPECT_EQ(workload.name, entry.path().stem().string());
        EXPECT_GT(count_parameters(workload).total(), 0);
        ++files;
    }
    EXPECT_GE(files, 13);
}

}  // namespace
}  // namespace auspex::models
