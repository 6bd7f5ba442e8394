/// @file Words of cases, as this project's words.
#include "compare/evaluate/runs/run_inputs.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "base/text/text_list.hpp"
#include "compare/evaluate/runs/run_recompute.hpp"
#include "compare/evaluate/runs/run_schedule.hpp"
#include "compare/evaluate/runs/run_sharding.hpp"
#include "compare/evaluate/words/overlap_words.hpp"
#include "compare/evaluate/words/precision_words.hpp"
#include "compare/evaluate/words/window_words.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {

namespace {

void write_attention(JsonWriter& json, const PublishedRun& run, std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.attention == "MLA") {
        json.member("attention", "latent").member("kv_heads", m.heads).member("head_size", m.plain_head_size);
        json.member("q_rank", m.q_rank).member("kv_rank", m.kv_rank).member("rope_head_size", m.rope_head_size);
        json.member("value_head_size", m.value_head_size);
        return;
    }
    const bool are_copied = m.kv_heads > 0 && m.kv_heads < run.plan.tp && run.plan.tp % m.kv_heads == 0;
    if (are_copied) {
        notes.push_back("each of tp " + std::to_string(run.plan.tp) +
                        " ranks has a head of keys and values, copies of " + std::to_string(m.kv_heads));
    }
    json.member("attention", "multi-head").member("kv_heads", are_copied ? run.plan.tp : m.kv_heads);
    json.member("head_size", m.head_size);
}

void write_window(JsonWriter& json, const PublishedRun& run) {
    const std::optional<StatedWindow> window = window_in(run.model.window, run.model.layers);
    if (!window) {
        refuse(run.id, "sliding_window " + json_quote(run.model.window),
               "TOKENS, alone or with \"on alternate layers\", \"on every layer\" or \"on N of M layers\"");
    }
    if (window->layers > 0 && window->tokens < run.model.sequence) {
        json.member("window", window->tokens).member("windowed_layers", window->layers);
    }
}

/// Routing limited to some groups of experts: as the case says, or as DeepSeek-V3 has it (arXiv:2412.19437,
/// section 2.1.2: 4 of 8).
void write_expert_groups(JsonWriter& json, const PublishedRun::Model& m, std::vector<std::string>& notes) {
    constexpr int kExperts = 256, kGroups = 8, kChosen = 4;
    const bool is_known = m.expert_groups == 0 && m.name.starts_with("deepseek-v3") && m.experts == kExperts;
    if (is_known) {
        notes.emplace_back("experts of 4 of 8 groups are assumed");
    }
    if (is_known || m.expert_groups > 0) {
        json.member("expert_groups", is_known ? kGroups : m.expert_groups);
        json.member("top_k_groups", is_known ? kChosen : m.top_k_groups);
    }
}

/// As the case says, or where the framework cannot do without one, its default.
void write_capacity(JsonWriter& json, const PublishedRun& run, const RunNames::Framework& framework,
                    std::vector<std::string>& notes) {
    const bool is_stated = run.plan.capacity_factor > 0;
    const double factor = is_stated ? run.plan.capacity_factor : framework.capacity_unstated;
    if (factor <= 0) {
        return;
    }
    if (!is_stated) {
        notes.push_back("capacity_factor " + json_number(factor) + " is assumed");
    }
    json.member("capacity_factor", factor).member("pad_to_capacity", framework.pads_to_capacity);
}

void write_experts(JsonWriter& json, const PublishedRun& run, const RunNames::Framework& framework,
                   std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.experts == 0 || m.dense_layers > 0) {
        if (m.ffn < 1) {
            refuse(run.id, "no inner width of dense layers", "model.ffn");
        }
        json.member("intermediate_size", m.ffn);
    }
    if (m.is_ffn_assumed) {
        notes.emplace_back("an inner width of 4 hidden is assumed");
    }
    if (m.experts == 0) {
        if (m.top_k > 0) {
            notes.emplace_back("topk is passed over: without experts the model is dense");
        }
        return;
    }
    if (m.expert_ffn < 1 || m.top_k < 1) {
        refuse(run.id, "experts without model.moe_ffn or model.topk", "both");
    }
    if (m.are_experts_assumed) {
        notes.push_back("experts as wide as ffn, " + std::to_string(m.expert_ffn) + ", are assumed");
    }
    json.member("num_experts", m.experts).member("top_k", m.top_k).member("expert_size", m.expert_ffn);
    json.member("shared_experts", m.shared_experts).member("first_dense_layers", m.dense_layers);
    if (m.expert_interval > 1) {
        if (run.plan.pp > 1) {
            refuse(run.id,
                   "moe_layer_freq " + std::to_string(m.expert_interval) + " with pp " + std::to_string(run.plan.pp),
                   "pp 1: models have all dense layers in front, which makes stages unequal");
        }
        notes.push_back("experts in one of every " + std::to_string(m.expert_interval) +
                        " layers are taken as those of the last ones, behind all dense layers");
    }
    write_expert_groups(json, m, notes);
    write_capacity(json, run, framework, notes);
}

