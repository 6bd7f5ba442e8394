/// @file Arguments of Megatron-LM as a plan.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "interop/launch_script.hpp"
#include "interop/megatron/megatron.hpp"
#include "interop/megatron/megatron_names.hpp"
#include "interop/megatron/stage_pattern.hpp"
#include "models/pipeline/stage_layers.hpp"
#include "models/recompute/megatron_modules.hpp"

namespace auspex::interop {
namespace {

constexpr double kDropout = 0.1;  ///< where no argument says another

/// Of those that are read.
constexpr std::array kSwitches{"--sequence-parallel",
                               "--use-tp-pp-dp-mapping",
                               "--account-for-embedding-in-pipeline-split",
                               "--account-for-loss-in-pipeline-split",
                               "--bf16",
                               "--grad-reduce-in-bf16",
                               "--use-distributed-optimizer",
                               "--use-megatron-fsdp",
                               "--moe-grouped-gemm",
                               "--moe-permute-fusion",
                               "--moe-router-force-load-balancing",
                               "--overlap-grad-reduce",
                               "--overlap-param-gather",
                               "--tp-comm-overlap",
                               "--overlap-moe-expert-parallel-comm",
                               "--no-overlap-p2p-communication"};

class MegatronReader {
 public:
    MegatronReader(const std::map<std::string, std::string>& arguments, const PlanText& from, int ranks)
        : arguments_(arguments), name_(from.name), workload_(from.workload), ranks_(ranks), in_(arguments, name_) {}

    ImportedPlan run() {
        plan_.file = name_;
        read_grid();
        read_batch();
        read_recompute();
        read_offload();
        read_data_parallel();
        read_experts();
        read_overlap();
        check_words();
        if (workload_ != nullptr) {
            check_megatron_model(in_, *workload_, plan_.tp);
        }
        std::vector<std::string> notes;
        note_dropout(in_, kDropout, notes);
        refuse_the_rest();
        return {plan_, std::move(notes)};
    }

 private:
    void read_context() {
        const std::string type = in_.one_of("--cp-comm-type", {"p2p", "a2a", "allgather", "a2a+p2p"});
        const std::string sizes = in_.word("--hierarchical-context-parallel-sizes", "");
        if (plan_.cp == 1) {
            return;
        }
        plan_.context = type == "p2p"         ? models::ContextParallel::kRing
                        : type == "a2a"       ? models::ContextParallel::kAllToAll
                        : type == "allgather" ? models::ContextParallel::kAllGather
                                              : models::ContextParallel::kTwoLevel;
        if (plan_.context == models::ContextParallel::kTwoLevel) {
            int inner = 0, outer = 0;
            std::string rest;
            std::istringstream(sizes) >> inner >> outer >> rest;
            if (!rest.empty() || inner < 2 || outer < 2 || std::int64_t{inner} * outer != plan_.cp) {
                in_.refuse(
                    "--hierarchical-context-parallel-sizes", sizes.empty() ? "no such argument" : sizes,
                    "two sizes of 2 or more whose product is --context-parallel-size, " + std::to_string(plan_.cp));
            }
            plan_.context_all_to_all = inner;
        }
    }

    void read_fp8() {
        if (in_.has("--fp4-format")) {
            in_.one_of("--fp4-format", {"e2m1"});
            in_.one_of("--fp4-recipe", {"nvfp4"});
            plan_.fp8 = models::Fp8::kNvfp4;
            plan_.fp8_weights_only = in_.has("--fp4-param-gather");
            return;
        }
        if (!in_.has("--fp8-format")) {
            return;
        }
        in_.one_of("--fp8-format", {"hybrid", "e4m3"});
        if (!in_.has("--fp8-recipe")) {
            in_.refuse("--fp8-recipe", "no such argument (delayed)", "tensorwise or blockwise");
        }
        plan_.fp8 = in_.one_of("--fp8-recipe", {"tensorwise", "blockwise"}) == "tensorwise" ? models::Fp8::kTensorwise
                                                                                            : models::Fp8::kBlockwise;
        plan_.fp8_weights_only = in_.has("--fp8-param-gather");
    }

    void read_grid() {
        plan_.tp = in_.number("--tensor-model-parallel-size", 1);
        plan_.pp = in_.number("--pipeline-model-parallel-size", 1);
        plan_.cp = in_.number("--context-parallel-size", 1);
        read_context();
        plan_.ep = in_.number("--expert-model-parallel-size", 1);
        plan_.etp = in_.number("--expert-tensor-parallel-size", plan_.tp);
        plan_.etp_given = true;
        data_parallel_ = deal_ranks(plan_, ranks_, in_);
        plan_.sequence_parallel = in_.has("--sequence-parallel");
        read_stages();
        if (!in_.has("--use-tp-pp-dp-mapping") && plan_.pp > 1) {
            plan_.rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
        }
    }

