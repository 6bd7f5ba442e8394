/// @file Arguments of Megatron-LM as a plan.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "interop/megatron.hpp"
#include "interop/megatron_names.hpp"
#include "interop/stage_pattern.hpp"
#include "models/stage_layers.hpp"

namespace auspex::interop {
namespace {

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
constexpr int kMost = 10'000'000;

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
        check_words();
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
        if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMost) {
            refuse(argument, "\"" + text + "\"", "a whole number from 1 to " + std::to_string(kMost));
        }
        return value;
    }

    /// Capped where it is above any number of ranks.
    static std::int64_t product(int a, int b, int c) {
        const std::int64_t two = std::int64_t{a} * b;
        return two > models::kMaxTiles ? two : two * c;
    }

    void read_grid() {
        tp_ = number("--tensor-model-parallel-size", 1), pp_ = number("--pipeline-model-parallel-size", 1);
        cp_ = number("--context-parallel-size", 1), ep_ = number("--expert-model-parallel-size", 1);
        const int etp = number("--expert-tensor-parallel-size", tp_);
        const std::int64_t replica = product(pp_, ep_, etp), dense = product(pp_, tp_, cp_);
        if (ranks_ < 1 || ranks_ % replica != 0 || ranks_ % dense != 0) {
            refuse("ranks", std::to_string(ranks_),
                   "a multiple of pp x ep x expert tp (" + std::to_string(replica) + ") and of pp x tp x cp (" +
                       std::to_string(dense) + ")");
        }
        data_parallel_ = ranks_ / static_cast<int>(dense);
        json_.member("dp", ranks_ / static_cast<int>(replica)).member("ep", ep_).member("etp", etp).member("tp", tp_);
        json_.member("pp", pp_).member("cp", cp_).member("sequence_parallel", has("--sequence-parallel"));
        read_stages();
        json_.key("rank_order").begin_array();
        const bool stages_first = has("--use-tp-pp-dp-mapping") || pp_ == 1;
        json_.value(stages_first ? "dp" : "pp").value(stages_first ? "pp" : "dp").value("ep").value("tp").end_array();
    }

    void read_stages() {
        const char* const by_layers = "--num-layers-per-virtual-pipeline-stage";
        int virtual_stages = number("--num-virtual-stages-per-pipeline-rank", 1);
        if (has(by_layers)) {
            const int layers = number("--num-layers", 1), each = number(by_layers, 1);
            if (virtual_stages > 1 || layers % (pp_ * std::int64_t{each}) != 0) {
                refuse(by_layers, std::to_string(each),
                       "no --num-virtual-stages-per-pipeline-rank beside it, and a divisor of --num-layers (" +
                           std::to_string(layers) + ") over the pipeline's " + std::to_string(pp_));
            }
            virtual_stages = layers / (pp_ * each);
        }
        const bool embedding = has("--account-for-embedding-in-pipeline-split"),
                   loss = has("--account-for-loss-in-pipeline-split");
        if (has("--pipeline-model-parallel-layout")) {
            const std::string argument = "--pipeline-model-parallel-layout";
            const std::vector<int> layers = layers_of_pattern(arguments_.at(argument), name_ + ": " + argument);
            const int stages = static_cast<int>(layers.size());
            if (virtual_stages > 1) {
                refuse(argument, "it beside another argument that deals layers", "one of them");
            }
            if (stages % pp_ != 0) {
                refuse(argument, std::to_string(stages) + " stages",
                       "a multiple of the pipeline's " + std::to_string(pp_));
            }
            virtual_stages = stages / pp_;
            models::Workload dealt;
            dealt.layers = std::accumulate(layers.begin(), layers.end(), 0);
            if (stages > dealt.layers || layers != layers_dealt(dealt, models::StageDeal::kEven, stages)) {
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
        const int micro = number("--micro-batch-size", 1);
        const std::int64_t all = std::int64_t{micro} * data_parallel_;
        const std::int64_t global =
            has("--global-batch-size") ? number("--global-batch-size", 1) : std::min<std::int64_t>(all, kMost);
        if (global % all != 0) {
            refuse("--global-batch-size", std::to_string(global),
                   "a multiple of --micro-batch-size times the data-parallel ranks (" + std::to_string(all) + ")");
        }
        json_.member("micro_batch_size", micro).member("micro_batches", global / all);
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
            if (has("--num-experts") && modules.find("moe") == std::string::npos && expert) {
                refuse("--recompute-modules", "\"" + modules + "\" with experts",
                       "moe with it: dense layers alone are not recomputed by themselves here");
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
        if (is_fsdp) {
            static_cast<void>(has("--no-gradient-accumulation-fusion"));  // it asks for it
        }
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
        const bool gathers = has("--overlap-param-gather"), reduces = has("--overlap-grad-reduce");
        if (gathers != reduces && has("--use-distributed-optimizer")) {
            refuse(gathers ? "--overlap-param-gather" : "--overlap-grad-reduce", "it alone",
                   "both --overlap-grad-reduce and --overlap-param-gather, or none: an overlap of one of them is not "
                   "modelled");
        }
    }

    /// Words that change kernels or states.
    void check_words() {
        const auto one_of = [this](const char* argument, std::initializer_list<const char*> words) {
            const std::string found = word(argument, *words.begin());
            std::string allowed;
            for (const char* one : words) {
                if (found == one) {
                    return;
                }
                allowed += (allowed.empty() ? "" : ", ") + std::string(one);
            }
            refuse(argument, "\"" + found + "\"", "one of " + allowed);
        };
        one_of("--optimizer", {"adam"});
        one_of("--attention-backend", {"auto", "flash", "fused"});
        one_of("--transformer-impl", {"transformer_engine"});
        for (const char* argument : kSwitches) {
            if (has_value(argument)) {
                refuse(argument, "\"" + arguments_.at(argument) + "\"", "no value: it is a switch");
            }
        }
    }
    [[nodiscard]] bool has_value(const char* argument) const {
        const auto found = arguments_.find(argument);
        return found != arguments_.end() && !found->second.empty();
    }

    void refuse_the_rest() const {
        for (const auto& [argument, value] : arguments_) {
            if (is_of_earlier_release(argument)) {
                refuse(argument, "an argument of earlier releases", "those of Megatron-LM of August 2026");
            }
            if (!read_.contains(argument) && !changes_no_cost(argument)) {
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