bool is_squared_relu(const PublishedRun::Model& m) {
    const std::string words = lower_case(m.activation);
    return has(words, "relu") && (has(words, "squared") || has(words, "relu2") || has(words, "relu^2"));
}

void note_activation(const PublishedRun::Model& m, bool swiglu, std::vector<std::string>& notes) {
    const std::string words = lower_case(m.activation), taken = swiglu ? "SwiGLU" : "GELU";
    if (!says_gated(m)) {
        notes.push_back((m.activation.empty() ? "" : json_quote(m.activation) + " is not known: ") + taken +
                        " is assumed");
    } else if (words != "swiglu" && words != "gelu") {
        notes.push_back(m.activation + " is taken as " + taken);
    }
}

/// As the case says, or as gpt-oss has them (config.json: attention_bias, and biases of its experts); else those of
/// GPT.
bool has_biases(const PublishedRun::Model& m, bool is_gpt, std::vector<std::string>& notes) {
    std::string name = lower_case(m.name);
    std::ranges::replace(name, '_', '-');
    const bool is_known = !m.biases && has(name, "gpt-oss");
    if (is_known) {
        notes.emplace_back("biases are assumed");
    }
    return m.biases.value_or(is_gpt || is_known);
}

std::string workload_of(const PublishedRun& run, const RunNames::Framework& framework,
                        std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    constexpr double kMostTokens = 1e9;  // the largest batches published are of 60 M
    if (1.0 * run.plan.global_batch * m.sequence > kMostTokens) {
        refuse(run.id, "global_batch " + std::to_string(run.plan.global_batch), "sequences of a step, not its tokens");
    }
    if (m.heads < 1) {
        refuse(run.id, "no number of attention heads", "model.heads");
    }
    if (m.head_size * m.heads != m.hidden && !m.has_head_size && m.attention != "MLA") {
        notes.push_back("hidden is no multiple of heads: heads of " + std::to_string(m.head_size) + " are assumed");
    }
    const bool swiglu = is_swiglu(m);
    if (swiglu && m.is_kv_assumed && m.attention != "MLA") {
        notes.push_back(std::to_string(m.kv_heads) + " heads of keys and values, as of queries, are assumed");
    }
    note_activation(m, swiglu, notes);
    const bool is_gpt = !swiglu && !is_squared_relu(m);  // those with squared ReLU are like SwiGLU's in all else
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source);
        json.member("layers", m.layers).member("hidden_size", m.hidden).member("heads", m.heads);
        write_attention(json, run, notes);
        json.member("norm", swiglu ? "rms" : "layer").member("feed_forward", swiglu ? "swiglu" : "gelu");
        json.member("biases", has_biases(m, is_gpt, notes)).member("learned_positions", is_gpt && m.position.empty());
        write_experts(json, run, framework, notes);
        write_window(json, run);
        if (m.prediction_layers > 0) {
            json.member("mtp_layers", m.prediction_layers);
        }
        json.member("vocab_size", m.vocab).member("tied_embeddings", m.tied_embeddings.value_or(is_gpt));
        json.member("sequence_length", m.sequence).end_object();
    }
    return out.str();
}

/// Of gradients as they are summed, by Composer's name of FSDP's mixed precision where the case has it: PURE is that of
/// the weights, DEFAULT fp32. FULL, which gathers in fp32, too, no plan has a word for.
std::string gradient_dtype_of(const PublishedRun& run, const RunNames::Framework& framework, const std::string& weights,
                              std::vector<std::string>& notes) {
    const std::vector<std::string> mode = words_in(run.plan.mixed_precision);
    const bool is_known = mode.size() == 1 && is_one_of(mode[0], {"pure", "default"});
    if (!is_known && !is_unstated(run.plan.mixed_precision)) {
        notes.push_back("mp_mode " + json_quote(run.plan.mixed_precision) +
                        " is passed over; PURE and DEFAULT are known");
    }
    const std::string stated = !is_known ? framework.gradient_dtype : mode[0] == "pure" ? weights : "fp32";
    return weights == "fp32" ? weights : stated;
}

