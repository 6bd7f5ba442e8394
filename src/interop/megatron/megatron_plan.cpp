/// @file A plan as arguments of Megatron-LM.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "interop/megatron/megatron.hpp"
#include "interop/settings_writer.hpp"
#include "interop/training_source.hpp"
#include "models/pipeline/stage_layers.hpp"
#include "models/recompute/megatron_modules.hpp"

namespace auspex::interop {
namespace {

using models::Axis;

class Writer {
 public:
    Writer(const models::Workload& workload, const models::Plan& plan)
        : workload_(workload), plan_(plan), out_(plan, "Megatron-LM") {}

    Settings run() {
        write_grid();
        write_batch();
        write_recompute();
        write_offload();
        if (plan_.fp8 == models::Fp8::kNvfp4) {
            out_.add("--fp4-format", "e2m1", "fp8");
            out_.add("--fp4-recipe", "nvfp4", "fp8");
        } else if (plan_.fp8 != models::Fp8::kNone) {
            out_.add("--fp8-format", "hybrid", "fp8");
            out_.add("--fp8-recipe", to_string(plan_.fp8), "fp8");
        }
        if (plan_.fp8_weights_only) {
            out_.require(plan_.optimizer != models::OptimizerSharding::kReplicated, "fp8_weights", "\"only\"",
                         "\"copies\" with optimizer \"replicated\"");
            out_.add_switch(plan_.fp8 == models::Fp8::kNvfp4 ? "--fp4-param-gather" : "--fp8-param-gather",
                            "fp8_weights");
        }
        write_data_parallel();
        if (workload_.num_experts > 0) {
            write_experts();
        }
        write_overlap();
        return out_.take();
    }

 private:
    void write_grid() {
        out_.add("--tensor-model-parallel-size", plan_.tp, "tp");
        out_.add("--pipeline-model-parallel-size", plan_.pp, "pp");
        if (plan_.cp > 1) {
            out_.add("--context-parallel-size", plan_.cp, "cp");
            write_context();
        }
        if (workload_.num_experts > 0) {
            out_.add("--expert-model-parallel-size", plan_.ep, "ep");
            out_.add("--expert-tensor-parallel-size", plan_.etp, "etp");
        }
        if (plan_.sequence_parallel) {
            out_.add_switch("--sequence-parallel", "sequence_parallel");
        } else if (plan_.tp > 1 && workload_.num_experts > 0) {
            out_.refuse("sequence_parallel", "false with tp " + std::to_string(plan_.tp) + " and experts", "true");
        }
        out_.require_validation();
        out_.require_plain_states();
        const bool has_schedule = plan_.schedule != models::ScheduleKind::kGpipe && !splits_backward(plan_.schedule);
        out_.require(has_schedule, "schedule", std::string("\"") + to_string(plan_.schedule) + "\"",
                     "\"1f1b\" or \"interleaved-1f1b\"");
        if (has_schedule) {
            write_stages();
        }
        write_order();
    }

    void write_context() {
        constexpr std::array kTypes{"allgather", "p2p", "a2a", "a2a+p2p"};  // in the order of ContextParallel
        out_.add("--cp-comm-type", kTypes.at(static_cast<std::size_t>(plan_.context)), "context_parallel");
        if (plan_.context == models::ContextParallel::kTwoLevel) {
            const models::ContextSplit split = context_split(plan_);
            out_.add("--hierarchical-context-parallel-sizes",
                     std::to_string(split.all_to_all) + " " + std::to_string(split.ring), "context_all_to_all");
        }
    }

    void write_stages() {
        const int stages = plan_.pp * plan_.virtual_stages;
        const bool with_embedding =
            plan_.stages == models::StageDeal::kWithEmbedding || plan_.stages == models::StageDeal::kWithBoth;
        const bool with_head =
            plan_.stages == models::StageDeal::kWithHead || plan_.stages == models::StageDeal::kWithBoth;
        const bool is_even = plan_.stages == models::StageDeal::kEven || with_embedding || with_head;
        const int dealt = workload_.layers + (with_embedding ? 1 : 0) + (with_head ? 1 : 0);
        if (!is_even || dealt % stages != 0) {
            out_.add("--pipeline-model-parallel-layout",
                     stages_text(plan_.stage_layers.empty() ? layers_dealt(workload_, models::StageDeal::kEven, stages)
                                                            : plan_.stage_layers),
                     "stages");
            return;
        }
        if (plan_.virtual_stages > 1) {
            out_.add("--num-virtual-stages-per-pipeline-rank", plan_.virtual_stages, "virtual_stages");
        }
        if (with_embedding) {
            out_.add_switch("--account-for-embedding-in-pipeline-split", "stages");
        }
        if (with_head) {
            out_.add_switch("--account-for-loss-in-pipeline-split", "stages");
        }
    }

