#pragma once
/// @file How a workload is trained: optimizer, schedule of the learning rate, losses, initial weights. What the
/// executor needs and no prediction depends on.
#include <set>
#include <string>

#include "base/json_forward.hpp"

namespace auspex::models {

/// The object "training" of a workload file; docs/formats-workload-plan.md lists the defaults, which are those of OLMoE
/// (arXiv:2409.02060) unless it says otherwise.
struct Training {
    double learning_rate = 4e-4;       ///< at the end of the warm-up
    double final_learning_rate = 0.1;  ///< of the cosine, as a fraction of learning_rate
    int warmup_steps = 10;             ///< linear from 0
    int decay_steps = 0;               ///< step at which the cosine ends, warm-up included; 0: the run's last
    double beta1 = 0.9, beta2 = 0.95;  ///< AdamW
    double epsilon = 1e-8;
    double weight_decay = 0.1;         ///< of tensors with two dimensions or more
    double clip = 1.0;                 ///< largest global gradient norm; 0: no clipping
    double auxiliary_loss = 0.01;      ///< coefficient of the load-balancing loss
    double z_loss = 0.001;             ///< coefficient of the router z-loss
    double router_bias_speed = 0.001;  ///< what a step moves a router's bias by: DeepSeek-V3's, arXiv:2412.19437
    double prediction_loss = 0.3;      ///< coefficient of the mean loss of prediction modules: DeepSeek-V3's, likewise
    double initial_deviation = 0.02;   ///< of normal weights, cut at three deviations; norms begin at 1
    double rope_theta = 10000;
    double norm_epsilon = 1e-5;
    bool normalize_top_k = false;  ///< weights of a token's experts sum to 1 (Mixtral); OLMoE: as the softmax gave
    std::set<std::string> given;   ///< keys that the file has; the others are defaults
};

/// Throws InputError for an unknown key, a value out of range, and a cosine that ends before the warm-up does.
[[nodiscard]] Training load_training(const JsonValue& object);

/// Learning rate of a step; with n = step + 1, W = warmup_steps, D = decay_steps or else last_step + 1, r =
/// learning_rate, f = final_learning_rate: r n / W up to n = W, then r (f + (1 - f) (1 + cos(pi (n - W) / (D - W))) /
/// 2), and r f from n = D on. Steps are counted from 0.
[[nodiscard]] double learning_rate_at(const Training& training, int step, int last_step);

}  // namespace auspex::models
