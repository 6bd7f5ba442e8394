/// @file A plan as variables of Optimus-LM.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "interop/optimus/optimus.hpp"
#include "interop/settings_writer.hpp"

namespace auspex::interop {
namespace {

/// Tiles of a node where no machine is given: run_experiment.sh's own default, that of Aurora.
constexpr int kTilesOfNode = 12;

class Writer {
 public:
    explicit Writer(const EmitRequest& request)
        : request_(request), workload_(request.workload), plan_(request.plan), out_(request.plan, "Optimus-LM") {}

    Settings run() {
        write_model();
        write_grid();
        write_batch();
        write_recompute();
        if (workload_.num_experts > 0) {
            write_experts();
        }
        write_optimizer();
        out_.require_no_overlap("it waits for every message");
        if (request_.steps > 0) {
            out_.add_from("EXIT_STEPS", std::to_string(request_.steps), "--steps");
        }
        return out_.take();
    }

 private:
    void add_choice(const char* name, bool is_on, const char* field) { out_.add(name, is_on ? 1 : 0, field); }

    void write_model() {
        out_.add_from("MODEL_CHOICE", optimus_model(workload_), "workload: layers, heads, sizes, experts");
        out_.add_from("CONTEXT_SIZE", std::to_string(workload_.sequence_length), "workload.sequence_length");
        if (workload_.num_experts > 0) {
            out_.add_from("USE_LOCAL_ROUTER_AUX_LOSS", workload_.global_aux_loss ? "0" : "1",
                          "workload.global_aux_loss");
        }
    }

    void write_grid() {
        out_.require(plan_.cp == 1, "cp", std::to_string(plan_.cp), "1");
        out_.require(plan_.etp == plan_.tp, "etp", std::to_string(plan_.etp), "tp, " + std::to_string(plan_.tp) + ",");
        const int tiles = tiles_of(plan_);
        const int of_node = std::min(tiles, request_.tiles_of_node > 0 ? request_.tiles_of_node : kTilesOfNode);
        out_.require(tiles % of_node == 0, "dp",
                     std::to_string(plan_.dp) + ", which makes " + std::to_string(tiles) + " tiles",
                     "one that fills nodes of " + std::to_string(of_node) + " tiles");
        out_.add("NUM_NODES", tiles / of_node, "dp x pp x ep x tp");
        out_.add_from("GPUS_PER_NODE", std::to_string(of_node), "machine.node.tiles");
        out_.add("PP", plan_.pp, "pp");
        out_.add("EP", plan_.ep, "ep");
        out_.add("TP", plan_.tp, "tp");
        out_.add("VPP", plan_.virtual_stages, "virtual_stages");
        add_choice("USE_SP_IN_TP", plan_.sequence_parallel, "sequence_parallel");
        out_.require_order({models::Axis::kDp, models::Axis::kPp, models::Axis::kEp, models::Axis::kTp});
        out_.add("USE_PP_FIRST", 0, "rank_order");
        out_.require_validation();
        out_.require_plain_states();
        out_.require_kept_on_device();
        out_.require_plain_products_and_context();
        out_.require(!splits_backward(plan_.schedule), "schedule", std::string("\"") + to_string(plan_.schedule) + "\"",
                     "\"gpipe\", \"1f1b\" or \"interleaved-1f1b\"");
        out_.add("PP_SCHEME", plan_.schedule == models::ScheduleKind::kGpipe ? "gpipe" : "1f1b", "schedule");
        const int stages = plan_.pp * plan_.virtual_stages;
        out_.require(plan_.stages == models::StageDeal::kEven && workload_.layers % stages == 0, "stages",
                     plan_.stages == models::StageDeal::kEven
                         ? std::to_string(workload_.layers) + " layers on " + std::to_string(stages) + " stages"
                         : "layers dealt otherwise than evenly",
                     "as many layers on every stage");
    }

