/// @file A plan as JSON and arguments.
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "interop/deepspeed/deepspeed.hpp"
#include "interop/settings_writer.hpp"
#include "interop/training_source.hpp"

namespace auspex::interop {
namespace {

constexpr const char* kFile = "ds_config.json";

class Writer {
 public:
    explicit Writer(const EmitRequest& request)
        : workload_(request.workload), plan_(request.plan), out_(request.plan, "DeepSpeed") {}

    Settings arguments() {
        write_grid();
        write_recompute();
        if (workload_.num_experts > 0) {
            write_experts();
        }
        check_states();
        out_.add("--micro-batch-size", plan_.micro_batch_size, "micro_batch_size");
        out_.add("--global-batch-size", batch(), "micro_batches");
        if (plan_.precision == "bf16") {
            out_.add_switch("--bf16", "precision");
        }
        out_.add("--zero-stage", stage(), "optimizer");
        out_.add_from("--deepspeed", "", "the file beside");
        out_.add_from("--deepspeed_config", kFile, "the file beside");
        return out_.take();
    }

    SettingsFile file() {
        std::ostringstream text;
        JsonWriter json(text);
        json.begin_object().member("train_batch_size", batch());
        json.member("train_micro_batch_size_per_gpu", plan_.micro_batch_size);
        json.member("gradient_accumulation_steps", plan_.micro_batches);
        json.key("zero_optimization").begin_object().member("stage", stage());
        json.member("overlap_comm", plan_.overlap_dp);
        if (plan_.reshard_ranks > 0) {
            json.member("zero_hpz_partition_size", plan_.reshard_ranks);
        }
        json.end_object();
        json.key("bf16").begin_object().member("enabled", plan_.precision == "bf16").end_object();
        const char* const gradients = plan_.gradient_bytes > 2 ? "fp32" : "bf16";
        json.key("data_types").begin_object().member("grad_accum_dtype", gradients).end_object();
        json.member("communication_data_type", gradients);
        json.member("gradient_clipping", workload_.training.clip).end_object();
        SettingsFile file{kFile,
                          JsonDocument::parse(text.str(), kFile).indented() + "\n",
                          {{"train_batch_size", "", "plan.micro_batch_size x plan.micro_batches x data-parallel ranks"},
                           {"train_micro_batch_size_per_gpu", "", "plan.micro_batch_size"},
                           {"gradient_accumulation_steps", "", "plan.micro_batches"},
                           {"zero_optimization.stage", "", "plan.optimizer"},
                           {"zero_optimization.overlap_comm", "", "plan.overlap"},
                           {"bf16", "", "plan.precision"},
                           {"data_types, communication_data_type", "", "plan.gradient_dtype"},
                           {"gradient_clipping", "", training_source(workload_.training, "clip")}}};
        if (plan_.reshard_ranks > 0) {
            file.comments.push_back({"zero_optimization.zero_hpz_partition_size", "", "plan.reshard_after_forward"});
        }
        return file;
    }

 private:
    [[nodiscard]] std::int64_t batch() const {
        return std::int64_t{plan_.micro_batch_size} * plan_.micro_batches * data_parallel_of(plan_);
    }
    [[nodiscard]] int stage() const {
        using models::OptimizerSharding;
        return plan_.optimizer == OptimizerSharding::kReplicated ? 0
               : plan_.optimizer == OptimizerSharding::kFsdp     ? 3
               : plan_.optimizer == OptimizerSharding::kZero2    ? 2
                                                                 : 1;
    }

    void write_grid() {
        out_.require(plan_.cp == 1, "cp", std::to_string(plan_.cp), "1");
        out_.add("--pipeline-model-parallel-size", plan_.pp, "pp");
        if (plan_.pp == 1) {
            out_.add_switch("--no-pipeline-parallel", "pp");
        }
        out_.add("--tensor-model-parallel-size", plan_.tp, "tp");
        if (plan_.sequence_parallel) {
            out_.add_switch("--sequence-parallel", "sequence_parallel");
        }
        out_.require_validation();
        out_.require_plain_states();
        out_.require_kept_on_device();
        out_.require_plain_products_and_context();
        out_.require(plan_.schedule == models::ScheduleKind::k1f1b, "schedule",
                     std::string("\"") + to_string(plan_.schedule) + "\"", "\"1f1b\"");
        const bool is_even = plan_.stages == models::StageDeal::kEven && workload_.layers % plan_.pp == 0;
        out_.require(is_even, "stages",
                     plan_.stages == models::StageDeal::kEven
                         ? std::to_string(workload_.layers) + " layers on " + std::to_string(plan_.pp) + " stages"
                         : "layers dealt otherwise than evenly",
                     "as many layers on every stage");
        out_.require_order({models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp});
    }