StatedPrecision precision_of(const PublishedRun& run, const RunNames::Framework& framework) {
    StatedPrecision precision = precision_in(run.precision, framework.fp8);
    if (!precision.refused.empty()) {
        refuse(run.id, "precision " + json_quote(run.precision), precision.refused);
    }
    return precision;
}

/// Micro-batches of a step; a last one that is smaller counts as a whole one.
int micro_batches_of(const PublishedRun& run, int data_parallel, int micro_batch, std::vector<std::string>& notes) {
    const int sequences = run.plan.global_batch / data_parallel;
    if (sequences < 1 || run.plan.global_batch % data_parallel != 0) {
        refuse(run.id, "global_batch " + std::to_string(run.plan.global_batch),
               "a multiple of the " + std::to_string(data_parallel) + " data-parallel ranks");
    }
    const int whole = (sequences + micro_batch - 1) / micro_batch;
    if (whole * micro_batch != sequences) {
        notes.push_back("the last micro-batch is smaller: it is taken as whole, " +
                        std::to_string(whole * micro_batch * data_parallel) + " sequences a step for " +
                        std::to_string(run.plan.global_batch));
    }
    return whole;
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).begin_array();
    for (const std::string& text : texts) {
        json.value(text);
    }
    json.end_array();
}

/// Streams that there are, tp, pp and ep only with ranks of their own, and run beside compute by what the case says or,
/// where it says nothing of them, as the framework is used.
std::vector<std::string> overlap_of(const PublishedRun& run, const RunNames::Framework& framework,
                                    const std::string& optimizer, std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    const OverlapSaid said = is_unstated(plan.overlap) ? OverlapSaid{} : overlap_said(plan.overlap);
    const std::vector<std::string>& usual = optimizer == "fsdp" ? framework.overlap_sharded : framework.overlap;
    const auto has = [](const std::vector<std::string>& list, const char* stream) {
        return std::ranges::find(list, stream) != list.end();
    };
    std::vector<std::string> streams, left_out;
    for (const auto& [stream, is_there] :
         {std::pair("dp", true), {"tp", plan.tp > 1}, {"pp", plan.pp > 1}, {"ep", plan.ep > 1}}) {
        const bool is_usual = has(usual, stream), is_possible = is_usual || has(framework.overlap_stated, stream);
        const bool is_wanted = has(said.named, stream) || (is_usual && !said.is_list && !has(said.without, stream));
        if (is_there && is_wanted && !said.is_none) {
            (is_possible ? streams : left_out).emplace_back(stream);
        }
    }
    const std::string taken = streams.empty() ? "nothing" : joined(streams, ", ");
    if (is_unstated(plan.overlap)) {
        notes.push_back("overlap of " + taken + " is assumed, as the framework is used");
    } else if (!said.is_none && said.named.empty() && said.without.empty()) {
        notes.push_back("overlap " + json_quote(plan.overlap) + " names no stream: of " + taken +
                        " is assumed, as the framework is used");
    }
    if (!left_out.empty()) {
        notes.push_back("overlap of " + joined(left_out, ", ") + ", which the case names, is not taken: stack " +
                        framework.stack + " has it not, or not as it is used here");
    }
    return streams;
}

std::string dispatch_of(const PublishedRun& run, const RunNames::Framework& framework, int etp) {
    const bool is_between_nodes = run.scale_up_gpus > 0 && run.plan.ep * etp > run.scale_up_gpus;
    return is_between_nodes && !framework.dispatch_between_nodes.empty() ? framework.dispatch_between_nodes
                                                                         : framework.dispatch;
}

void append(std::vector<std::string>& notes, std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(notes));
}

void write_schedule(JsonWriter& json, const RunSchedule& schedule) {
    json.member("schedule", schedule.word);
    if (schedule.virtual_stages > 1) {
        json.member("virtual_stages", schedule.virtual_stages);
    }
    if (!schedule.stages.empty()) {
        json.member("stages", schedule.stages);
    }
}

void write_recompute(JsonWriter& json, const RunRecompute& recompute) {
    write_texts(json, "recompute", recompute.words);
    if (recompute.layers > 0) {
        json.member("recompute_layers", recompute.layers);
    }
}

void write_sharding(JsonWriter& json, const RunSharding& sharding) {
    json.member("optimizer", sharding.optimizer);
    if (sharding.replicas > 1) {
        json.member("shard_replicas", sharding.replicas);
    }
    if (sharding.reshard_ranks > 0) {
        json.member("reshard_after_forward", sharding.reshard_ranks);
    } else if (sharding.keeps_weights) {
        json.member("reshard_after_forward", false);
    }
}

