/// @file The object "training": defaults, what is refused, and the learning rate against its formula.
#include "models/training.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/workload.hpp"

namespace auspex::models {
namespace {

Training parsed(const std::string& text) {
    const JsonDocument document = JsonDocument::parse(text, "w.json");
    return load_training(document.root());
}

/// Of toy-dense or toy-moe with one key of "training" set.
std::string error_of(const std::string& workload, const std::string& key, const std::string& value) {
    JsonDocument document = JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/workloads/" + workload + ".json");
    document.set("training." + key, value);
    try {
        static_cast<void>(load_workload(document));
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

TEST(Training, an_empty_object_means_the_defaults) {
    const Training training = parsed("{}");
    EXPECT_EQ(training.learning_rate, 4e-4);
    EXPECT_EQ(training.beta2, 0.95);
    EXPECT_EQ(training.weight_decay, 0.1);
    EXPECT_EQ(training.auxiliary_loss, 0.01);
    EXPECT_EQ(training.decay_steps, 0);
    EXPECT_FALSE(training.normalize_top_k);
}

TEST(Training, every_key_is_read) {
    const Training t = parsed(
        R"({"learning_rate": 1e-3, "final_learning_rate": 0.2, "warmup_steps": 3, "decay_steps": 40, "beta1": 0.8, "beta2": 0.9,
        "epsilon": 1e-6, "weight_decay": 0.3, "clip": 2, "auxiliary_loss": 0.5, "z_loss": 0.25, "router_bias_speed": 0.5, "prediction_loss": 0.1, "initial_deviation": 0.01,
        "rope_theta": 500000, "norm_epsilon": 1e-6, "normalize_top_k": true})");
    EXPECT_EQ(t.learning_rate, 1e-3);
    EXPECT_EQ(t.final_learning_rate, 0.2);
    EXPECT_EQ(t.warmup_steps, 3);
    EXPECT_EQ(t.decay_steps, 40);
    EXPECT_EQ(t.beta1, 0.8);
    EXPECT_EQ(t.beta2, 0.9);
    EXPECT_EQ(t.epsilon, 1e-6);
    EXPECT_EQ(t.weight_decay, 0.3);
    EXPECT_EQ(t.clip, 2);
    EXPECT_EQ(t.auxiliary_loss, 0.5);
    EXPECT_EQ(t.router_bias_speed, 0.5);
    EXPECT_EQ(t.prediction_loss, 0.1);
    EXPECT_EQ(t.z_loss, 0.25);
    EXPECT_EQ(t.initial_deviation, 0.01);
    EXPECT_EQ(t.rope_theta, 500000);
    EXPECT_EQ(t.norm_epsilon, 1e-6);
    EXPECT_TRUE(t.normalize_top_k);
}

TEST(Training, wrong_values_are_refused_by_name) {
    expect_contains(error_of("toy-moe", "router_bias_speed", "0.1"), "no such key without \"router_bias\"");
    expect_contains(error_of("toy-moe", "lerning_rate", "1"), "$.training: found the unknown key \"lerning_rate\"");
    expect_contains(error_of("toy-moe", "learning_rate", "-1"), "$.training.learning_rate");
    expect_contains(error_of("toy-moe", "beta1", "1"), "$.training.beta1");
    expect_contains(error_of("toy-moe", "epsilon", "0"), "$.training.epsilon");
    expect_contains(error_of("toy-moe", "warmup_steps", "1.5"), "$.training.warmup_steps");
    expect_contains(error_of("toy-moe", "decay_steps", "5"),
                    "$.training.decay_steps: found 5; expected 0, or at least");
    expect_contains(error_of("toy-moe", "normalize_top_k", "1"), "$.training.normalize_top_k");
    EXPECT_EQ(error_of("toy-moe", "z_loss", "0"), "accepted");
    expect_contains(error_of("toy-dense", "z_loss", "0"), "a dense model has no router");
}

TEST(Training, the_learning_rate_rises_linearly_and_falls_by_a_cosine) {
    Training training;
    training.learning_rate = 8;
    training.final_learning_rate = 0.25;
    training.warmup_steps = 4;
    for (int step = 0; step < 4; ++step) {
        EXPECT_EQ(learning_rate_at(training, step, 11), 2 * (step + 1)) << "r n / W";
    }
    // D = 12: halfway, at n = 8, r (f + (1 - f) / 2) = 5; at the end r f = 2.
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 7, 11), 5);
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 11, 11), 2);
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 500, 11), 2);
    for (int step = 4; step < 12; ++step) {
        EXPECT_LT(learning_rate_at(training, step, 11), learning_rate_at(training, step - 1, 11));
    }
    training.decay_steps = 8;
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 5, 11), 5) << "the file's steps, not the run's";
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 7, 11), 2);
}

TEST(Training, edges_of_the_schedule_have_a_rate) {
    // r = 8, f = 0.25, so r f = 2 at the end. Of two steps the first is half way: cos(pi / 2) = 0, r (f + (1 - f) /
    // 2) = 5. Warm-up over 10 steps: r 2 / 10.
    Training training;
    training.learning_rate = 8;
    training.final_learning_rate = 0.25;
    training.warmup_steps = 0;
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 0, 0), 2) << "one step is the last";
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 0, 1), 5);
    training.warmup_steps = 10;
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 1, 1), 1.6) << "a run shorter than its warm-up";
    training.decay_steps = 10;
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 9, 99), 8);
    EXPECT_DOUBLE_EQ(learning_rate_at(training, 10, 99), 2);
}

}  // namespace
}  // namespace auspex::models
