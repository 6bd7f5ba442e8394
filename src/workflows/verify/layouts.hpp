#pragma once
/// @file The layouts that `auspex verify` compares with one rank.
#include <string>
#include <vector>

namespace auspex::workflows {

/// Which model a layout trains.
enum class VerifyModel {
    kExperts,     ///< --workload
    kDense,       ///< toy-dense
    kGlobalLoss,  ///< toy-moe-global: one auxiliary loss over all layers
    kShared,      ///< toy-shared: shared experts, grouped queries, a dense layer in front, tied embeddings
    kLatent,      ///< toy-latent: latent attention, a shared expert, a dense layer in front
    kGpt,         ///< toy-gpt: layer norms, GELU, biases, learned positions, tied embeddings
    kGptExperts,  ///< toy-gpt-moe: the same with experts, a shared one among them
    kWindowed,    ///< toy-windowed: every second layer attends to a window
    kPredicting,  ///< toy-deepseek: toy-latent with a router's bias and a prediction module
    kCapacity  ///< toy-capacity: toy-moe with room for three quarters of the rows of even routing; gathered, as what is
               ///< sent depends on choices where some are dropped
};

/// Sequences of a step, whatever the layout.
inline constexpr int kVerifyBatch = 8;

struct VerifyLayout {
    VerifyModel model = VerifyModel::kExperts;
    int dp = 1, ep = 1, tp = 1, pp = 1, virtual_stages = 1;
    bool sequence_parallel = false;
    int micro_batch_size = 1;
    const char* schedule = "1f1b";
    std::vector<const char*> recompute{};
    const char* optimizer = "sharded";
    const char* dispatch = "alltoall";
    const char* kernels = "grouped";
    std::vector<const char*> overlap{};  ///< streams that run beside compute
    int shard_replicas = 1;
    bool reshard_after_forward = true;  ///< of fsdp
    int prefetch = 1;                   ///< of fsdp
    int etp = 0;                        ///< 0: tp
    int cp = 1;
    const char* context = "all-gather";
    int context_all_to_all = 1;
    int offload_layers = 0;

    [[nodiscard]] int expert_tp() const { return etp > 0 ? etp : tp; }
    [[nodiscard]] int ranks() const { return dp * ep * expert_tp() * pp; }
    /// Ranks that have different sequences.
    [[nodiscard]] int data_parallel() const { return dp * ep * expert_tp() / (tp * cp); }
    [[nodiscard]] int micro_batches() const { return kVerifyBatch / (data_parallel() * micro_batch_size); }
    /// "dp 2, ep 2, pp 2 x 2": what is more than 1; "one rank".
    [[nodiscard]] std::string grid() const;
    /// "1f1b, alltoall, fused, ep-aware, recompute norm": what is not the grid.
    [[nodiscard]] std::string choices() const;
    /// A plan file, fp32 throughout; `routing` is JSON.
    [[nodiscard]] std::string plan_text(const std::string& routing) const;
};

/// Every axis, schedule, dispatch, kernel and optimizer alone and together, up to 16 ranks; the first ones are the most
/// different.
[[nodiscard]] const std::vector<VerifyLayout>& verify_layouts();

}  // namespace auspex::workflows
