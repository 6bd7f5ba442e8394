/// @file DeepSpeed's JSON and arguments of Megatron-DeepSpeed as a plan.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "interop/deepspeed/deepspeed.hpp"
#include "interop/deepspeed/deepspeed_json.hpp"
#include "interop/launch_script.hpp"
#include "interop/model_check.hpp"
#include "interop/shell_words.hpp"

namespace auspex::interop {
namespace {

/// Arguments that change no cost of a step, or that the workload says.
constexpr std::string_view kArgumentsPassedOver[]{"--num-layers",
                                                  "--hidden-size",
                                                  "--num-attention-heads",
                                                  "--num-key-value-heads",
                                                  "--kv-channels",
                                                  "--ffn-hidden-size",
                                                  "--seq-length",
                                                  "--max-position-embeddings",
                                                  "--vocab-size",
                                                  "--make-vocab-size-divisible-by",
                                                  "--use-rotary-position-embeddings",
                                                  "--rotary-percent",
                                                  "--rope-theta",
                                                  "--normalization",
                                                  "--layernorm-epsilon",
                                                  "--swiglu",
                                                  "--disable-bias-linear",
                                                  "--untie-embeddings-and-output-weights",
                                                  "--num-experts",
                                                  "--topk",
                                                  "--moe-loss-coeff",
                                                  "--disable-moe-token-dropping",
                                                  "--moe-train-capacity-factor",
                                                  "--moe-eval-capacity-factor",
                                                  "--moe-min-capacity",
                                                  "--create-moe-param-group",
                                                  "--use-flash-attn",
                                                  "--use-flash-attn-v2",
                                                  "--use-flash-attn-builder",
                                                  "--no-query-key-layer-scaling",
                                                  "--init-method-std",
                                                  "--seed",
                                                  "--clip-grad",
                                                  "--weight-decay",
                                                  "--adam-beta1",
                                                  "--adam-beta2",
                                                  "--adam-eps",
                                                  "--min-lr",
                                                  "--train-iters",
                                                  "--train-samples",
                                                  "--train-tokens",
                                                  "--split",
                                                  "--num-workers",
                                                  "--save",
                                                  "--save-interval",
                                                  "--load",
                                                  "--vocab-file",
                                                  "--merge-file",
                                                  "--no-pipeline-parallel",
                                                  "--distributed-backend",
                                                  "--deepspeed",
                                                  "--deepspeed-config",
                                                  "--zero-stage",
                                                  "--override-opt-param-scheduler",
                                                  "--profile-backward"};
constexpr std::string_view kPrefixesPassedOver[]{"--lr",    "--eval-",      "--log-",         "--data-",
                                                 "--exit-", "--tokenizer-", "--tensorboard-", "--wandb-"};

bool is_argument_passed_over(const std::string& argument) {
    return std::ranges::find(kArgumentsPassedOver, argument) != std::end(kArgumentsPassedOver) ||
           std::ranges::any_of(kPrefixesPassedOver,
                               [&](std::string_view prefix) { return argument.starts_with(prefix); });
}

class DeepspeedReader {
 public:
    DeepspeedReader(const DeepSpeedConfig& config, const std::map<std::string, std::string>& arguments,
                    const PlanText& from, const std::string& arguments_name, int ranks)
        : config_(config), from_(from), ranks_(ranks), in_(arguments, arguments_name) {}

    ImportedPlan run() {
        plan_.file = from_.name;
        read_grid();
        read_batch();
        read_recompute();
        read_states();
        read_experts();
        check_words();
        if (from_.workload != nullptr) {
            check_model(*from_.workload);
        }
        constexpr double kDropout = 0.1;  // where no argument says another
        note_dropout(in_, kDropout, notes_);
        in_.refuse_unread(is_argument_passed_over);
        return {plan_, std::move(notes_)};
    }

 private:
    [[noreturn]] void refuse_key(const char* key, const std::string& found, const std::string& expected) const {
        throw InputError(from_.name + ": $." + key, "found " + found + "; expected " + expected);
    }

