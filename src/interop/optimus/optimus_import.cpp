/// @file Variables of Optimus-LM as a plan.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "interop/launch_script.hpp"
#include "interop/model_check.hpp"
#include "interop/optimus/optimus.hpp"

namespace auspex::interop {
namespace {

using models::OptimizerSharding;

/// Read, or without a cost: a file's others are those of its shell, of libraries and of where data lie.
constexpr std::string_view kOfOptimus[]{
    "MODEL_CHOICE", "NUM_NODES",        "GPUS_PER_NODE",  "PP",           "EP",       "TP", "VPP", "PP_SCHEME",
    "BATCH_SIZE",   "MICRO_BATCH_SIZE", "GRAD_ACC_STEPS", "CONTEXT_SIZE", "SAC_LEVEL"};
/// Of variables that are its own, whether known or not.
constexpr std::string_view kPrefixes[]{"USE_", "ENABLE_", "FORCE_", "OPT_", "REUSE_",
                                       "PP_",  "EP_",     "TP_",    "SAC_", "VPP_"};

bool is_of_optimus(const std::string& name) {
    return std::ranges::find(kOfOptimus, name) != std::end(kOfOptimus) ||
           std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Do not change what a step costs, or less than is modelled: gate and up projection in one product or two, buffers
/// that are used again.
bool is_passed_over(const std::string& name) {
    constexpr std::array<std::string_view, 5> kNames{"MODEL_CHOICE", "CONTEXT_SIZE", "USE_LOCAL_ROUTER_AUX_LOSS",
                                                     "USE_MERGED_MLP_IN_FAST_MOE", "REUSE_BUFFERS_IN_1F1B"};
    return std::ranges::find(kNames, name) != kNames.end();
}

class OptimusReader {
 public:
    OptimusReader(const std::map<std::string, std::string>& variables, const PlanText& from)
        : from_(from), in_(variables, from.name) {}

    ImportedPlan run() {
        plan_.file = from_.name;
        const int data_parallel = read_grid();
        read_pipeline();
        read_batch(data_parallel);
        read_recompute();
        read_optimizer();
        read_experts();
        if (from_.workload != nullptr) {
            check_model(*from_.workload);
        }
        in_.refuse_unread(is_passed_over);
        return {plan_, std::move(notes_)};
    }

 private:
    int required(const char* name) {
        if (!in_.has(name)) {
            in_.refuse(name, "no such variable", "it, as run_experiment.sh reads it");
        }
        return in_.number(name, 1);
    }
    /// What a variable stands for that is not set: run_experiment.sh has a default of its own, which may be another.
    void note_default(const std::string& name, const std::string& taken) {
        notes_.push_back(name + " is not set: " + taken + " is taken");
    }
    bool choice(const char* name) {
        if (!in_.has(name)) {
            note_default(name, "0");
        }
        return in_.truth(name, false);
    }

    void check_model(const models::Workload& own) {
        ModelCheck check(in_, own);
        check.number("CONTEXT_SIZE", own.sequence_length, "sequence_length");
        if (in_.has("MODEL_CHOICE")) {
            check.word("MODEL_CHOICE", optimus_model(own), "layers, heads, sizes and experts");
        }
    }

    int read_grid() {
        plan_.pp = required("PP"), plan_.ep = required("EP"), plan_.tp = plan_.etp = required("TP");
        plan_.etp_given = true;
        const std::int64_t nodes = in_.number("NUM_NODES", 0), of_node = in_.number("GPUS_PER_NODE", 12);
        std::int64_t ranks = from_.ranks > 0 ? from_.ranks : nodes * of_node;
        if (ranks == 0) {
            in_.refuse("NUM_NODES", "no such variable, and no --tiles", "one of them");
        }
        if (nodes > 0 && ranks != nodes * of_node) {
            in_.refuse("NUM_NODES", std::to_string(nodes) + " nodes of " + std::to_string(of_node) + " beside --tiles",
                       "as many, " + std::to_string(ranks));
        }
        ranks = std::min(ranks, models::kMaxTiles + 1);
        if (ranks > models::kMaxTiles) {
            in_.refuse("NUM_NODES", std::to_string(nodes), "at most " + std::to_string(models::kMaxTiles) + " tiles");
        }
        plan_.sequence_parallel = in_.truth("USE_SP_IN_TP", false);
        return deal_ranks(plan_, static_cast<int>(ranks), in_);
    }

    void read_pipeline() {
        plan_.virtual_stages = in_.number("VPP", 1);
        if (plan_.pp > 1 && !in_.has("PP_SCHEME")) {
            note_default("PP_SCHEME", "gpipe, run_experiment.sh's own,");
        }
        const std::string scheme = in_.one_of("PP_SCHEME", {"gpipe", "1f1b"});
        if (scheme == "gpipe" && plan_.virtual_stages > 1) {
            in_.refuse("PP_SCHEME", "gpipe with VPP " + std::to_string(plan_.virtual_stages), "1f1b");
        }
        plan_.schedule = scheme == "gpipe"          ? models::ScheduleKind::kGpipe
                         : plan_.virtual_stages > 1 ? models::ScheduleKind::kInterleaved1f1b
                                                    : models::ScheduleKind::k1f1b;
        if (in_.truth("USE_PP_FIRST", false)) {
            in_.refuse("USE_PP_FIRST", "1", "0: nothing public says in which order ranks lie with it");
        }
    }

    void read_batch(int data_parallel) {
        plan_.micro_batch_size = required("MICRO_BATCH_SIZE");
        const int batch = required("BATCH_SIZE");
        if (in_.number("GRAD_ACC_STEPS", 1) != 1) {
            in_.refuse("GRAD_ACC_STEPS", in_.word("GRAD_ACC_STEPS", ""),
                       "1: a step's micro-batches are those of BATCH_SIZE");
        }
        deal_sequences(plan_, std::int64_t{batch} * data_parallel, data_parallel, in_, "BATCH_SIZE");
        set_precision(plan_, true, !choice("OPT_USE_FP32_FOR_GRAD_ACC"));
    }

    void read_recompute() {
        if (!in_.truth("ENABLE_SAC", false)) {
            static_cast<void>(in_.has("SAC_LEVEL"));  // which then means nothing
            return;
        }
        const int level = required("SAC_LEVEL");
        if (level != 1 && level != 7) {
            in_.refuse("SAC_LEVEL", std::to_string(level),
                       "1 (experts) or 7 (norms, attention and experts): of others nothing public says what they are");
        }
        set_recompute_all(plan_, level == 7);
        plan_.recompute.expert = level == 1;
    }

    void read_optimizer() {
        constexpr std::array<std::pair<const char*, OptimizerSharding>, 3> kKnown{
            {{"USE_OM_OPTIMIZER", OptimizerSharding::kReplicated},
             {"USE_OM_SHARDED_OPTIMIZER", OptimizerSharding::kSharded},
             {"USE_OM_PGSHARDED_OPTIMIZER", OptimizerSharding::kEpAware}}};
        int chosen = 0;
        for (const auto& [name, sharding] : kKnown) {
            if (in_.truth(name, false)) {
                plan_.optimizer = sharding;
                ++chosen;
            }
        }
        for (const char* name : {"USE_PT_OPTIMIZER", "USE_OM_SUBSHARDED_OPTIMIZER", "USE_OM_PGSUBSHARDED_OPTIMIZER"}) {
            if (in_.truth(name, false)) {
                in_.refuse(name, "1",
                           "one of USE_OM_OPTIMIZER, USE_OM_SHARDED_OPTIMIZER, USE_OM_PGSHARDED_OPTIMIZER: "
                           "no other is modelled");
            }
        }
        if (chosen != 1) {
            in_.refuse("USE_OM_PGSHARDED_OPTIMIZER", std::to_string(chosen) + " optimizers that are 1",
                       "exactly one of USE_OM_OPTIMIZER, USE_OM_SHARDED_OPTIMIZER, USE_OM_PGSHARDED_OPTIMIZER");
        }
    }

    void read_experts() {
        plan_.dispatch = models::Dispatch::kAllGatherReduceScatter;
        const bool has_experts = in_.word("MODEL_CHOICE", "OLMoE").find("OLMo-") == std::string::npos;
        const bool is_fast = has_experts ? choice("USE_FAST_MOE") : in_.truth("USE_FAST_MOE", false);
        const bool products = in_.truth("USE_TRITON_PATH_FOR_GEMM_IN_FAST_MOE", false);
        const bool others = in_.truth("USE_TRITON_PATH_FOR_NONGEMM_IN_FAST_MOE", false);
        plan_.expert_kernels = !is_fast              ? models::ExpertKernels::kLoop
                               : products && !others ? models::ExpertKernels::kGrouped
                                                     : models::ExpertKernels::kFused;
        if (is_fast && !products) {
            notes_.emplace_back(
                "USE_TRITON_PATH_FOR_GEMM_IN_FAST_MOE is not 1: the code then multiplies expert by expert, which "
                "expert_kernels cannot say; \"fused\" is taken, as for the runs of arXiv:2604.00785");
        }
        const bool is_forced = in_.truth("FORCE_UNIFORM_ROUTING", false);
        plan_.routing.kind = is_forced ? models::RoutingDistribution::kUniform : models::RoutingDistribution::kLearned;
    }

    const PlanText& from_;
    ArgumentReader in_;
    models::Plan plan_;
    std::vector<std::string> notes_;
};

}  // namespace

ImportedPlan plan_of_optimus(const PlanText& from) {
    std::map<std::string, std::string> variables;
    ShellValues values = script_values(from.text, from.name);
    for (const std::string& name : values.names()) {
        if (!is_of_optimus(name)) {
            continue;
        }
        const auto value = values.value(name);
        if (!value) {
            throw InputError(from.name + ": " + name,
                             "found several values, or one made of variables; expected one that is written out");
        }
        variables.emplace(name, *value);
    }
    if (variables.empty()) {
        throw InputError(from.name,
                         "found none of its variables; expected those of Optimus-LM's run_experiment.sh, "
                         "such as PP=8");
    }
    ImportedPlan imported = OptimusReader(variables, from).run();
    imported.add_notes(values.notes());
    return imported;
}

}  // namespace auspex::interop
