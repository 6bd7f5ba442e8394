/// @file A plan as arguments of Megatron-LM.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "interop/megatron.hpp"
#include "models/stage_layers.hpp"

namespace auspex::interop {
namespace {

using models::Axis;

class Writer {
 public:
    Writer(const models::Workload& workload, const models::Plan& plan) : workload_(workload), plan_(plan) {}

    Settings run() {
        write_grid();
        write_batch();
        write_recompute();
        write_data_parallel();
        if (workload_.num_experts > 0) {
            write_experts();
        }
        write_overlap();
        return std::move(settings_);
    }

 private:
    void add(const char* name, int value, const char* field) { add(name, std::to_string(value), field); }
    void add(const char* name, const std::string& value, const char* field) {
        settings_.push_back({name, value, std::string("plan.") + field});
    }
    void add_switch(const char* name, const char* field) { add(name, "", field); }
    [[noreturn]] void refuse(const char* field, const std::string& found, const std::string& expected) const {
        throw InputError(plan_.file + ": $." + field,
                         "found " + found + "; expected " + expected + " with Megatron-LM");
    }

    void write_grid() {
        add("--tensor-model-parallel-size", plan_.tp, "tp");
        add("--pipeline-model-parallel-size", plan_.pp, "pp");
        if (plan_.cp > 1) {
            add("--context-parallel-size", plan_.cp, "cp");
        }
        if (workload_.num_experts > 0) {
            add("--expert-model-parallel-size", plan_.ep, "ep");
            add("--expert-tensor-parallel-size", plan_.etp, "etp");
        }
        if (plan_.sequence_parallel) {
            add_switch("--sequence-parallel", "sequence_parallel");
        } else if (plan_.tp > 1 && workload_.num_experts > 0) {
            refuse("sequence_parallel", "false with tp " + std::to_string(plan_.tp) + " and experts", "true");
        }
        if (plan_.schedule == models::ScheduleKind::kGpipe) {
            refuse("schedule", "\"gpipe\"", "\"1f1b\" or \"interleaved-1f1b\"");
        }
        write_stages();
        write_order();
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
            add("--pipeline-model-parallel-layout",
                stages_text(plan_.stage_layers.empty() ? layers_dealt(workload_, models::StageDeal::kEven, stages)
                                                       : plan_.stage_layers),
                "stages");
            return;
        }
        if (plan_.virtual_stages > 1) {
            add("--num-virtual-stages-per-pipeline-rank", plan_.virtual_stages, "virtual_stages");
        }
        if (with_embedding) {
            add_switch("--account-for-embedding-in-pipeline-split", "stages");
        }
        if (with_head) {
            add_switch("--account-for-loss-in-pipeline-split", "stages");
        }
    }

    /// "Et*3|t*4|t*3L": embedding, layers of each virtual stage in order, loss.
    static std::string stages_text(const std::vector<int>& layers) {
        std::string text = "E";
        for (std::size_t stage = 0; stage < layers.size(); ++stage) {
            text += stage == 0 ? "" : "|";
            text += layers[stage] > 0 ? "t*" + std::to_string(layers[stage]) : "";
        }
        return "\"" + text + "L\"";
    }

    /// tp, cp, ep, dp, pp from the fastest on, or with pp before dp.
    void write_order() {
        std::vector<Axis> order;  // of axes that have more than one rank
        std::string words;
        for (const Axis axis : plan_.rank_order) {
            const int ranks = axis == Axis::kDp   ? plan_.dp
                              : axis == Axis::kPp ? plan_.pp
                              : axis == Axis::kEp ? plan_.ep
                                                  : plan_.tp;
            constexpr std::array kNames{"dp", "pp", "ep", "tp"};
            words += (words.empty() ? "[" : ", ") + json_like(kNames[static_cast<std::size_t>(axis)]);
            if (ranks > 1) {
                order.push_back(axis);
            }
        }
        const auto is_in_order = [&order](std::array<Axis, 4> all) {
            auto next = all.begin();
            return std::ranges::all_of(order, [&](Axis axis) {
                next = std::find(next, all.end(), axis);
                return next != all.end();
            });
        };
        constexpr std::array kStagesFirst{Axis::kDp, Axis::kPp, Axis::kEp, Axis::kTp};
        const bool says_stages_first = plan_.rank_order == kStagesFirst && plan_.pp > 1;
        if (!says_stages_first && is_in_order({Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp})) {
            return;
        }
        if (!is_in_order(kStagesFirst)) {
            refuse("rank_order", words + "]", R"(["pp", "dp", "ep", "tp"] or ["dp", "pp", "ep", "tp"])");
        }
        add_switch("--use-tp-pp-dp-mapping", "rank_order");
    }