    void read_grid() {
        plan_.tp = in_.number("--tensor-model-parallel-size", 1);
        plan_.pp = in_.number("--pipeline-model-parallel-size", 1);
        plan_.ep = in_.number("--moe-expert-parallel-size", 1);
        has_experts_ = in_.word("--num-experts", "1") != "1" || plan_.ep > 1;
        const bool splits = in_.is_switched_on("--enable-expert-tensor-parallelism");
        if (has_experts_ && plan_.tp > 1 && !splits) {
            in_.refuse(
                "--tensor-model-parallel-size", std::to_string(plan_.tp) + " with experts",
                "--enable-expert-tensor-parallelism beside it: experts that every tp rank has whole are no plan's");
        }
        if (has_experts_ && plan_.pp > 1) {
            in_.refuse("--pipeline-model-parallel-size", std::to_string(plan_.pp) + " with experts", "1");
        }
        plan_.etp = plan_.tp;
        plan_.etp_given = true;
        plan_.sequence_parallel = in_.is_switched_on("--sequence-parallel");
        plan_.rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
    }

    /// One of the three numbers may be left out where the ranks are known, and all of them follow from two.
    void read_batch() {
        auto [train, micro, steps] = std::tuple(config_.train_batch, config_.micro_batch, config_.accumulation);
        const std::int64_t dense = capped_product(plan_.pp, plan_.tp, 1);
        std::int64_t replicas = ranks_ > 0 ? ranks_ / dense : 0;
        if (replicas == 0 && ranks_ > 0) {
            static_cast<void>(deal_ranks(plan_, ranks_, in_));  // which refuses
        }
        if (replicas == 0 && train && micro) {
            replicas = std::max<std::int64_t>(1, *train / *micro / steps.value_or(1));
        }
        if (replicas == 0) {
            throw InputError("--tiles", "found no such flag, and no ranks in " + from_.name +
                                            "; expected the number of ranks of the job");
        }
        if (!steps) {
            steps = train && micro ? std::max<std::int64_t>(1, *train / *micro / replicas) : 1;
        }
        if (!micro) {
            micro = train ? std::max<std::int64_t>(1, *train / *steps / replicas) : 1;
        }
        const auto product = static_cast<double>(*micro) * static_cast<double>(*steps) * static_cast<double>(replicas);
        if (train && static_cast<double>(*train) != product) {
            refuse_key("train_batch_size", std::to_string(*train),
                       "train_micro_batch_size_per_gpu x gradient_accumulation_steps x data-parallel ranks, " +
                           std::to_string(*micro) + " x " + std::to_string(*steps) + " x " + std::to_string(replicas));
        }
        constexpr std::int64_t kMost = 1'000'000;
        if (*micro > kMost || *steps > kMost || replicas > models::kMaxTiles / dense) {
            refuse_key("train_batch_size", std::to_string(train.value_or(0)), "at most a million micro-batches");
        }
        plan_.micro_batch_size = static_cast<int>(*micro);
        plan_.micro_batches = static_cast<int>(*steps);
        data_parallel_ = deal_ranks(plan_, static_cast<int>(replicas * dense), in_);
        if (ranks_ > 0 && replicas * dense != ranks_) {
            static_cast<void>(deal_ranks(plan_, ranks_, in_));
        }
        check_batch_arguments();
    }

    void check_batch_arguments() {
        const auto check = [this](const char* argument, std::int64_t own) {
            constexpr std::int64_t kMost = 1'000'000'000'000;
            if (const std::int64_t given = in_.whole(argument, own, kMost); given != own) {
                in_.refuse(argument, std::to_string(given), "what the JSON says, " + std::to_string(own));
            }
        };
        check("--micro-batch-size", plan_.micro_batch_size);
        check("--global-batch-size", std::int64_t{plan_.micro_batch_size} * plan_.micro_batches * data_parallel_);
    }