    void write_recompute() {
        if (out_.recomputes_layers()) {
            out_.add("--recompute-granularity", "full", "recompute");
            out_.add("--recompute-method", "uniform", "recompute");
            out_.add("--recompute-num-layers", 1, "recompute");
            out_.add_switch("--deepspeed-activation-checkpointing", "recompute");
        }
    }

    void write_experts() {
        using models::RoutingDistribution;
        out_.require(plan_.pp == 1, "pp", std::to_string(plan_.pp) + " with experts", "1");
        out_.require(plan_.etp == plan_.tp, "etp", std::to_string(plan_.etp), "tp, " + std::to_string(plan_.tp) + ",");
        out_.require(plan_.ep == 1 || plan_.dispatch == models::Dispatch::kAllToAll, "dispatch",
                     std::string("\"") + to_string(plan_.dispatch) + "\"", "\"alltoall\"");
        out_.require(plan_.expert_kernels == models::ExpertKernels::kLoop, "expert_kernels",
                     std::string("\"") + to_string(plan_.expert_kernels) + "\"", "\"loop\"");
        out_.require(plan_.routing.kind == RoutingDistribution::kLearned, "routing",
                     plan_.routing.kind == RoutingDistribution::kUniform ? "\"uniform\"" : "zipf, dirichlet or a trace",
                     "\"learned\" (--set plan.routing=learned): nothing forces its router,");
        out_.add("--moe-expert-parallel-size", plan_.ep, "ep");
        if (plan_.etp > 1) {
            out_.add_switch("--enable-expert-tensor-parallelism", "etp");
        }
        out_.add_switch("--create-moe-param-group", "optimizer");
    }

    void check_states() {
        using models::OptimizerSharding;
        out_.require(plan_.optimizer != OptimizerSharding::kSharded || plan_.ep == 1, "optimizer",
                     "\"sharded\" with ep " + std::to_string(plan_.ep),
                     "\"ep-aware\" (--set plan.optimizer=ep-aware), which is how ZeRO 1 shards dense states and those "
                     "of experts,");
        const bool is_fsdp = plan_.optimizer == OptimizerSharding::kFsdp;
        out_.require(!is_fsdp || (plan_.pp == 1 && workload_.num_experts == 0), "optimizer",
                     plan_.pp > 1 ? "\"fsdp\" with a pipeline" : "\"fsdp\" with experts",
                     "\"sharded\", \"ep-aware\" or \"replicated\"");
        out_.require(plan_.optimizer != OptimizerSharding::kZero2 || plan_.pp == 1, "optimizer",
                     "\"zero-2\" with a pipeline", "\"sharded\", \"ep-aware\" or \"replicated\"");
        out_.require_one_shard_group();
        out_.require(plan_.reshard_after_forward, "reshard_after_forward", "false", "true");
        out_.require_one_gathered_ahead();
        const bool others = plan_.overlap_tp || plan_.overlap_ep || plan_.overlap_pp;
        out_.require(!others, "overlap", "\"tp\", \"ep\" or \"pp\"", "no such word, or \"dp\",");
        out_.require(!plan_.overlap_dp || (plan_.pp == 1 && plan_.optimizer != OptimizerSharding::kReplicated),
                     "overlap", plan_.pp > 1 ? "\"dp\" with a pipeline" : "\"dp\" with \"replicated\"",
                     "no such word: gradients are then reduced behind the last pass,");
        out_.require(plan_.precision == "bf16" || plan_.gradient_bytes > 2, "gradient_dtype", "\"bf16\" with fp32",
                     "\"fp32\"");
    }

    const models::Workload& workload_;
    const models::Plan& plan_;
    SettingsWriter out_;
};

}  // namespace

Emission deepspeed_emission(const EmitRequest& request) {
    Emission emission;
    emission.form = SettingsForm::kArguments;
    Writer writer(request);
    emission.settings = deepspeed_model(request.workload);
    const Settings more = writer.arguments();
    emission.settings.insert(emission.settings.end(), more.begin(), more.end());
    emission.file = writer.file();
    if (request.steps > 0) {
        emission.settings.push_back({"--train-iters", std::to_string(request.steps), "--steps"});
    }
    emission.program = "python pretrain_gpt.py";
    emission.trial = {{"--lr", json_number(request.workload.training.learning_rate),
                       training_source(request.workload.training, "learning_rate")},
                      {"--tokenizer-type", "GPT2BPETokenizer", "made up: with --vocab-file and --merge-file"},
                      {"--data-path", "DATA", "made up: the prefix of a dataset"}};
    emission.cuda_environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1", "Megatron-LM asks for it with tp"}};
    return emission;
}

}  // namespace auspex::interop
