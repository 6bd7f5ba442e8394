/// @file A configuration of torchtitan as a plan.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "interop/launch_script.hpp"
#include "interop/model_check.hpp"
#include "interop/shell_words.hpp"
#include "interop/torchtitan/python_text.hpp"
#include "interop/torchtitan/torch_schedules.hpp"
#include "interop/torchtitan/torchtitan.hpp"

namespace auspex::interop {
namespace {

using Options = std::map<std::string, std::string>;

constexpr std::string_view kOfEarlierReleases[]{"parallelism.expert_tensor_parallel_degree",
                                                "parallelism.pipeline_parallel_microbatch_size",
                                                "parallelism.pipeline_parallel_split_points",
                                                "parallelism.data_parallel_degree",
                                                "training.local_batch_size",
                                                "training.global_batch_size",
                                                "training.batch_size",
                                                "training.seq_len",
                                                "training.tensor_parallel_degree",
                                                "training.data_parallel_degree",
                                                "job.config_file"};
/// Sections and fields that change no cost of a step, or one that the stack file says.
constexpr std::string_view kSectionsPassedOver[]{
    "metrics.",    "profiling.", "checkpoint.", "lr_scheduler.", "validation.", "validator.", "comm.",
    "dataloader.", "tokenizer.", "compile.",    "job.",          "debug.",      "optimizer.", "activation_checkpoint."};
constexpr std::string_view kOptionsPassedOver[]{
    "training.steps", "training.max_norm",      "training.dataset",     "training.dataset_path",
    "training.seed",  "training.deterministic", "training.gc_freq",     "training.gc_debug",
    "model.name",     "model.flavor",           "model.hf_assets_path", "model.tokenizer_path"};

bool is_option_passed_over(const std::string& option) {
    return std::ranges::find(kOptionsPassedOver, option) != std::end(kOptionsPassedOver) ||
           std::ranges::any_of(kSectionsPassedOver,
                               [&](std::string_view section) { return option.starts_with(section); });
}

class TorchtitanReader {
 public:
    TorchtitanReader(const Options& options, const PlanText& from, int ranks)
        : options_(options), from_(from), ranks_(ranks), in_(options, from.name) {}

    ImportedPlan run() {
        for (const std::string_view old : kOfEarlierReleases) {
            if (options_.contains(std::string(old))) {
                in_.refuse(std::string(old), "an option of earlier releases", "those of torchtitan of August 2026");
            }
        }
        plan_.file = from_.name;
        const int data_parallel = read_grid();
        read_pipeline();
        read_batch(data_parallel);
        read_recompute();
        read_experts();
        in_.refuse_unread(is_option_passed_over);
        return {plan_, std::move(notes_)};
    }

 private:
    int read_grid() {
        plan_.tp = in_.number("parallelism.tensor_parallel_degree", 1);
        plan_.cp = in_.number("parallelism.context_parallel_degree", 1);
        plan_.pp = in_.number("parallelism.pipeline_parallel_degree", 1);
        plan_.ep = in_.number("parallelism.expert_parallel_degree", 1);
        plan_.sequence_parallel = in_.truth("parallelism.enable_sequence_parallel", true);
        const int replicas = in_.number("parallelism.data_parallel_replicate_degree", 1);
        const std::string shard = "parallelism.data_parallel_shard_degree";
        const std::int64_t others = capped_product(plan_.tp, plan_.cp, plan_.pp);
        std::int64_t shards = 0;
        if (in_.word(shard, "-1") != "-1") {
            shards = in_.number(shard, 1);
        } else if (ranks_ > 0 && others <= ranks_) {
            shards = std::max<std::int64_t>(1, ranks_ / capped_product(others, replicas, 1));
        } else {
            in_.refuse(shard, "-1, or no such option, and no --tiles that gives it", "one of them");
        }
        const std::int64_t dense = capped_product(others, replicas, shards);
        if (dense > models::kMaxTiles || (ranks_ > 0 && dense != ranks_)) {
            in_.refuse("ranks", std::to_string(ranks_ > 0 ? ranks_ : dense),
                       "pp x replicas x shards x cp x tp, " + std::to_string(dense) + ", and no more than " +
                           std::to_string(models::kMaxTiles));
        }
        read_sharding(replicas, static_cast<int>(shards));
        // Experts are split by ep alone; without experts tp splits what there is.
        const bool has_no_experts = from_.workload != nullptr && from_.workload->num_experts == 0;
        plan_.etp = has_no_experts || (from_.workload == nullptr && !has_experts()) ? plan_.tp : 1;
        plan_.etp_given = true;
        if (plan_.tp > 1 && from_.workload == nullptr && !has_experts()) {
            notes_.emplace_back("a model without experts is taken: --workload says whether it has some");
        }
        plan_.rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
        return deal_ranks(plan_, static_cast<int>(dense), in_);
    }