    void read_recompute() {
        const bool old_name = in_.is_switched_on("--checkpoint-activations");
        const bool is_full = in_.has("--recompute-granularity") || old_name;
        if (in_.has("--recompute-granularity")) {
            in_.one_of("--recompute-granularity", {"full"});
        }
        in_.one_of("--recompute-method", {"uniform"});
        in_.one_of("--recompute-num-layers", {"1"});
        in_.one_of("--checkpoint-num-layers", {"1"});
        static_cast<void>(in_.is_switched_on("--deepspeed-activation-checkpointing"));
        set_recompute_all(plan_, is_full);
    }

    void read_states() {
        using models::OptimizerSharding;
        if (in_.word("--zero-stage", std::to_string(config_.zero_stage)) != std::to_string(config_.zero_stage)) {
            in_.refuse("--zero-stage", in_.word("--zero-stage", ""),
                       "what the JSON says, " + std::to_string(config_.zero_stage));
        }
        if (config_.zero_stage == 3 && (plan_.pp > 1 || has_experts_)) {
            refuse_key("zero_optimization.stage", plan_.pp > 1 ? "3 with a pipeline" : "3 with experts", "0 or 1");
        }
        if (config_.zero_stage == 2 && plan_.pp > 1) {
            refuse_key("zero_optimization.stage", "2 with a pipeline", "0 or 1");
        }
        plan_.optimizer = config_.zero_stage == 3   ? OptimizerSharding::kFsdp
                          : config_.zero_stage == 2 ? OptimizerSharding::kZero2
                          : config_.zero_stage == 0 ? OptimizerSharding::kReplicated
                          : plan_.ep > 1            ? OptimizerSharding::kEpAware
                                                    : OptimizerSharding::kSharded;
        if (config_.hpz_ranks > 0 && data_parallel_ % config_.hpz_ranks != 0) {
            refuse_key("zero_optimization.zero_hpz_partition_size", std::to_string(config_.hpz_ranks),
                       "a divisor of the " + std::to_string(data_parallel_) + " data-parallel ranks");
        }
        plan_.reshard_ranks = config_.hpz_ranks;
        plan_.overlap_dp = config_.overlaps && plan_.pp == 1 && config_.zero_stage > 0;
        if (config_.overlaps && !plan_.overlap_dp) {
            notes_.emplace_back(
                "zero_optimization.overlap_comm changes nothing here: gradients are reduced behind the "
                "last pass");
        }
        if (!config_.has_bf16_gradients && config_.is_bf16) {
            notes_.push_back(std::string("data_types.grad_accum_dtype is not set: ") +
                             (config_.zero_stage == 0 ? "fp32" : "bf16") + " is taken, DeepSpeed's own");
        }
        const bool has_bf16 = config_.has_bf16_gradients.value_or(config_.zero_stage > 0);
        set_precision(plan_, config_.is_bf16, has_bf16);
        if (in_.is_switched_on("--bf16") != config_.is_bf16 && in_.has("--bf16")) {
            in_.refuse("--bf16", "it beside \"bf16\": {\"enabled\": false}", "both, or none");
        }
    }

    void read_experts() {
        plan_.dispatch = models::Dispatch::kAllToAll;
        plan_.expert_kernels = models::ExpertKernels::kLoop;
        plan_.routing.kind = models::RoutingDistribution::kLearned;
    }

