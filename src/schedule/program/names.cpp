/// @file Names of operations, phases and streams, as text, traces and tables show them.
#include <array>

#include "base/error.hpp"
#include "schedule/program/program.hpp"
#include "schedule/timeline.hpp"

namespace auspex::schedule {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(OpKind::kCount)> kOpNames{"embedding",
                                                                                     "modulation",
                                                                                     "window_shift",
                                                                                     "attention_norm",
                                                                                     "qkv_projection",
                                                                                     "query_down",
                                                                                     "key_value_down",
                                                                                     "query_up",
                                                                                     "key_value_up",
                                                                                     "qk_norm_sums",
                                                                                     "qk_norm",
                                                                                     "rotary_embedding",
                                                                                     "key_value_gather",
                                                                                     "key_value_ring",
                                                                                     "tokens_to_heads",
                                                                                     "attention_of_others",
                                                                                     "attention",
                                                                                     "heads_to_tokens",
                                                                                     "attention_output",
                                                                                     "residual_add",
                                                                                     "feed_forward_norm",
                                                                                     "gate_up_projection",
                                                                                     "activation",
                                                                                     "down_projection",
                                                                                     "router",
                                                                                     "router_top_k",
                                                                                     "token_communication",
                                                                                     "token_counting",
                                                                                     "index_generation",
                                                                                     "expert_computation",
                                                                                     "output_reduction",
                                                                                     "token_return",
                                                                                     "shared_expert",
                                                                                     "shared_expert_sum",
                                                                                     "final_norm",
                                                                                     "lm_head",
                                                                                     "cross_entropy",
                                                                                     "tp_all_reduce",
                                                                                     "tp_reduce_scatter",
                                                                                     "tp_all_gather",
                                                                                     "message_gather",
                                                                                     "receive_forward",
                                                                                     "send_forward",
                                                                                     "receive_backward",
                                                                                     "send_backward",
                                                                                     "host_sync",
                                                                                     "host_issue",
                                                                                     "barrier",
                                                                                     "gradient_check",
                                                                                     "gradient_tp_all_reduce",
                                                                                     "gradient_ep_all_reduce",
                                                                                     "gradient_reduce_experts",
                                                                                     "gradient_reduce_dense",
                                                                                     "tied_embedding_all_reduce",
                                                                                     "mirror_gradient_exchange",
                                                                                     "gradient_norm",
                                                                                     "gradient_norm_all_reduce",
                                                                                     "optimizer_update",
                                                                                     "mirror_parameter_exchange",
                                                                                     "parameter_gather_experts",
                                                                                     "parameter_gather_dense",
                                                                                     "prediction_input",
                                                                                     "router_bias_update",
                                                                                     "world_all_reduce",
                                                                                     "step_host",
                                                                                     "activations_to_host",
                                                                                     "activations_from_host",
                                                                                     "host_copy_wait"};

}  // namespace

const char* to_string(OpKind kind) {
    AUSPEX_CHECK(kind < OpKind::kCount, "an operation has a kind");
    return kOpNames[static_cast<std::size_t>(kind)];
}

const char* to_string(Stream stream) {
    static constexpr std::array<const char*, kStreamCount> kNames{"compute", "tp", "ep",      "dp",
                                                                  "pp",      "cp", "to_host", "from_host"};
    return kNames[static_cast<std::size_t>(stream)];
}

const char* to_string(Phase phase) {
    static constexpr std::array<const char*, kPhaseCount> kNames{"forward",         "recompute", "backward_input",
                                                                 "backward_weight", "optimizer", "reference"};
    return kNames[static_cast<std::size_t>(phase)];
}

const char* to_string(BlockKind kind) {
    static constexpr std::array<const char*, 5> kNames{"forward", "backward", "backward_input", "backward_weight",
                                                       "optimizer"};
    return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(models::GroupKind kind) {
    static constexpr std::array<const char*, models::kGroupKinds> kNames{
        "tp",          "cp",           "cp_all_to_all", "cp_ring",        "ep",
        "etp",         "expert_dp",    "dense_dp",      "dense_dp_outer", "dense_dp_inner",
        "dense_shard", "expert_shard", "dense_reshard", "expert_reshard", "shard_replicas",
        "stage",       "world",        "next_stage",    "previous_stage", "mirror_stage",
        "rank"};
    return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(CommKind kind) {
    static constexpr std::array<const char*, 14> kNames{
        "none", "all_reduce", "reduce_scatter", "all_gather",      "all_to_all", "broadcast", "barrier",
        "send", "receive",    "rows_to_nodes",  "rows_from_nodes", "shift",      "to_host",   "from_host"};
    return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(Carries carries) {
    static constexpr std::array<const char*, 6> kNames{"running_value", "saved_input", "qk_norm_sums",
                                                       "softmax_parts", "loss",        "health"};
    return kNames[static_cast<std::size_t>(carries)];
}

std::string operation_name(std::size_t index) {
    const auto phase = static_cast<Phase>(index % kPhaseCount);
    const std::string kind = to_string(static_cast<OpKind>(index / kPhaseCount));
    return phase == Phase::kForward || phase == Phase::kOptimizer ? kind : kind + "." + to_string(phase);
}

Timeline empty_timeline(const Program& program) {
    Timeline timeline;
    for (const Role& role : program.roles) {
        for (std::size_t stream = 0; stream < kStreamCount; ++stream) {
            timeline.tracks.push_back({"stage " + std::to_string(role.stage), to_string(static_cast<Stream>(stream))});
        }
    }
    for (std::size_t name = 0; name < kOperationNames; ++name) {
        timeline.names.push_back(operation_name(name));
    }
    return timeline;
}

}  // namespace auspex::schedule
