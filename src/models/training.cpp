/// @file Reads the object "training"; the schedule of the learning rate.
#include "models/training.hpp"

#include <cmath>
#include <numbers>

#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;
/// Largest moment decay: 1 would never take a gradient in.
constexpr double kBelowOne = 1 - 1e-9;

void read_number(const JsonValue& object, std::string_view key, double low, double high, double& field) {
    if (const auto value = object.find(key)) {
        field = value->as_number(low, high);
    }
}

void read_steps(const JsonValue& object, std::string_view key, int& field) {
    if (const auto value = object.find(key)) {
        field = static_cast<int>(value->as_integer(0, kMaxSteps));
    }
}

}  // namespace

Training load_training(const JsonValue& object) {
    object.allow_only({"learning_rate", "final_learning_rate", "warmup_steps", "decay_steps", "beta1", "beta2",
                       "epsilon", "weight_decay", "clip", "auxiliary_loss", "z_loss", "router_bias_speed",
                       "prediction_loss", "initial_deviation", "rope_theta", "norm_epsilon", "normalize_top_k"});
    Training training;
    for (const std::string& key : object.keys()) {
        training.given.insert(key);
    }
    read_number(object, "learning_rate", 0, 10, training.learning_rate);
    read_number(object, "final_learning_rate", 0, 1, training.final_learning_rate);
    read_steps(object, "warmup_steps", training.warmup_steps);
    read_steps(object, "decay_steps", training.decay_steps);
    read_number(object, "beta1", 0, kBelowOne, training.beta1);
    read_number(object, "beta2", 0, kBelowOne, training.beta2);
    read_number(object, "epsilon", 1e-20, 1, training.epsilon);
    read_number(object, "weight_decay", 0, 10, training.weight_decay);
    read_number(object, "clip", 0, 1e9, training.clip);
    read_number(object, "auxiliary_loss", 0, 100, training.auxiliary_loss);
    read_number(object, "z_loss", 0, 100, training.z_loss);
    read_number(object, "router_bias_speed", 0, 1, training.router_bias_speed);
    read_number(object, "prediction_loss", 0, 100, training.prediction_loss);
    read_number(object, "initial_deviation", 0, 10, training.initial_deviation);
    read_number(object, "rope_theta", 1, 1e12, training.rope_theta);
    read_number(object, "norm_epsilon", 1e-12, 1, training.norm_epsilon);
    if (const auto value = object.find("normalize_top_k")) {
        training.normalize_top_k = value->as_bool();
    }
    if (training.decay_steps != 0 && training.decay_steps < training.warmup_steps) {
        object.at("decay_steps")
            .fail("0, or at least warmup_steps (" + std::to_string(training.warmup_steps) + "), which it includes");
    }
    return training;
}

double learning_rate_at(const Training& training, int step, int last_step) {
    const double update = step + 1.0;
    const double warmup = training.warmup_steps;
    if (update <= warmup) {
        return training.learning_rate * update / warmup;
    }
    const double end = training.decay_steps > 0 ? training.decay_steps : last_step + 1.0;
    const double progress = update >= end ? 1 : (update - warmup) / (end - warmup);
    const double share = (1 + std::cos(std::numbers::pi * progress)) / 2;
    return training.learning_rate * (training.final_learning_rate + (1 - training.final_learning_rate) * share);
}

}  // namespace auspex::models
