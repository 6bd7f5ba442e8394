/// @file Layers dealt to stages by cost, and plans that give them.
#include "models/pipeline/stage_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "models/plan.hpp"

namespace auspex::models {
namespace {

/// A layer of a dense model without norms: 4 h^2 of attention and 3 h f of SwiGLU.
Workload dense_model(int layers, int hidden, int intermediate, int vocabulary) {
    Workload w = load_workload(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/mula-1b.json"));
    w.layers = layers;
    w.hidden_size = hidden;
    w.heads = w.kv_heads = hidden / 64;
    w.head_size = 64;
    w.intermediate_size = intermediate;
    w.vocab_size = vocabulary;
    return w;
}

TEST(StageLayers, a_head_of_four_layers_cost_takes_four_layers_off_the_last_stages) {
    // Layer: 4 x 2048^2 + 3 x 2048 x 8192 = 67.1 M, head: 131072 x 2048 = 268.4 M, 4 layers' (norms: 4 of 2048 aside).
    // 20 units over 8 stages: bounds at 2.5, 5, 7.5 ... of which layer i is in the first that is not below i + 1.
    const Workload w = dense_model(16, 2048, 8192, 131072);
    EXPECT_EQ(layers_by_cost(w, 8), (std::vector<int>{2, 3, 2, 3, 2, 3, 1, 0}));
    EXPECT_EQ(layers_by_cost(w, 4), (std::vector<int>{5, 5, 5, 1}));
    EXPECT_EQ(layers_by_cost(w, 2), (std::vector<int>{10, 6}));
    EXPECT_EQ(layers_by_cost(w, 1), (std::vector<int>{16}));
}

TEST(StageLayers, a_prediction_module_takes_its_layer_its_projection_and_a_head_off_the_last_stages) {
    // Beside 16 layers and a head of 4 a module of 1 + 2 x 2048^2 / 67.1 M + 4 = 5.1: 25.1 units, bounds at 6.3, 12.6
    // ...
    Workload w = dense_model(16, 2048, 8192, 131072);
    w.mtp_layers = 1;
    EXPECT_EQ(layers_by_cost(w, 4), (std::vector<int>{6, 6, 4, 0}));
}

TEST(StageLayers, sum_to_the_layers_and_no_stage_exceeds_its_share_by_a_layer) {
    Rng rng(7);
    for (int trial = 0; trial < 200; ++trial) {
        const int layers = static_cast<int>(1 + rng.below(60)), stages = static_cast<int>(1 + rng.below(20));
        const Workload w =
            dense_model(layers, 64 * static_cast<int>(1 + rng.below(40)), static_cast<int>(64 + rng.below(9000)),
                        static_cast<int>(100 + rng.below(90000)));
        const std::vector<int> dealt = layers_by_cost(w, stages);
        EXPECT_EQ(dealt.size(), static_cast<std::size_t>(stages));
        EXPECT_EQ(std::accumulate(dealt.begin(), dealt.end(), 0), layers);
        // k layers of a stage have cumulative costs within a share of all: (k - 1) x layer <= all / stages.
        const double layer = count_layer_parameters(w, 0).total(), head = 1.0 * w.vocab_size * w.hidden_size;
        EXPECT_LE((*std::ranges::max_element(dealt) - 1) * layer, (layers * layer + head) / stages * (1 + 1e-12));
        // Without a head to speak of: as evenly as layers go.
        Workload headless = w;
        headless.vocab_size = 1;
        const std::vector<int> even = layers_by_cost(headless, stages);
        EXPECT_LE(*std::ranges::max_element(even), (layers + stages - 1) / stages);
    }
}

TEST(StageLayers, evenly_with_embedding_and_head_counted_as_layers_of_the_stages_that_have_them) {
    const auto dealt = [](int layers, StageDeal deal, int stages) {
        return layers_dealt(dense_model(layers, 2048, 8192, 131072), deal, stages);
    };
    using Layers = std::vector<int>;
    // 6 layers: 2 + 2 + 1 + 1; of 7 with the head 2 + 2 + 2 + (2 - 1 - 1): the head is the last one's second.
    EXPECT_EQ(dealt(6, StageDeal::kEven, 4), (Layers{2, 2, 1, 1}));
    EXPECT_EQ(dealt(6, StageDeal::kWithHead, 4), (Layers{2, 2, 2, 0}));
    EXPECT_EQ(dealt(6, StageDeal::kWithEmbedding, 4), (Layers{1, 2, 2, 1}));
    EXPECT_EQ(dealt(6, StageDeal::kWithBoth, 4), (Layers{1, 2, 2, 1}));
    // Megatron-LM's case, where all come out equal: (62 + 2) / 8.
    EXPECT_EQ(dealt(62, StageDeal::kWithBoth, 8), (Layers{7, 8, 8, 8, 8, 8, 8, 7}));
    for (const StageDeal deal : kNamedDeals) {
        EXPECT_EQ(dealt(6, deal, 1), (Layers{6})) << to_string(deal);
        for (int stages = 1; stages <= 9; ++stages) {
            const Layers layers = dealt(9, deal, stages);
            EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 9) << to_string(deal) << stages;
            EXPECT_GE(*std::ranges::min_element(layers), 0) << to_string(deal) << stages;
        }
    }
}

Plan parsed(const std::string& text) { return load_plan(JsonDocument::parse(text, "p.json")); }

std::string refusal(const std::string& text, const Workload& w) {
    try {
        static_cast<void>(resolve_plan(parsed(text), w, 0));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(StageLayers, of_a_plan_are_given_or_dealt) {
    const Workload w = dense_model(16, 2048, 8192, 131072);
    EXPECT_TRUE(resolve_plan(parsed(R"({"dp": 1, "pp": 4})"), w, 0).stage_layers.empty());
    EXPECT_EQ(resolve_plan(parsed(R"({"dp": 1, "pp": 4, "stages": "by-cost"})"), w, 0).stage_layers,
              (std::vector<int>{5, 5, 5, 1}));
    EXPECT_EQ(resolve_plan(parsed(R"({"dp": 1, "pp": 3, "stages": "even-with-both"})"), w, 0).stage_layers,
              (std::vector<int>{5, 6, 5}));
    EXPECT_EQ(resolve_plan(parsed(R"({"dp": 1, "pp": 3, "stages": [9, 7, 0]})"), w, 0).stage_layers,
              (std::vector<int>{9, 7, 0}));
    EXPECT_EQ(refusal(R"({"dp": 1, "pp": 3, "stages": [9, 6, 0]})", w),
              "p.json: $.stages: found 15 layers in all; expected 16, as mula-1b has");
    EXPECT_NE(refusal(R"({"dp": 1, "pp": 3, "stages": [9, 7]})", w).find("each of pp * virtual_stages = 3 stages"),
              std::string::npos);
    EXPECT_NE(refusal(R"({"dp": 1, "pp": 2, "stages": [17, -1]})", w).find("$.stages[1]"), std::string::npos);
    EXPECT_NE(refusal(R"({"dp": 1, "pp": 2, "stages": "uneven"})", w).find("by-cost"), std::string::npos);
}

}  // namespace
}  // namespace auspex::models