/// As the case says, or as the framework is used. Megatron-Core refuses to train mixtures on tensor-parallel ranks
/// without (megatron/core/transformer/moe/moe_layer.py: MoELayer.forward).
bool has_sequence_parallel(const PublishedRun& run, const RunNames::Framework& framework,
                           std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    if (plan.tp == 1) {
        return false;
    }
    const bool is_had = plan.sequence_parallel.value_or(framework.sequence_parallel_unstated);
    const bool is_needed = framework.experts_need_sequence_parallel && run.model.experts > 0;
    if (is_needed && !plan.sequence_parallel.value_or(false)) {
        notes.push_back(std::string("sequence parallelism is assumed, ") +
                        (plan.sequence_parallel ? "though the case denies it" : "which the case does not state") +
                        ": mixtures with tp above 1 do not run without in this framework");
    } else if (!plan.sequence_parallel) {
        notes.emplace_back(is_had ? "sequence parallelism is assumed" : "no sequence parallelism is assumed");
    }
    return is_had || is_needed;
}

std::string plan_of(const PublishedRun& run, const RunNames::Framework& framework, std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    const int etp = plan.etp > 0 ? plan.etp : plan.ep > 1 ? 1 : plan.tp;
    if (plan.etp == 0 && plan.ep > 1 && plan.tp > 1) {
        notes.emplace_back("etp 1 is assumed");
    }
    const int replica = plan.pp * plan.ep * etp, dense_replica = plan.pp * plan.tp * plan.cp;
    if (run.gpus % replica != 0 || run.gpus % dense_replica != 0) {
        refuse(run.id, std::to_string(run.gpus) + " GPUs",
               "a multiple of pp ep etp, " + std::to_string(replica) + ", and of pp tp cp, " +
                   std::to_string(dense_replica));
    }
    const int data_parallel = run.gpus / dense_replica, micro_batch = plan.micro_batch > 0 ? plan.micro_batch : 1;
    if (plan.data_parallel > 0 && plan.data_parallel != data_parallel && plan.data_parallel != run.gpus / replica) {
        notes.push_back("dp " + std::to_string(plan.data_parallel) + " is passed over: " + std::to_string(run.gpus) +
                        " GPUs make " + std::to_string(data_parallel));
    }
    const RunSharding sharding = sharding_of(run, framework, {data_parallel, run.gpus / replica});
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source).member("dp", run.gpus / replica);
        json.member("tp", plan.tp).member("pp", plan.pp).member("cp", plan.cp).member("ep", plan.ep);
        json.member("etp", etp).member("sequence_parallel", has_sequence_parallel(run, framework, notes));
        json.member("micro_batch_size", micro_batch);
        const int micro_batches = micro_batches_of(run, data_parallel, micro_batch, notes);
        json.member("micro_batches", micro_batches);
        const RunSchedule schedule = schedule_of(run, framework, micro_batches);
        append(notes, schedule.notes);
        write_schedule(json, schedule);
        const RunRecompute recompute = recompute_of(run, framework);
        append(notes, recompute.notes);
        write_recompute(json, recompute);
        if (plan.offloaded_layers > 0) {
            json.member("offload_layers", plan.offloaded_layers);
        }
        const StatedPrecision precision = precision_of(run, framework);
        append(notes, precision.notes);
        json.member("precision", precision.weights);
        json.member("gradient_dtype", gradient_dtype_of(run, framework, precision.weights, notes));
        append(notes, sharding.notes);
        json.member("fp8", precision.fp8);
        write_sharding(json, sharding);
        const bool is_sharded = sharding.optimizer == "fsdp";  // cast as they are gathered
        if (!is_sharded &&
            std::ranges::find(framework.fp8_weights_only, precision.fp8) != framework.fp8_weights_only.end()) {
            json.member("fp8_weights", "only");
        }
        json.member("dispatch", dispatch_of(run, framework, etp)).member("expert_kernels", framework.expert_kernels);
        json.member("routing", "uniform");
        write_texts(json, "overlap", overlap_of(run, framework, sharding.optimizer, notes));
        write_texts(json, "rank_order", {"pp", "dp", "ep", "tp"});
        json.member("placement", "contiguous").end_object();
    }
    return out.str();
}

}  // namespace

RunInputTexts run_inputs(const PublishedRun& run, const RunNames::Framework& framework) {
    RunInputTexts texts;
    texts.workload = workload_of(run, framework, texts.notes);
    texts.plan = plan_of(run, framework, texts.notes);
    return texts;
}

}  // namespace auspex::evaluate