    /// "Et*3|t*4|t*3mL": embedding, layers of each virtual stage in order, prediction modules, loss.
    [[nodiscard]] std::string stages_text(const std::vector<int>& layers) const {
        std::string text = "E";
        for (std::size_t stage = 0; stage < layers.size(); ++stage) {
            text += stage == 0 ? "" : "|";
            text += layers[stage] > 0 ? "t*" + std::to_string(layers[stage]) : "";
        }
        return "\"" + text + std::string(static_cast<std::size_t>(workload_.mtp_layers), 'm') + "L\"";
    }

    /// tp, cp, ep, dp, pp from the fastest on, or with pp before dp. The latter asks for as many replicas of experts as
    /// of the dense part (megatron/core/parallel_state.py).
    void write_order() {
        constexpr std::array kStagesFirst{Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp};
        constexpr std::array kReplicasFirst{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp};
        const int of_experts = workload_.num_experts > 0 ? plan_.ep * plan_.etp : plan_.tp;
        const bool can_map = plan_.pp == 1 || of_experts == plan_.tp * plan_.cp;
        const bool says_replicas_first = plan_.rank_order == kReplicasFirst && plan_.pp > 1 && can_map;
        if (!says_replicas_first && is_order(plan_, kStagesFirst)) {
            return;
        }
        const std::string stages_first = order_text(kStagesFirst);
        if (!is_order(plan_, kReplicasFirst)) {
            out_.refuse("rank_order", order_text(plan_.rank_order), stages_first + " or " + order_text(kReplicasFirst));
        } else if (!can_map) {
            out_.refuse("rank_order",
                        order_text(plan_.rank_order) + " with ep x etp " + std::to_string(of_experts) +
                            " and tp x cp " + std::to_string(plan_.tp * plan_.cp),
                        stages_first + " (--set 'plan.rank_order=" + stages_first +
                            "'), or both products the same, which --use-tp-pp-dp-mapping asks for,");
        }
        out_.add_switch("--use-tp-pp-dp-mapping", "rank_order");
    }

    void write_batch() {
        const int data_parallel = data_parallel_of(plan_);
        out_.add("--micro-batch-size", plan_.micro_batch_size, "micro_batch_size");
        out_.add("--global-batch-size", plan_.micro_batch_size * plan_.micro_batches * data_parallel, "micro_batches");
        if (plan_.precision != "bf16" && plan_.precision != "fp32") {
            out_.refuse("precision", json_like(plan_.precision), "\"bf16\" or \"fp32\"");
        }
        if (plan_.precision == "bf16") {
            out_.add_switch("--bf16", "precision");
            if (plan_.gradient_bytes == 2) {
                out_.add_switch("--grad-reduce-in-bf16", "gradient_dtype");
            }
        }
    }
    static std::string json_like(const std::string& word) { return "\"" + word + "\""; }

    void write_recompute() {
        const models::Recompute all = recompute_of(plan_, 0);
        const int layers = plan_.recompute_layers;
        if (all.norm && all.attention && all.expert) {
            out_.add("--recompute-granularity", "full", "recompute");
            out_.add("--recompute-method", layers > 0 ? "block" : "uniform", "recompute");
            out_.add("--recompute-num-layers", std::max(1, layers), layers > 0 ? "recompute_layers" : "recompute");
            return;
        }
        out_.require(
            !all.attention, "recompute", "\"attention\" without others",
            "\"layer\", all of norm, attention and expert, or other words: core_attn is a part of attention only");
        out_.require(!all.alternate_products, "recompute", "\"alternate_products\"", "other words: it has none for it");
        out_.require(layers == 0, "recompute_layers", std::to_string(layers) + " with parts of a layer",
                     "no such key, or \"layer\" recomputed");
        const bool has_experts = workload_.num_experts > 0;
        out_.require(!all.activation || has_experts, "recompute", "\"activation\" without experts",
                     "no such word: moe_act is of experts");
        const std::string modules = modules_of(all);
        if (!modules.empty()) {
            out_.add("--recompute-granularity", "selective", "recompute");
            out_.add("--recompute-modules", modules, "recompute");
        }
    }