    void read_stages() {
        const char* const by_layers = "--num-layers-per-virtual-pipeline-stage";
        plan_.virtual_stages = in_.number("--num-virtual-stages-per-pipeline-rank", 1);
        if (in_.has(by_layers)) {
            const int layers = in_.number("--num-layers", 1), each = in_.number(by_layers, 1);
            if (plan_.virtual_stages > 1 || layers % (plan_.pp * std::int64_t{each}) != 0) {
                in_.refuse(by_layers, std::to_string(each),
                           "no --num-virtual-stages-per-pipeline-rank beside it, and a divisor of --num-layers (" +
                               std::to_string(layers) + ") over the pipeline's " + std::to_string(plan_.pp));
            }
            plan_.virtual_stages = layers / (plan_.pp * each);
        }
        const bool embedding = in_.has("--account-for-embedding-in-pipeline-split"),
                   loss = in_.has("--account-for-loss-in-pipeline-split");
        if (in_.has("--pipeline-model-parallel-layout")) {
            read_layout();
        } else if (embedding || loss) {
            plan_.stages = embedding && loss ? models::StageDeal::kWithBoth
                           : embedding       ? models::StageDeal::kWithEmbedding
                                             : models::StageDeal::kWithHead;
        }
        plan_.schedule =
            plan_.virtual_stages > 1 ? models::ScheduleKind::kInterleaved1f1b : models::ScheduleKind::k1f1b;
    }

    void read_layout() {
        const std::string argument = "--pipeline-model-parallel-layout";
        const StagePattern pattern = layers_of_pattern(arguments_.at(argument), name_ + ": " + argument);
        const std::vector<int>& layers = pattern.layers;
        if (const int wanted = in_.has("--mtp-num-layers") ? in_.number("--mtp-num-layers", 1) : 0;
            pattern.predictions != wanted) {
            in_.refuse(argument, std::to_string(pattern.predictions) + " times m",
                       std::to_string(wanted) + ", as --mtp-num-layers has it");
        }
        const int stages = static_cast<int>(layers.size());
        if (plan_.virtual_stages > 1) {
            in_.refuse(argument, "it beside another argument that deals layers", "one of them");
        }
        if (stages % plan_.pp != 0) {
            in_.refuse(argument, std::to_string(stages) + " stages",
                       "a multiple of the pipeline's " + std::to_string(plan_.pp));
        }
        plan_.virtual_stages = stages / plan_.pp;
        models::Workload dealt;
        dealt.layers = std::accumulate(layers.begin(), layers.end(), 0);
        if (stages > dealt.layers || layers != layers_dealt(dealt, models::StageDeal::kEven, stages)) {
            plan_.stages = models::StageDeal::kList;
            plan_.stage_layers = layers;
        }
    }

    void read_batch() {
        plan_.micro_batch_size = in_.number("--micro-batch-size", 1);
        const std::int64_t all = std::int64_t{plan_.micro_batch_size} * data_parallel_;
        const bool is_given = in_.has("--global-batch-size");
        deal_sequences(plan_, is_given ? in_.number("--global-batch-size", 1) : all, data_parallel_, in_,
                       "--global-batch-size");
        set_precision(plan_, in_.has("--bf16"), in_.has("--grad-reduce-in-bf16"));
        read_fp8();
    }

    void read_recompute() {
        const std::string granularity = in_.word("--recompute-granularity", "");
        const std::string method = in_.word("--recompute-method", "uniform");
        const int layers = in_.number("--recompute-num-layers", 1);
        const std::string modules = in_.word("--recompute-modules", "core_attn");
        if (granularity == "full") {
            if (method != "block" && (method != "uniform" || layers != 1)) {
                in_.refuse("--recompute-method", "\"" + method + "\", " + std::to_string(layers) + " layers at a time",
                           "\"uniform\" with --recompute-num-layers 1, every layer by itself, or \"block\"");
            }
            set_recompute_all(plan_, true);
            plan_.recompute_layers = method == "block" ? layers : 0;
        } else if (granularity == "selective") {
            read_modules(modules);
        } else if (!granularity.empty()) {
            in_.refuse("--recompute-granularity", "\"" + granularity + "\"", "full or selective");
        }
    }

    void read_modules(const std::string& modules) {
        std::istringstream words(modules);
        for (std::string module; words >> module;) {
            const auto* const found =
                std::ranges::find(models::kRecomputeModules, module, &models::RecomputeModule::name);
            if (found == models::kRecomputeModules.end()) {
                in_.refuse("--recompute-modules", "\"" + module + "\"",
                           "layernorm, core_attn, mla_up_proj, moe_act, shared_experts, moe or mlp: other parts of a "
                           "layer are not recomputed by themselves here");
            }
            plan_.recompute.*found->part = true;
        }
        if (in_.has("--num-experts") && modules.find("moe") == std::string::npos && plan_.recompute.expert) {
            in_.refuse("--recompute-modules", "\"" + modules + "\" with experts",
                       "moe with it: dense layers alone are not recomputed by themselves here");
        }
        if (plan_.recompute.expert) {  // their parts are among it
            plan_.recompute.activation = plan_.recompute.shared_experts = false;
        }
    }