    /// As far as options say: a dense model has none of these.
    [[nodiscard]] bool has_experts() const { return plan_.ep > 1 || options_.contains("debug.moe_force_load_balance"); }

    void read_sharding(int replicas, int shards) {
        const std::string reshard =
            in_.one_of("parallelism.fsdp_reshard_after_forward", {"default", "always", "never"});
        const bool shards_something = shards > 1 || plan_.cp > 1;
        const bool is_sharded = shards_something || reshard != "default";
        plan_.optimizer = is_sharded ? models::OptimizerSharding::kFsdp : models::OptimizerSharding::kReplicated;
        plan_.overlap_dp = is_sharded;  // FSDP2 gathers ahead
        if (is_sharded) {
            plan_.shard_replicas = replicas;
            plan_.reshard_after_forward = reshard == "always" || (reshard == "default" && plan_.pp == 1);
        }
    }

    void read_pipeline() {
        using models::ScheduleKind;
        const std::string name = in_.one_of("parallelism.pipeline_parallel_schedule",
                                            {"1F1B", "GPipe", "Interleaved1F1B", "ZBVZeroBubble", "DualPipeV"});
        plan_.schedule = std::ranges::find(kTorchSchedules, name, &TorchSchedule::name)->kind;
        if (least_chunks(plan_.schedule) > 1 && plan_.pp == 1) {
            plan_.schedule = ScheduleKind::k1f1b;
        }
        const bool is_interleaved = plan_.schedule == ScheduleKind::kInterleaved1f1b;
        const int embedding = weight("parallelism.pipeline_parallel_first_stage_less_layers");
        const int head = weight("parallelism.pipeline_parallel_last_stage_less_layers");
        const std::string each_name = "parallelism.pipeline_parallel_layers_per_stage";
        constexpr int kVirtualStages = 2;  // where nothing else is said
        plan_.virtual_stages = least_chunks(plan_.schedule) > 1 ? kVirtualStages : 1;
        if (in_.has(each_name) && is_interleaved) {
            const int each = in_.number(each_name, 1);
            const int counted = layers(each_name) + embedding + head, stages = (counted + each - 1) / each;
            if (stages % plan_.pp != 0 || stages / plan_.pp < kVirtualStages) {
                in_.refuse(each_name, std::to_string(each) + ", which makes " + std::to_string(stages) + " stages",
                           "one that makes twice pp or more, in multiples of pp, " + std::to_string(plan_.pp));
            }
            plan_.virtual_stages = stages / plan_.pp;
        }
        read_stages(embedding, head);
    }

    /// Layers that the embedding or the head counts as: torchtitan's default is 1.
    int weight(const char* name) { return in_.word(name, "1") == "0" ? 0 : in_.number(name, 1); }

    int layers(const std::string& option) const {
        if (from_.workload == nullptr) {
            in_.refuse(option, in_value(option), "--workload beside it: what it means depends on the number of layers");
        }
        return from_.workload->layers;
    }
    [[nodiscard]] std::string in_value(const std::string& option) const {
        const auto found = options_.find(option);
        return found == options_.end() ? "nothing" : "\"" + found->second + "\"";
    }

