/// @file A plan as fields of torchtitan's configuration.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "interop/settings_writer.hpp"
#include "interop/torchtitan/python_text.hpp"
#include "interop/torchtitan/torch_schedules.hpp"
#include "interop/torchtitan/torchtitan.hpp"

namespace auspex::interop {
namespace {

using models::StageDeal;

/// Embedding and head, counted as so many layers.
using Weights = std::pair<int, int>;

std::optional<Weights> weights_of(const models::Workload& workload, const models::Plan& plan) {
    const int stages = plan.pp * plan.virtual_stages;
    const std::vector<int> wanted =
        plan.stage_layers.empty() ? layers_dealt(workload, StageDeal::kEven, stages) : plan.stage_layers;
    constexpr int kMost = 100;  // layers that embedding or head may count as
    const int most = stages == 1 ? 0 : std::min(kMost, workload.layers / stages + 1);
    std::optional<Weights> best;
    for (int embedding = 0; embedding <= most; ++embedding) {
        for (int head = 0; head <= most; ++head) {
            const bool is_less = !best || embedding + head < best->first + best->second;
            if (is_less && torchtitan_layers(workload.layers, stages, embedding, head) == wanted) {
                best = {embedding, head};
            }
        }
    }
    return best;
}

class Writer {
 public:
    explicit Writer(const EmitRequest& request)
        : request_(request), workload_(request.workload), plan_(request.plan), out_(request.plan, "torchtitan") {}

    Settings run() {
        refuse_of_model(workload_.capacity_factor > 0, "capacity_factor", "0: it drops no tokens");
        refuse_of_model(workload_.mtp_layers > 0, "mtp_layers", "0: its trainer has one loss");
        write_grid();
        write_pipeline();
        write_batch();
        write_experts();
        // FSDP2 gathers the next unit beside the one that runs, whatever is set.
        out_.require_no_overlap("it has no setting for what overlaps, which the stack file says",
                                plan_.optimizer == models::OptimizerSharding::kFsdp);
        return out_.take();
    }

 private:
    void refuse_of_model(bool has, const std::string& field, const std::string& expected) const {
        if (has) {
            throw InputError(workload_.file + ": $." + field,
                             "found it above 0; expected " + expected + " with torchtitan");
        }
    }
    void add_word(const char* name, const std::string& word, const char* field) {
        out_.add(name, "\"" + word + "\"", field);
    }
    void add_truth(const char* name, bool holds, const char* field) { out_.add(name, holds ? "True" : "False", field); }

    void write_grid() {
        using models::OptimizerSharding;
        const bool has_experts = workload_.num_experts > 0, is_sharded = plan_.optimizer == OptimizerSharding::kFsdp;
        out_.require(is_sharded || plan_.optimizer == OptimizerSharding::kReplicated, "optimizer",
                     std::string("\"") + to_string(plan_.optimizer) + "\"", "\"fsdp\" or \"replicated\"");
        out_.require(!has_experts || plan_.etp == 1, "etp", std::to_string(plan_.etp), "1");
        const bool shards_all_the_same = plan_.cp > 1 || (has_experts && plan_.ep != plan_.tp);
        out_.require(is_sharded || !shards_all_the_same, "optimizer",
                     "\"replicated\" with cp " + std::to_string(plan_.cp) + ", tp " + std::to_string(plan_.tp) +
                         ", ep " + std::to_string(plan_.ep),
                     "\"fsdp\": weights are sharded over cp, and those of experts over what ep leaves of tp and cp,");
        const int data_parallel = data_parallel_of(plan_);
        const int replicas = is_sharded ? plan_.shard_replicas : data_parallel;
        out_.require(data_parallel % replicas == 0, "shard_replicas", std::to_string(replicas),
                     "a divisor of the " + std::to_string(data_parallel) + " data-parallel ranks, cp apart,");
        out_.require_one_way_to_shard();
        out_.require_one_gathered_ahead();
        out_.add("parallelism.data_parallel_replicate_degree", replicas,
                 is_sharded && replicas > 1 ? "shard_replicas" : "optimizer");
        out_.add("parallelism.data_parallel_shard_degree", data_parallel / replicas, "optimizer");
        add_word("parallelism.fsdp_reshard_after_forward",
                 !is_sharded                   ? "default"
                 : plan_.reshard_after_forward ? "always"
                                               : "never",
                 plan_.reshard_after_forward ? "optimizer" : "reshard_after_forward");
        out_.add("parallelism.tensor_parallel_degree", plan_.tp, "tp");
        add_truth("parallelism.enable_sequence_parallel", plan_.sequence_parallel, "sequence_parallel");
        out_.add("parallelism.context_parallel_degree", plan_.cp, "cp");
        out_.add("parallelism.expert_parallel_degree", plan_.ep, "ep");
        out_.require_order({models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp});
    }