    void check_model(const models::Workload& own) {
        constexpr int kVocabularyStep = 128;
        ModelCheck check(in_, own);
        check.number("--num-layers", own.layers, "layers");
        check.number("--hidden-size", own.hidden_size, "hidden_size");
        check.number("--num-attention-heads", own.heads, "heads");
        check.number("--num-key-value-heads", own.kv_heads, "kv_heads");
        check.number("--kv-channels", own.head_size, "head_size");
        check.number("--seq-length", own.sequence_length, "sequence_length");
        check.vocabulary("--vocab-size",
                         std::int64_t{in_.number("--make-vocab-size-divisible-by", kVocabularyStep)} * plan_.tp);
        if (own.num_experts > 0) {
            check.number("--topk", own.top_k, "top_k");
            check.number("--ffn-hidden-size", own.expert_size, "expert_size");
        } else {
            check.number("--ffn-hidden-size", own.intermediate_size, "intermediate_size");
        }
        if (in_.has("--num-layers") && in_.has("--num-experts")) {
            check_capacity(own);
        }
        if (in_.word("--num-experts", "1") != "1") {
            check.number("--num-experts", own.num_experts, "num_experts");
        } else if (own.num_experts > 0 && in_.has("--num-layers") && in_.has("--hidden-size")) {
            check.required("--num-experts", own.num_experts, "num_experts");
        }
    }

    /// Tokens are dropped, and experts padded, unless it is switched off.
    void check_capacity(const models::Workload& own) {
        const char* const factor = "--moe-train-capacity-factor";
        const bool drops = !in_.has("--disable-moe-token-dropping");
        const std::string given = drops ? in_.word(factor, "1") : "no token dropping";
        const std::string expected = own.capacity_factor > 0 ? json_number(own.capacity_factor) : "no token dropping";
        const bool same = drops ? own.capacity_factor > 0 && std::strtod(given.c_str(), nullptr) == own.capacity_factor
                                : own.capacity_factor == 0;
        if (own.num_experts > 0 && !same) {
            in_.refuse(drops ? factor : "--disable-moe-token-dropping", given,
                       expected + ", as workload.capacity_factor of " + own.name + " has it");
        }
    }

    /// Words that change kernels, groups or states.
    void check_words() {
        in_.one_of("--optimizer", {"adamw", "adam"});
        in_.one_of("--mlp-type", {"standard"});
        in_.one_of("--ds-sequence-parallel-size", {"1"});
        if (has_experts_) {
            in_.one_of("--expert-interval", {"1", "2"});
            if (in_.word("--expert-interval", "2") != "1") {
                in_.refuse("--expert-interval", in_.word("--expert-interval", "2, its default,"),
                           "1: experts in every n-th layer only are not modelled");
            }
        } else {
            static_cast<void>(in_.has("--expert-interval"));
        }
    }

    const DeepSpeedConfig& config_;
    const PlanText& from_;
    int ranks_;
    ArgumentReader in_;
    models::Plan plan_;
    std::vector<std::string> notes_;
    bool has_experts_ = false;
    int data_parallel_ = 1;
};

bool is_json(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && text[first] == '{';
}

}  // namespace

ImportedPlan plan_of_deepspeed(const PlanText& from) {
    const bool is_alone = is_json(from.text);
    const std::string& arguments_name = is_alone && !from.arguments_name.empty() ? from.arguments_name : from.name;
    const LaunchScript script = read_launch_script(is_alone ? from.arguments : from.text, arguments_name);
    std::string json = is_alone ? from.text : "";
    for (const std::string& document : shell_words(is_alone ? "" : from.text, from.name).documents) {
        if (is_json(document) && !json.empty()) {
            throw InputError(from.name, "found several configurations of DeepSpeed; expected one");
        }
        json = is_json(document) ? document : json;
    }
    if (json.empty()) {
        throw InputError(from.name,
                         "found no JSON; expected the configuration of DeepSpeed, or a script with it as a "
                         "here-document");
    }
    const DeepSpeedConfig config = read_deepspeed_config(JsonDocument::parse(json, from.name));
    ImportedPlan imported =
        DeepspeedReader(config, script.arguments, from, arguments_name, from.ranks > 0 ? from.ranks : script.ranks)
            .run();
    imported.add_notes(script.notes);
    if (is_alone && from.arguments.empty()) {
        imported.notes.emplace_back("pp, tp and ep are not in the JSON: 1 is taken, without --args");
    }
    return imported;
}

}  // namespace auspex::interop