    /// It takes neither pipelines nor recomputing beside it, and fewer layers than there are.
    void write_offload() {
        const int layers = plan_.offload_layers;
        if (layers == 0) {
            return;
        }
        const std::string found = std::to_string(layers);
        out_.require(plan_.pp == 1, "offload_layers", found + " with pp " + std::to_string(plan_.pp), "0, or pp 1");
        out_.require(plan_.recompute == models::Recompute{}, "offload_layers", found + " with recompute",
                     "0, or nothing recomputed");
        out_.require(layers < workload_.layers, "offload_layers", found,
                     "less than the " + std::to_string(workload_.layers) + " layers");
        out_.add("--cpu-offloading-num-layers", layers, "offload_layers");
    }

    [[nodiscard]] std::string modules_of(const models::Recompute& all) const {
        const bool has_experts = workload_.num_experts > 0,
                   has_dense = !has_experts || workload_.first_dense_layers > 0;
        std::string modules;
        for (const models::RecomputeModule& module : models::kRecomputeModules) {
            if (all.*module.part && ((has_experts && module.of_experts) || (has_dense && module.of_dense))) {
                modules += (modules.empty() ? "" : " ") + std::string(module.name);
            }
        }
        return modules;
    }

    void write_data_parallel() {
        switch (plan_.optimizer) {
            case models::OptimizerSharding::kReplicated: break;
            case models::OptimizerSharding::kSharded:
                if (plan_.ep > 1) {
                    out_.refuse(
                        "optimizer", "\"sharded\" with ep " + std::to_string(plan_.ep),
                        "\"ep-aware\" (--set plan.optimizer=ep-aware), which is how its distributed optimizer shards "
                        "dense states and those of experts,");
                }
                out_.add_switch("--use-distributed-optimizer", "optimizer");
                break;
            case models::OptimizerSharding::kEpAware:
                out_.add_switch("--use-distributed-optimizer", "optimizer");
                break;
            case models::OptimizerSharding::kZero2:
            case models::OptimizerSharding::kFsdp:
                out_.add_switch("--use-megatron-fsdp", "optimizer");
                out_.add_switch("--use-distributed-optimizer", "optimizer");
                out_.add("--ckpt-format", "fsdp_dtensor", "optimizer");
                out_.add_switch("--no-gradient-accumulation-fusion", "optimizer");
                out_.add("--data-parallel-sharding-strategy",
                         plan_.optimizer == models::OptimizerSharding::kZero2 ? "optim_grads" : "optim_grads_params",
                         "optimizer");
                break;
        }
        out_.require_plain_gathers();
        if (plan_.shard_replicas > 1) {
            out_.add("--num-distributed-optimizer-instances", plan_.shard_replicas, "shard_replicas");
        }
    }

    void write_experts() {
        switch (plan_.dispatch) {
            case models::Dispatch::kAllToAll: out_.add("--moe-token-dispatcher-type", "alltoall", "dispatch"); break;
            case models::Dispatch::kAllGatherReduceScatter:
                out_.add("--moe-token-dispatcher-type", "allgather", "dispatch");
                break;
            case models::Dispatch::kHierarchical:
                out_.add("--moe-token-dispatcher-type", "flex", "dispatch");
                out_.add("--moe-flex-dispatcher-backend", "deepep", "dispatch");
                break;
        }
        out_.require(workload_.capacity_factor == 0 || plan_.dispatch == models::Dispatch::kAllToAll, "dispatch",
                     std::string("\"") + to_string(plan_.dispatch) + "\" with workload.capacity_factor",
                     "\"alltoall\", whose dispatcher alone drops tokens,");
        if (plan_.expert_kernels != models::ExpertKernels::kLoop) {
            out_.add_switch("--moe-grouped-gemm", "expert_kernels");
        }
        if (plan_.expert_kernels == models::ExpertKernels::kFused) {
            out_.add_switch("--moe-permute-fusion", "expert_kernels");
        }
        switch (plan_.routing.kind) {
            case models::RoutingDistribution::kUniform:
                out_.add_switch("--moe-router-force-load-balancing", "routing");
                break;
            case models::RoutingDistribution::kLearned: break;
            default: out_.refuse("routing", "zipf, dirichlet or a trace", "\"uniform\" or \"learned\"");
        }
    }