    void write_pipeline() {
        const auto* const schedule = std::ranges::find(kTorchSchedules, plan_.schedule, &TorchSchedule::kind);
        out_.require_validation();
        out_.require_kept_on_device();
        out_.require_plain_products_and_context();
        if (schedule == kTorchSchedules.end()) {
            out_.refuse("schedule", std::string("\"") + to_string(plan_.schedule) + "\"",
                        "one of torch.distributed.pipelining, such as \"1f1b\", \"zbv\" or \"dualpipev\"");
            return;
        }
        const int stages = plan_.pp * plan_.virtual_stages;
        out_.add("parallelism.pipeline_parallel_degree", plan_.pp, "pp");
        add_word("parallelism.pipeline_parallel_schedule", std::string(schedule->name), "schedule");
        const std::optional<Weights> weights = weights_of(workload_, plan_);
        if (!weights) {
            out_.refuse("stages", "layers dealt so",
                        "a deal that counts embedding and head as some layers and is even otherwise");
            return;
        }
        out_.add("parallelism.pipeline_parallel_layers_per_stage", layers_per_stage(stages, *weights),
                 "virtual_stages");
        out_.add("parallelism.pipeline_parallel_first_stage_less_layers", weights->first, "stages");
        out_.add("parallelism.pipeline_parallel_last_stage_less_layers", weights->second, "stages");
        out_.add("parallelism.num_pp_microbatches", plan_.pp > 1 ? std::to_string(plan_.micro_batches) : "None",
                 "micro_batches");
    }

    /// torchtitan takes two stages a rank where they are interleaved, or divides layers by this, rounded up.
    [[nodiscard]] std::string layers_per_stage(int stages, const Weights& weights) {
        constexpr int kVirtualStages = 2;
        if (plan_.virtual_stages <= kVirtualStages) {
            return "None";
        }
        const int counted = workload_.layers + weights.first + weights.second;
        const int each = (counted + stages - 1) / stages;
        out_.require((counted + each - 1) / each == stages, "virtual_stages", std::to_string(plan_.virtual_stages),
                     "2, or as many as layers on every stage come to");
        return std::to_string(each);
    }

    void write_batch() {
        const std::int64_t micro = std::int64_t{plan_.micro_batch_size} * workload_.sequence_length;
        out_.add("training.num_tokens_per_microbatch_per_dp_rank", micro, "micro_batch_size");
        out_.add("training.num_tokens_per_train_step", micro * plan_.micro_batches * data_parallel_of(plan_),
                 "micro_batches");
        out_.add_from("training.max_context_length", std::to_string(workload_.sequence_length),
                      "workload.sequence_length");
        add_word("training.mixed_precision_param", plan_.precision == "bf16" ? "bfloat16" : "float32", "precision");
        out_.require(plan_.gradient_bytes == sizeof(float), "gradient_dtype", "\"bf16\"", "\"fp32\"");
        add_word("training.mixed_precision_reduce", "float32", "gradient_dtype");
        if (plan_.bf16_states) {
            add_word("training.dtype", "bfloat16", "optimizer_states");
        }
        if (request_.steps > 0) {
            out_.add_from("training.steps", std::to_string(request_.steps), "--steps");
        }
        add_word("activation_checkpoint.mode", out_.recomputes_layers() ? "full" : "none", "recompute");
    }

    void write_experts() {
        if (workload_.num_experts == 0) {
            return;
        }
        out_.require(plan_.ep == 1 || plan_.dispatch != models::Dispatch::kAllGatherReduceScatter, "dispatch",
                     "\"allgather-reducescatter\"", "\"alltoall\" or \"hierarchical-alltoall\"");
        add_word("parallelism.expert_parallel_comm_backend",
                 plan_.dispatch == models::Dispatch::kHierarchical ? "deepep" : "standard", "dispatch");
        out_.require(plan_.expert_kernels == models::ExpertKernels::kGrouped, "expert_kernels",
                     std::string("\"") + to_string(plan_.expert_kernels) + "\"", "\"grouped\"");
        const bool is_uniform = plan_.routing.kind == models::RoutingDistribution::kUniform;
        out_.require(is_uniform || plan_.routing.kind == models::RoutingDistribution::kLearned, "routing",
                     "zipf, dirichlet or a trace", "\"uniform\" or \"learned\"");
        add_truth("debug.moe_force_load_balance", is_uniform, "routing");
    }

    const EmitRequest& request_;
    const models::Workload& workload_;
    const models::Plan& plan_;
    SettingsWriter out_;
};

}  // namespace

Emission torchtitan_emission(const EmitRequest& request) {
    Emission emission;
    emission.form = SettingsForm::kFile;
    emission.settings = Writer(request).run();
    const std::string function = python_name(request.workload.name);
    emission.file =
        SettingsFile{"auspex_plan.py", python_configuration(function, emission.settings, request.made_by), {}};
    emission.program = "python -m torchtitan.train --module auspex_plan --config " + function;
    emission.setup = {"export PYTHONPATH=\"$PWD${PYTHONPATH:+:$PYTHONPATH}\"  # where auspex_plan.py lies",
                      "# The configuration of your model that the plan's fields are set in, as MODULE:FUNCTION.",
                      "export MODEL_CONFIG=\"${MODEL_CONFIG:?is not set}\""};
    return emission;
}

}  // namespace auspex::interop
