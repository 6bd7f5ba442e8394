/// @file Arguments of Megatron-LM as a plan.
#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "interop/megatron.hpp"
#include "interop/stage_pattern.hpp"

namespace auspex::interop {
namespace {

/// What an argument does to a step beside what is read here: nothing, or the workload says it.
constexpr std::array kPassedOver{"--num-layers",
                                 "--hidden-size",
                                 "--ffn-hidden-size",
                                 "--seq-length",
                                 "--max-position-embeddings",
                                 "--vocab-size",
                                 "--position-embedding-type",
                                 "--normalization",
                                 "--swiglu",
                                 "--disable-bias-linear",
                                 "--add-qkv-bias",
                                 "--untie-embeddings-and-output-weights",
                                 "--num-attention-heads",
                                 "--group-query-attention",
                                 "--num-query-groups",
                                 "--kv-channels",
                                 "--qk-layernorm",
                                 "--multi-latent-attention",
                                 "--q-lora-rank",
                                 "--kv-lora-rank",
                                 "--qk-head-dim",
                                 "--qk-pos-emb-head-dim",
                                 "--v-head-dim",
                                 "--num-experts",
                                 "--moe-router-topk",
                                 "--moe-ffn-hidden-size",
                                 "--moe-shared-expert-intermediate-size",
                                 "--moe-layer-freq",
                                 "--moe-router-num-groups",
                                 "--moe-router-group-topk",
                                 "--moe-router-score-function",
                                 "--moe-router-pre-softmax",
                                 "--moe-router-topk-scaling-factor",
                                 "--moe-router-enable-expert-bias",
                                 "--moe-router-bias-update-rate",
                                 "--moe-router-load-balancing-type",
                                 "--moe-router-dtype",
                                 "--moe-aux-loss-coeff",
                                 "--moe-z-loss-coeff",
                                 "--use-mcore-models",
                                 "--transformer-impl",
                                 "--use-flash-attn",
                                 "--attention-backend",
                                 "--rotary-base",
                                 "--rotary-percent",
                                 "--norm-epsilon",
                                 "--no-masked-softmax-fusion",
                                 "--attention-dropout",
                                 "--hidden-dropout",
                                 "--make-vocab-size-divisible-by",
                                 "--distributed-backend",
                                 "--distributed-timeout-minutes",
                                 "--seed",
                                 "--clip-grad",
                                 "--weight-decay",
                                 "--optimizer",
                                 "--adam-beta1",
                                 "--adam-beta2",
                                 "--adam-eps",
                                 "--bf16",
                                 "--mock-data",
                                 "--split",
                                 "--num-workers",
                                 "--no-create-attention-mask-in-dataloader",
                                 "--override-opt-param-scheduler",
                                 "--use-rotary-position-embeddings"};
constexpr std::array kPrefixesPassedOver{"--lr",          "--min-lr",     "--train-", "--eval-",  "--save",
                                         "--load",        "--log-",       "--data-",  "--wandb-", "--tensorboard-",
                                         "--init-method", "--tokenizer-", "--ckpt-",  "--exit-",  "--timing-",
                                         "--no-load-",    "--no-save-"};
/// Names of releases before.
constexpr std::array kOldNames{"--moe-enable-deepep",
                               "--cuda-graph-scope",
                               "--hybrid-override-pattern",
                               "--use-dist-ckpt",
                               "--moe-layer-recompute",
                               "--moe-router-padding-for-fp8",
                               "--num-layers-per-virtual-pipeline-stage"};

class Reader {
 public:
    Reader(const std::map<std::string, std::string>& arguments, const std::string& name, int ranks)
        : arguments_(arguments), name_(name), ranks_(ranks), json_(text_) {}

    std::string run() {
        json_.begin_object().member("source", "arguments of Megatron-LM");
        read_grid();
        read_batch();
        read_recompute();
        read_data_parallel();
        read_experts();
        read_overlap();
        json_.end_object();
        refuse_the_rest();
        return text_.str();
    }