    void read_stages(int embedding, int head) {
        using models::StageDeal;
        if (plan_.pp == 1) {
            return;
        }
        if (embedding <= 1 && head <= 1) {
            constexpr std::array kDeals{StageDeal::kEven, StageDeal::kWithHead, StageDeal::kWithEmbedding,
                                        StageDeal::kWithBoth};
            plan_.stages = kDeals.at(static_cast<std::size_t>(2 * embedding + head));
            return;
        }
        const std::string name =
            "parallelism.pipeline_parallel_" + std::string(embedding > 1 ? "first" : "last") + "_stage_less_layers";
        const int stages = plan_.pp * plan_.virtual_stages;
        plan_.stage_layers = torchtitan_layers(layers(name), stages, embedding, head);
        plan_.stages = StageDeal::kList;
        if (plan_.stage_layers.empty()) {
            in_.refuse(name, std::to_string(std::max(embedding, head)), "at most the layers of a stage");
        }
    }

    void read_batch(int data_parallel) {
        constexpr std::int64_t kMostTokens = 1'000'000'000'000, kMostOfMicro = 10'000'000'000;
        const std::string micro_name = "training.num_tokens_per_microbatch_per_dp_rank";
        const std::string step_name = "training.num_tokens_per_train_step";
        const std::string length_name = "training.max_context_length";
        for (const std::string& name : {micro_name, length_name}) {
            if (!in_.has(name)) {
                in_.refuse(name, "no such option", "it: no batch follows without it");
            }
        }
        const std::int64_t length = in_.whole(length_name, 1, kMostTokens);
        if (from_.workload != nullptr) {
            ModelCheck(in_, *from_.workload).number(length_name, from_.workload->sequence_length, "sequence_length");
        }
        const std::int64_t micro = in_.whole(micro_name, 1, kMostOfMicro);
        const std::int64_t of_micro = micro * data_parallel;  // below 2^63: 10^10 x 2^24
        if (micro % length != 0 || micro / length > 1'000'000) {
            in_.refuse(micro_name, std::to_string(micro),
                       "whole sequences of " + length_name + ", " + std::to_string(length) + ", a million at most");
        }
        plan_.micro_batch_size = static_cast<int>(micro / length);
        const int of_pipeline = in_.number("parallelism.num_pp_microbatches", 1);
        const std::int64_t all = of_micro <= kMostTokens / of_pipeline ? of_micro * of_pipeline : kMostTokens + 1;
        const std::int64_t step = in_.whole(step_name, all, kMostTokens);
        if (step > kMostTokens || step % of_micro != 0) {
            in_.refuse(step_name, std::to_string(step),
                       "a multiple of the data-parallel ranks' micro-batches, " + std::to_string(of_micro) + " tokens");
        }
        deal_sequences(plan_, step / length, data_parallel, in_, step_name);
        if (plan_.pp > 1 && plan_.micro_batches != of_pipeline) {
            in_.refuse("parallelism.num_pp_microbatches", std::to_string(of_pipeline),
                       "the step's, " + std::to_string(plan_.micro_batches) +
                           ": several pipelines one after another are no plan's");
        }
        plan_.bf16_states = in_.one_of("training.dtype", {"float32", "bfloat16"}) == "bfloat16";
        in_.one_of("training.mixed_precision_reduce", {"float32"});
        set_precision(plan_, in_.one_of("training.mixed_precision_param", {"bfloat16", "float32"}) == "bfloat16",
                      false);
        if (plan_.bf16_states && plan_.weight_bytes != 2) {
            in_.refuse("training.dtype", "bfloat16", "float32 where training.mixed_precision_param is");
        }
    }

    void read_recompute() {
        if (!in_.has("activation_checkpoint.mode")) {
            notes_.emplace_back("activation_checkpoint.mode is not set: \"none\" is taken");
        }
        set_recompute_all(plan_, in_.one_of("activation_checkpoint.mode", {"none", "full"}) == "full");
        in_.one_of("optimizer.name", {"AdamW", "Adam"});
        if (in_.truth("optimizer.early_step_in_backward", false)) {
            in_.refuse("optimizer.early_step_in_backward", "True", "False: the update comes behind the last pass");
        }
    }