    void write_batch() {
        const int data_parallel = plan_.dp * plan_.ep * plan_.etp / (plan_.tp * plan_.cp);
        add("--micro-batch-size", plan_.micro_batch_size, "micro_batch_size");
        add("--global-batch-size", plan_.micro_batch_size * plan_.micro_batches * data_parallel, "micro_batches");
        if (plan_.precision != "bf16" && plan_.precision != "fp32") {
            refuse("precision", json_like(plan_.precision), "\"bf16\" or \"fp32\"");
        }
        if (plan_.precision == "bf16") {
            add_switch("--bf16", "precision");
            if (plan_.gradient_bytes == 2) {
                add_switch("--grad-reduce-in-bf16", "gradient_dtype");
            }
        }
    }
    static std::string json_like(const std::string& word) { return "\"" + word + "\""; }

    void write_recompute() {
        const bool norm = plan_.recompute_norm, attention = plan_.recompute_attention, expert = plan_.recompute_expert;
        if (norm && attention && expert) {
            add("--recompute-granularity", "full", "recompute");
            add("--recompute-method", "uniform", "recompute");
            add("--recompute-num-layers", 1, "recompute");
        } else if (attention) {
            refuse("recompute", "\"attention\" without others",
                   "all of norm, attention and expert, or none but norm and expert: core_attn is a part of attention "
                   "only");
        } else if (norm || expert) {
            std::string modules = norm ? "layernorm" : "";
            const auto add_module = [&modules](const char* module) {
                modules += (modules.empty() ? "" : " ") + std::string(module);
            };
            if (expert && workload_.num_experts > 0) {
                add_module("moe");
            }
            if (expert && (workload_.num_experts == 0 || workload_.first_dense_layers > 0)) {
                add_module("mlp");
            }
            add("--recompute-granularity", "selective", "recompute");
            add("--recompute-modules", modules, "recompute");
        }
    }

    void write_data_parallel() {
        switch (plan_.optimizer) {
            case models::OptimizerSharding::kReplicated: break;
            case models::OptimizerSharding::kSharded:
                if (plan_.ep > 1) {
                    refuse(
                        "optimizer", "\"sharded\" with ep " + std::to_string(plan_.ep),
                        "\"ep-aware\" (--set plan.optimizer=ep-aware), which is how its distributed optimizer shards "
                        "dense states and those of experts,");
                }
                add_switch("--use-distributed-optimizer", "optimizer");
                break;
            case models::OptimizerSharding::kEpAware: add_switch("--use-distributed-optimizer", "optimizer"); break;
            case models::OptimizerSharding::kFsdp:
                add_switch("--use-megatron-fsdp", "optimizer");
                add_switch("--use-distributed-optimizer", "optimizer");
                add("--ckpt-format", "fsdp_dtensor", "optimizer");
                add_switch("--no-gradient-accumulation-fusion", "optimizer");
                add("--data-parallel-sharding-strategy", "optim_grads_params", "optimizer");
                break;
        }
    }

    void write_experts() {
        add("--moe-token-dispatcher-type", plan_.dispatch == models::Dispatch::kAllToAll ? "alltoall" : "allgather",
            "dispatch");
        if (plan_.expert_kernels != models::ExpertKernels::kLoop) {
            add_switch("--moe-grouped-gemm", "expert_kernels");
        }
        if (plan_.expert_kernels == models::ExpertKernels::kFused) {
            add_switch("--moe-permute-fusion", "expert_kernels");
        }
        switch (plan_.routing.kind) {
            case models::RoutingDistribution::kUniform:
                add_switch("--moe-router-force-load-balancing", "routing");
                break;
            case models::RoutingDistribution::kLearned: break;
            default: refuse("routing", "zipf, dirichlet or a trace", "\"uniform\" or \"learned\"");
        }
    }

    void write_overlap() {
        if (plan_.overlap_dp) {
            add_switch("--overlap-grad-reduce", "overlap");
            if (plan_.optimizer != models::OptimizerSharding::kReplicated) {
                add_switch("--overlap-param-gather", "overlap");
            }
        }
        if (plan_.overlap_tp) {
            add_switch("--tp-comm-overlap", "overlap");
        }
        if (plan_.overlap_ep) {
            add_switch("--overlap-moe-expert-parallel-comm", "overlap");
        }
        const bool is_interleaved = plan_.schedule == models::ScheduleKind::kInterleaved1f1b;
        if (plan_.overlap_ep &&
            (plan_.ep == 1 || plan_.dispatch != models::Dispatch::kAllToAll || plan_.recompute_expert ||
             plan_.precision != "bf16" || (plan_.pp > 1 && !is_interleaved))) {
            refuse("overlap", "\"ep\"",
                   "no such word, or ep above 1, alltoall, bf16, experts that are not recomputed and, with pp above 1, "
                   "interleaved-1f1b,");
        }
        if (plan_.overlap_pp && !is_interleaved) {
            refuse("overlap", "\"pp\" with 1f1b", "no such word, or \"interleaved-1f1b\",");
        }
        if (!plan_.overlap_pp && is_interleaved) {
            add_switch("--no-overlap-p2p-communication", "overlap");
        }
    }

    const models::Workload& workload_;
    const models::Plan& plan_;
    Settings settings_;
};

}  // namespace

Settings megatron_plan(const models::Workload& workload, const models::Plan& plan) {
    return Writer(workload, plan).run();
}

}  // namespace auspex::interop