 private:
    [[noreturn]] void refuse(const std::string& argument, const std::string& found, const std::string& expected) const {
        throw InputError(name_ + ": " + argument, "found " + found + "; expected " + expected);
    }
    bool has(const char* argument) {
        read_.emplace(argument);
        return arguments_.contains(argument);
    }
    std::string word(const char* argument, const char* otherwise) {
        return has(argument) ? arguments_.at(argument) : otherwise;
    }
    int number(const char* argument, int otherwise) {
        if (!has(argument)) {
            return otherwise;
        }
        const std::string& text = arguments_.at(argument);
        int value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < 1) {
            refuse(argument, "\"" + text + "\"", "a whole number of at least 1");
        }
        return value;
    }

    void read_grid() {
        tp_ = number("--tensor-model-parallel-size", 1), pp_ = number("--pipeline-model-parallel-size", 1);
        cp_ = number("--context-parallel-size", 1), ep_ = number("--expert-model-parallel-size", 1);
        const int etp = number("--expert-tensor-parallel-size", tp_), replica = pp_ * ep_ * etp;
        if (ranks_ % replica != 0 || ranks_ % (pp_ * tp_ * cp_) != 0) {
            refuse("ranks", std::to_string(ranks_),
                   "a multiple of pp x ep x expert tp (" + std::to_string(replica) + ") and of pp x tp x cp (" +
                       std::to_string(pp_ * tp_ * cp_) + ")");
        }
        data_parallel_ = ranks_ / (pp_ * tp_ * cp_);
        json_.member("dp", ranks_ / replica).member("ep", ep_).member("etp", etp).member("tp", tp_);
        json_.member("pp", pp_).member("cp", cp_).member("sequence_parallel", has("--sequence-parallel"));
        read_stages();
        json_.key("rank_order").begin_array();
        const bool stages_first = has("--use-tp-pp-dp-mapping") || pp_ == 1;
        json_.value(stages_first ? "dp" : "pp").value(stages_first ? "pp" : "dp").value("ep").value("tp").end_array();
    }

    void read_stages() {
        int virtual_stages = number("--num-virtual-stages-per-pipeline-rank", 1);
        const bool embedding = has("--account-for-embedding-in-pipeline-split"),
                   loss = has("--account-for-loss-in-pipeline-split");
        if (has("--pipeline-model-parallel-layout")) {
            const std::string argument = "--pipeline-model-parallel-layout";
            const std::vector<int> layers = layers_of_pattern(arguments_.at(argument), name_ + ": " + argument);
            const int stages = static_cast<int>(layers.size());
            if (stages % pp_ != 0) {
                refuse(argument, std::to_string(stages) + " stages",
                       "a multiple of the pipeline's " + std::to_string(pp_));
            }
            virtual_stages = stages / pp_;
            if (layers != even_deal(std::accumulate(layers.begin(), layers.end(), 0), stages)) {
                json_.key("stages").begin_array();
                for (const int count : layers) {
                    json_.value(count);
                }
                json_.end_array();
            }
        } else if (embedding || loss) {
            json_.member("stages", embedding && loss ? "even-with-both"
                                   : embedding       ? "even-with-embedding"
                                                     : "even-with-head");
        }
        is_interleaved_ = virtual_stages > 1;
        json_.member("virtual_stages", virtual_stages)
            .member("schedule", is_interleaved_ ? "interleaved-1f1b" : "1f1b");
    }

    void read_batch() {
        const int micro = number("--micro-batch-size", 1),
                  global = number("--global-batch-size", micro * data_parallel_);
        if (global % (micro * data_parallel_) != 0) {
            refuse("--global-batch-size", std::to_string(global),
                   "a multiple of --micro-batch-size times the data-parallel ranks (" +
                       std::to_string(micro * data_parallel_) + ")");
        }
        json_.member("micro_batch_size", micro).member("micro_batches", global / (micro * data_parallel_));
        const bool is_bf16 = has("--bf16");
        json_.member("precision", is_bf16 ? "bf16" : "fp32");
        json_.member("gradient_dtype", is_bf16 && has("--grad-reduce-in-bf16") ? "bf16" : "fp32");
    }