    void read_experts() {
        plan_.expert_kernels = models::ExpertKernels::kGrouped;
        plan_.dispatch =
            in_.one_of("parallelism.expert_parallel_comm_backend", {"standard", "deepep", "hybridep"}) == "standard"
                ? models::Dispatch::kAllToAll
                : models::Dispatch::kHierarchical;
        const bool is_forced = in_.truth("debug.moe_force_load_balance", false);
        plan_.routing.kind = is_forced ? models::RoutingDistribution::kUniform : models::RoutingDistribution::kLearned;
    }

    const Options& options_;
    const PlanText& from_;
    int ranks_;
    ArgumentReader in_;
    models::Plan plan_;
    std::vector<std::string> notes_;
};

/// "--parallelism.tensor-parallel-degree" "4" as "parallelism.tensor_parallel_degree"; switches as True, and False
/// behind "no-".
Options options_of_flags(const std::map<std::string, std::string>& arguments) {
    Options options;
    for (const auto& [argument, value] : arguments) {
        std::string name = argument.substr(2);
        std::ranges::replace(name, '-', '_');
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos) {
            continue;  // --module, --config and the launcher's
        }
        const bool is_negated = value.empty() && name.substr(dot + 1).starts_with("no_");
        if (is_negated) {
            name.erase(dot + 1, 3);
        }
        if (value != "None") {
            options[name] = !value.empty() ? value : is_negated ? "False" : "True";
        }
    }
    return options;
}

Options options_of_function(const std::string& text, const PlanText& from) {
    std::vector<PythonFunction> functions = python_functions(text, from.name);
    std::erase_if(functions, [&](const PythonFunction& one) {
        const bool is_named = from.configuration.empty() || one.name == from.configuration;
        return !is_named || std::ranges::none_of(one.fields, [](const auto& field) {
            return field.first.starts_with("parallelism.") || field.first.starts_with("training.");
        });
    });
    if (functions.size() > 1) {
        std::string names;
        for (const PythonFunction& one : functions) {
            names += (names.empty() ? "" : ", ") + printable(one.name);
        }
        throw InputError(from.name, "found several configurations: " + names + "; expected --function NAME with one");
    }
    return functions.empty() ? Options{} : functions.front().fields;
}

bool is_toml(const std::string& text) {
    return text.starts_with("[parallelism]") || text.find("\n[parallelism]") != std::string::npos;
}

/// The Python among here-documents, the text itself where it is Python, else nothing.
std::string python_of(const PlanText& from) {
    const bool is_python = from.text.find("def ") != std::string::npos && from.text.find("return") != std::string::npos;
    if (from.name.ends_with(".py") ||
        (is_python && !from.text.starts_with("#!") && from.text.find("<<") == std::string::npos)) {
        return from.text;
    }
    std::string found;
    for (const std::string& document : shell_words(from.text, from.name).documents) {
        if (document.find("def ") == std::string::npos) {
            continue;
        }
        if (!found.empty()) {
            throw InputError(from.name, "found several here-documents of Python; expected one configuration");
        }
        found = document;
    }
    return found;
}

}  // namespace

ImportedPlan plan_of_torchtitan(const PlanText& from) {
    if (is_toml(from.text)) {
        throw InputError(from.name,
                         "found TOML, as earlier releases had it; expected a Python configuration, or "
                         "--section.option=value, of torchtitan of August 2026");
    }
    const std::string python = python_of(from);
    Options options;
    int ranks = from.ranks;
    std::vector<std::string> notes;
    if (!python.empty()) {
        options = options_of_function(python, from);
    } else {
        const LaunchScript script = read_launch_script(from.text, from.name);
        options = options_of_flags(script.arguments);
        ranks = ranks > 0 ? ranks : script.ranks;
        notes = script.notes;
    }
    if (options.empty()) {
        throw InputError(from.name,
                         "found no options; expected those of torchtitan, such as "
                         "--parallelism.tensor_parallel_degree=4, or a Python configuration");
    }
    ImportedPlan imported = TorchtitanReader(options, from, ranks).run();
    imported.add_notes(notes);
    return imported;
}

}  // namespace auspex::interop