    void write_overlap() {
        if (plan_.overlap_dp) {
            out_.add_switch("--overlap-grad-reduce", "overlap");
            if (plan_.optimizer != models::OptimizerSharding::kReplicated) {
                out_.add_switch("--overlap-param-gather", "overlap");
            }
        }
        if (plan_.overlap_tp) {
            out_.add_switch("--tp-comm-overlap", "overlap");
        }
        if (plan_.overlap_ep) {
            out_.add_switch("--overlap-moe-expert-parallel-comm", "overlap");
        }
        const bool is_interleaved = plan_.schedule == models::ScheduleKind::kInterleaved1f1b;
        if (plan_.overlap_ep &&
            (plan_.ep == 1 || plan_.dispatch == models::Dispatch::kAllGatherReduceScatter ||
             recompute_of(plan_, 0).expert || plan_.precision != "bf16" || (plan_.pp > 1 && !is_interleaved))) {
            out_.refuse("overlap", "\"ep\"",
                        "no such word, or ep above 1, an all-to-all dispatch, bf16, experts that are not recomputed "
                        "and, with pp above 1, "
                        "interleaved-1f1b,");
        }
        if (plan_.overlap_pp && !is_interleaved) {
            out_.refuse("overlap", "\"pp\" with 1f1b", "no such word, or \"interleaved-1f1b\",");
        }
        if (!plan_.overlap_pp && is_interleaved) {
            constexpr int kLeastStages = 3;  // with two, a rank would send to and receive from one other at once
            out_.require(plan_.pp >= kLeastStages, "overlap",
                         "no \"pp\" with interleaved-1f1b and pp " + std::to_string(plan_.pp),
                         "\"pp\" (--set 'plan.overlap=[\"pp\"]', with the plan's other words), or pp above 2,");
            out_.add_switch("--no-overlap-p2p-communication", "overlap");
        }
    }

    const models::Workload& workload_;
    const models::Plan& plan_;
    SettingsWriter out_;
};

}  // namespace

Settings megatron_plan(const models::Workload& workload, const models::Plan& plan) {
    return Writer(workload, plan).run();
}

namespace {

/// What Megatron-LM asserts of it: 1 with tp or cp, but not with its FSDP, nor where expert communication overlaps.
Setting connections(const models::Plan& plan) {
    const bool is_fsdp = shards_gradients(plan.optimizer);
    const char* const name = "CUDA_DEVICE_MAX_CONNECTIONS";
    if (is_fsdp || plan.overlap_ep) {
        return {name, "32",
                is_fsdp ? "--use-megatron-fsdp asks for more than 1"
                        : "--overlap-moe-expert-parallel-comm asks for more than 1"};
    }
    return {name, "1", "tensor and context parallelism ask for it"};
}

}  // namespace

Emission megatron_emission(const EmitRequest& request) {
    Emission emission;
    emission.settings = megatron_model(request.workload);
    const Settings more = megatron_plan(request.workload, request.plan);
    emission.settings.insert(emission.settings.end(), more.begin(), more.end());
    if (request.steps > 0) {
        emission.settings.push_back({"--train-iters", std::to_string(request.steps), "--steps"});
    }
    emission.forced_routing = "--moe-router-force-load-balancing";
    emission.trial = {{"--mock-data", "", "made up"},
                      {"--tokenizer-type", "NullTokenizer", "made up"},
                      {"--lr", json_number(request.workload.training.learning_rate),
                       training_source(request.workload.training, "learning_rate")}};
    emission.program = "python pretrain_gpt.py";
    emission.cuda_environment = {connections(request.plan)};
    if (request.workload.qk_norm) {
        emission.notes.emplace_back(
            "workload.qk_norm norms all heads together, as OLMoE and OLMo 2 do; --qk-layernorm norms each head by "
            "itself, as Qwen3 does");
    }
    return emission;
}

}  // namespace auspex::interop