    void read_recompute() {
        const std::string granularity = word("--recompute-granularity", "");
        const std::string method = word("--recompute-method", "uniform");
        const int layers = number("--recompute-num-layers", 1);
        const std::string modules = word("--recompute-modules", "core_attn");
        json_.key("recompute").begin_array();
        if (granularity == "full") {
            if (method != "uniform" || layers != 1) {
                refuse("--recompute-method", "\"" + method + "\", " + std::to_string(layers) + " layers at a time",
                       "\"uniform\" with --recompute-num-layers 1: every layer by itself");
            }
            json_.value("norm").value("attention").value("expert");
        } else if (granularity == "selective") {
            std::istringstream words(modules);
            bool norm = false, expert = false;
            for (std::string module; words >> module;) {
                norm = norm || module == "layernorm";
                expert = expert || module == "moe" || module == "mlp";
                if (module != "layernorm" && module != "moe" && module != "mlp") {
                    refuse("--recompute-modules", "\"" + module + "\"",
                           "layernorm, moe or mlp: other parts of a layer are not recomputed by themselves here");
                }
            }
            if (norm) {
                json_.value("norm");
            }
            if (expert) {
                json_.value("expert");
            }
        } else if (!granularity.empty()) {
            refuse("--recompute-granularity", "\"" + granularity + "\"", "full or selective");
        }
        json_.end_array();
    }

    void read_data_parallel() {
        const std::string strategy = word("--data-parallel-sharding-strategy", "no_shard");
        const bool is_sharded = has("--use-distributed-optimizer"), is_fsdp = has("--use-megatron-fsdp");
        if (is_fsdp && strategy != "optim_grads_params") {
            refuse("--data-parallel-sharding-strategy", "\"" + strategy + "\"",
                   "optim_grads_params with --use-megatron-fsdp");
        }
        json_.member("optimizer", is_fsdp ? "fsdp" : !is_sharded ? "replicated" : ep_ > 1 ? "ep-aware" : "sharded");
    }

    void read_experts() {
        const std::string dispatcher = word("--moe-token-dispatcher-type", "allgather");
        if (dispatcher != "allgather" && dispatcher != "alltoall") {
            refuse("--moe-token-dispatcher-type", "\"" + dispatcher + "\"", "allgather or alltoall");
        }
        json_.member("dispatch", dispatcher == "alltoall" ? "alltoall" : "allgather-reducescatter");
        const bool is_grouped = has("--moe-grouped-gemm"), is_fused = has("--moe-permute-fusion");
        json_.member("expert_kernels", !is_grouped ? "loop" : is_fused ? "fused" : "grouped");
        json_.member("routing", has("--moe-router-force-load-balancing") ? "uniform" : "learned");
    }

    void read_overlap() {
        json_.key("overlap").begin_array();
        for (const auto& [argument, axis] : {std::pair("--overlap-grad-reduce", "dp"),
                                             {"--tp-comm-overlap", "tp"},
                                             {"--overlap-moe-expert-parallel-comm", "ep"}}) {
            if (has(argument)) {
                json_.value(axis);
            }
        }
        if (!has("--no-overlap-p2p-communication") && is_interleaved_) {
            json_.value("pp");
        }
        json_.end_array();
        static_cast<void>(has("--overlap-param-gather"));  // the gather is part of the same overlap
    }

    void refuse_the_rest() const {
        const auto is_one_of = [](const auto& names, const std::string& argument) {
            return std::ranges::find(names, argument) != names.end();
        };
        for (const auto& [argument, value] : arguments_) {
            if (is_one_of(kOldNames, argument)) {
                refuse(argument, "an argument of earlier releases", "those of Megatron-LM of August 2026");
            }
            const bool has_prefix = std::ranges::any_of(
                kPrefixesPassedOver, [&](const char* prefix) { return argument.starts_with(prefix); });
            if (!read_.contains(argument) && !is_one_of(kPassedOver, argument) && !has_prefix) {
                refuse(argument, value.empty() ? "a switch" : "\"" + value + "\"",
                       "no such argument: it may change what a step costs and is not understood");
            }
        }
    }

    const std::map<std::string, std::string>& arguments_;
    const std::string& name_;
    int ranks_;
    std::ostringstream text_;
    JsonWriter json_;
    std::set<std::string, std::less<>> read_;
    int tp_ = 1, pp_ = 1, cp_ = 1, ep_ = 1, data_parallel_ = 1;
    bool is_interleaved_ = false;
};

}  // namespace

std::string plan_of_megatron(const std::map<std::string, std::string>& arguments, const std::string& name, int ranks) {
    return Reader(arguments, name, ranks).run();
}

}  // namespace auspex::interop
