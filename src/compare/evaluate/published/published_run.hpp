#pragma once
/// @file Training runs that others measured: cases as files of published results have them (docs/validation.md).
#include <optional>
#include <string>
#include <vector>

#include "base/json_forward.hpp"

namespace auspex::evaluate {

/// One run. Numbers that a case does not have are 0, texts empty; keys that are not named in docs/validation.md are
/// passed over, with a note.
struct PublishedRun {
    std::string id, source_key, source;
    std::string system;  ///< "Aurora", "Frontier"; empty where the source names none
    std::string gpu, nics;
    int gpus_per_node = 0, gpus = 0;
    int scale_up_gpus = 0;  ///< of one NVLink domain; a node where the case does not say
    std::string precision, framework, flop_convention;
    std::string notes;                     ///< of those who wrote the case
    std::vector<std::string> passed_over;  ///< CaseObject::passed_over, of all its objects
    std::string unreadable;  ///< the error of a wrong value, or of a required key that is missing; else empty
    std::string workload_file, plan_file;  ///< names of files, of runs that the keys of cases cannot say; else empty

    struct Model {
        std::string name, variant, activation, attention, position, window;
        int layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_size = 0, ffn = 0, vocab = 0, sequence = 0;
        int experts = 0, top_k = 0, expert_ffn = 0, shared_experts = 0, dense_layers = 0;
        int expert_groups = 0, top_k_groups = 0;
        int q_rank = 0, kv_rank = 0, rope_head_size = 0, plain_head_size = 0, value_head_size = 0;
        bool has_head_size = false;        ///< as the case says; else hidden / heads
        bool is_kv_assumed = false;        ///< as many heads of keys and values as of queries
        bool are_latents_assumed = false;  ///< a size of them, as DeepSeek's: the case does not say it
        bool are_experts_assumed = false;  ///< as wide as `ffn`: the case has no moe_ffn
        int expert_interval = 0;           ///< experts in every so many layers, the others dense; 0 and 1: in all
        int prediction_layers = 0;         ///< that predict further tokens
        bool is_ffn_assumed = false;       ///< of dense models without a gate that do not say: 4 hidden
        std::optional<bool> biases, tied_embeddings;
        double parameters = 0;  ///< all of them
    } model;

    struct Plan {
        int tp = 1, pp = 1, cp = 1, ep = 1, etp = 0, virtual_stages = 0, micro_batch = 0, global_batch = 0;
        int accumulation = 0;                   ///< micro-batches of a step
        int data_parallel = 0;                  ///< as the case says
        std::optional<bool> sequence_parallel;  ///< nothing: the case does not say
        double capacity_factor = 0;
        std::string zero, overlap, recompute, schedule, mixed_precision;
        /// In the plan's words, of a run that does not say: one of the framework's choices. No key of a case.
        std::optional<std::vector<std::string>> recompute_choice;
        int offloaded_layers = 0;    ///< of a run that does not say how it fits: in host memory. No key of a case
        bool shards_states = false;  ///< of a run that does not say what is sharded: its states are. No key of a case
        bool is_compiled = false;
        std::optional<int> fsdp;  ///< 0: no; 1: yes; more: over so many ranks; nothing: the case does not say
    } plan;

    struct Measured {
        double step_s = 0;  ///< what the source prints as a step's time, or what its own formula gives
        double samples_per_s = 0, tokens_per_s_per_gpu = 0, tflops_per_gpu = 0, peak_memory_bytes = 0;
        double mfu = 0;             ///< 0 to 1
        std::string flop_kind;      ///< tflops_kind: "model", "hardware"
        double derived_step_s = 0;  ///< computed from what the source prints, by those who wrote the case
    } measured;
};

/// An array of cases. One with a wrong value has its id and PublishedRun::unreadable alone, so that the others count.
/// Throws InputError naming file, path, value and what is expected of what is no array of objects with ids of their
/// own.
[[nodiscard]] std::vector<PublishedRun> load_published_runs(const JsonDocument& document);

/// Experts have a capacity, or the case's notes or its model's variant say "token-drop", "tokens are dropped", "drops
/// tokens" or the like.
[[nodiscard]] bool drops_tokens(const PublishedRun& run);

/// A gated feed-forward of three matrices, SwiGLU, GEGLU, ReGLU, or one of two, as the activation says: silu is taken
/// as gated where it does not say "without gate". Nothing for words that are not known, and none.
[[nodiscard]] std::optional<bool> says_gated(const PublishedRun::Model& model);
/// Three matrices a feed-forward: as says_gated; else of dense models where the inner width is not four times the
/// hidden size, or attention is latent. Of mixtures, whichever of two and three matrices comes closer to the parameters
/// that the case has,
///   layers (2 heads + 2 kv) head_size h + matrices h (dense ffn + mixtures (experts + shared) expert_ffn) + 2 V h,
/// and three where it has none.
[[nodiscard]] bool is_swiglu(const PublishedRun::Model& model);
}  // namespace auspex::evaluate