    void read_offload() {
        const char* const argument = "--cpu-offloading-num-layers";
        plan_.offload_layers = in_.has(argument) ? in_.number(argument, 1) : 0;
        if (plan_.offload_layers > 0 && (plan_.pp > 1 || plan_.recompute != models::Recompute{})) {
            in_.refuse(argument, std::to_string(plan_.offload_layers),
                       "no such argument with --pipeline-model-parallel-size above 1 or --recompute-granularity: "
                       "Megatron-LM refuses them together");
        }
    }

    void read_data_parallel() {
        using models::OptimizerSharding;
        const std::string strategy = in_.word("--data-parallel-sharding-strategy", "no_shard");
        const bool is_sharded = in_.has("--use-distributed-optimizer"), is_fsdp = in_.has("--use-megatron-fsdp");
        if (is_fsdp) {
            static_cast<void>(in_.has("--no-gradient-accumulation-fusion"));  // it asks for it
        }
        if (is_fsdp && strategy != "optim_grads_params" && strategy != "optim_grads") {
            in_.refuse("--data-parallel-sharding-strategy", "\"" + strategy + "\"",
                       "optim_grads or optim_grads_params with --use-megatron-fsdp");
        }
        plan_.shard_replicas = in_.number("--num-distributed-optimizer-instances", 1);
        if (plan_.shard_replicas > 1 && !is_fsdp && !is_sharded) {
            in_.refuse("--num-distributed-optimizer-instances", std::to_string(plan_.shard_replicas),
                       "1 without --use-distributed-optimizer");
        }
        // One way to shard when no expert is split over ranks; groups are those of the second name.
        const bool in_groups = plan_.ep > 1 || plan_.shard_replicas > 1;
        plan_.optimizer = is_fsdp ? strategy == "optim_grads" ? OptimizerSharding::kZero2 : OptimizerSharding::kFsdp
                          : !is_sharded ? OptimizerSharding::kReplicated
                          : in_groups   ? OptimizerSharding::kEpAware
                                        : OptimizerSharding::kSharded;
    }

    void read_experts() {
        const std::string dispatcher = in_.one_of("--moe-token-dispatcher-type", {"allgather", "alltoall", "flex"});
        plan_.dispatch = dispatcher == "alltoall" ? models::Dispatch::kAllToAll
                         : dispatcher == "flex"   ? models::Dispatch::kHierarchical
                                                  : models::Dispatch::kAllGatherReduceScatter;
        if (plan_.dispatch == models::Dispatch::kHierarchical) {
            in_.one_of("--moe-flex-dispatcher-backend", {"deepep", "hybridep"});
        }
        const bool is_grouped = in_.has("--moe-grouped-gemm"), is_fused = in_.has("--moe-permute-fusion");
        plan_.expert_kernels = !is_grouped ? models::ExpertKernels::kLoop
                               : is_fused  ? models::ExpertKernels::kFused
                                           : models::ExpertKernels::kGrouped;
        plan_.routing.kind = in_.has("--moe-router-force-load-balancing") ? models::RoutingDistribution::kUniform
                                                                          : models::RoutingDistribution::kLearned;
    }

    void read_overlap() {
        const bool gathers = in_.has("--overlap-param-gather"), reduces = in_.has("--overlap-grad-reduce");
        plan_.overlap_dp = reduces;
        plan_.overlap_tp = in_.has("--tp-comm-overlap");
        plan_.overlap_ep = in_.has("--overlap-moe-expert-parallel-comm");
        plan_.overlap_pp = !in_.has("--no-overlap-p2p-communication") && plan_.virtual_stages > 1;
        if (gathers != reduces && in_.has("--use-distributed-optimizer")) {
            in_.refuse(gathers ? "--overlap-param-gather" : "--overlap-grad-reduce", "it alone",
                       "both --overlap-grad-reduce and --overlap-param-gather, or none: an overlap of one of them is "
                       "not modelled");
        }
    }

    /// Words that change kernels or states.
    void check_words() {
        in_.one_of("--optimizer", {"adam"});
        in_.one_of("--attention-backend", {"auto", "flash", "fused"});
        in_.one_of("--transformer-impl", {"transformer_engine"});
        for (const char* argument : kSwitches) {
            static_cast<void>(in_.is_switched_on(argument));
        }
    }

    void refuse_the_rest() const {
        for (const auto& [argument, value] : arguments_) {
            if (is_of_earlier_release(argument)) {
                in_.refuse(argument, "an argument of earlier releases", "those of Megatron-LM of August 2026");
            }
        }
        in_.refuse_unread([](const std::string& argument) { return changes_no_cost(argument); });
    }

    const std::map<std::string, std::string>& arguments_;
    const std::string& name_;
    const models::Workload* workload_;  ///< null: not known
    int ranks_;
    ArgumentReader in_;
    models::Plan plan_;
    int data_parallel_ = 1;
};

}  // namespace

ImportedPlan plan_of_megatron(const PlanText& from) {
    const LaunchScript script = read_launch_script(from.text, from.name);
    if (script.arguments.empty()) {
        throw InputError(from.name, "found no arguments; expected those of Megatron-LM, as in a launch script");
    }
    ImportedPlan imported = MegatronReader(script.arguments, from, ranks_of_script(script, from)).run();
    imported.add_notes(script.notes);
    return imported;
}

}  // namespace auspex::interop