    void write_batch() {
        out_.add("MICRO_BATCH_SIZE", plan_.micro_batch_size, "micro_batch_size");
        out_.add("BATCH_SIZE", std::int64_t{plan_.micro_batch_size} * plan_.micro_batches,
                 "micro_batch_size x micro_batches");
        out_.add("GRAD_ACC_STEPS", 1, "micro_batches");
        out_.require(plan_.precision == "bf16", "precision", "\"" + plan_.precision + "\"", "\"bf16\"");
        add_choice("OPT_USE_FP32_FOR_GRAD_ACC", plan_.gradient_bytes > 2, "gradient_dtype");
    }

    void write_recompute() {
        const models::Recompute all = recompute_of(plan_, 0);
        const bool is_expert = all == models::Recompute{.expert = true} && plan_.recompute_layers == 0;
        const bool is_whole = !is_expert && out_.recomputes_layers();
        add_choice("ENABLE_SAC", is_expert || is_whole, "recompute");
        if (is_expert || is_whole) {
            out_.add("SAC_LEVEL", is_whole ? 7 : 1, "recompute");
        }
    }

    void write_experts() {
        out_.require(plan_.ep == 1 || plan_.dispatch == models::Dispatch::kAllGatherReduceScatter, "dispatch",
                     "\"alltoall\"", "\"allgather-reducescatter\"");
        const bool is_fast = plan_.expert_kernels != models::ExpertKernels::kLoop;
        add_choice("USE_FAST_MOE", is_fast, "expert_kernels");
        add_choice("USE_TRITON_PATH_FOR_GEMM_IN_FAST_MOE", is_fast, "expert_kernels");
        add_choice("USE_TRITON_PATH_FOR_NONGEMM_IN_FAST_MOE", plan_.expert_kernels == models::ExpertKernels::kFused,
                   "expert_kernels");
        const bool is_uniform = plan_.routing.kind == models::RoutingDistribution::kUniform;
        out_.require(is_uniform || plan_.routing.kind == models::RoutingDistribution::kLearned, "routing",
                     "zipf, dirichlet or a trace", "\"uniform\" or \"learned\"");
        add_choice("FORCE_UNIFORM_ROUTING", is_uniform, "routing");
    }

    void write_optimizer() {
        using models::OptimizerSharding;
        out_.require(!shards_gradients(plan_.optimizer), "optimizer",
                     std::string("\"") + to_string(plan_.optimizer) + "\"",
                     "\"replicated\", \"sharded\" or \"ep-aware\"");
        out_.require_one_shard_group();
        add_choice("USE_PT_OPTIMIZER", false, "optimizer");
        add_choice("USE_OM_OPTIMIZER", plan_.optimizer == OptimizerSharding::kReplicated, "optimizer");
        add_choice("USE_OM_SHARDED_OPTIMIZER", plan_.optimizer == OptimizerSharding::kSharded, "optimizer");
        add_choice("USE_OM_SUBSHARDED_OPTIMIZER", false, "optimizer");
        add_choice("USE_OM_PGSHARDED_OPTIMIZER", plan_.optimizer == OptimizerSharding::kEpAware, "optimizer");
        add_choice("USE_OM_PGSUBSHARDED_OPTIMIZER", false, "optimizer");
    }

    const EmitRequest& request_;
    const models::Workload& workload_;
    const models::Plan& plan_;
    SettingsWriter out_;
};

}  // namespace

Emission optimus_emission(const EmitRequest& request) {
    Emission emission;
    emission.form = SettingsForm::kVariables;
    emission.settings = Writer(request).run();
    const bool is_forced =
        request.workload.num_experts > 0 && request.plan.routing.kind == models::RoutingDistribution::kUniform;
    emission.forced_routing = is_forced ? "FORCE_UNIFORM_ROUTING" : "";
    emission.program = "bash run_experiment.sh";
    emission.starts_ranks = true;
    emission.notes = {"Optimus-LM's own: data, learning rate, CHECKPOINT_STEPS, DP_STAGGERED_CHECKPOINTING.",
                      "Run it where run_experiment.sh lies; it starts the ranks of all nodes."};
    return emission;
}

}  // namespace auspex::interop
