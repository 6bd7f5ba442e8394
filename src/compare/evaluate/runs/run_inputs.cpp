/// @file Words of cases, as this project's words.
#include "compare/evaluate/runs/run_inputs.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"

namespace auspex::evaluate {

namespace {

/// "ZeRO-1", "zero stage 1" and "Stage 1" are "1".
std::string zero_words(const PublishedRun& run) {
    std::string words = lower_case(run.plan.zero);
    for (const std::string_view name : {"zero", "stage"}) {
        if (words.starts_with(name)) {
            words.erase(0, name.size());
            words.erase(0, words.find_first_not_of(" -_="));
        }
    }
    return words;
}

}  // namespace

bool is_recompute_unstated(const PublishedRun& run) {
    const std::string said = lower_case(run.plan.recompute);
    return said.empty() || said.starts_with("see ") || said.starts_with("not stated") || said.starts_with("unstated") ||
           said.starts_with("unknown") || said.starts_with("n/a");
}
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

[[noreturn]] void refuse(const PublishedRun& run, const std::string& found, const std::string& expected) {
    throw InputError(run.id, "found " + found + "; expected " + expected);
}

void write_attention(JsonWriter& json, const PublishedRun::Model& m) {
    if (m.attention == "MLA") {
        json.member("attention", "latent").member("kv_heads", m.heads).member("head_size", m.plain_head_size);
        json.member("q_rank", m.q_rank).member("kv_rank", m.kv_rank).member("rope_head_size", m.rope_head_size);
        json.member("value_head_size", m.value_head_size);
        return;
    }
    json.member("attention", "multi-head").member("kv_heads", m.kv_heads).member("head_size", m.head_size);
}

void write_window(JsonWriter& json, const PublishedRun& run) {
    const PublishedRun::Model& m = run.model;
    if (m.window.empty()) {
        return;
    }
    const int tokens = std::atoi(m.window.c_str());
    if (tokens < 1 || !has(m.window, "alternate layers")) {
        refuse(run, "sliding_window " + json_quote(m.window), "TOKENS on alternate layers");
    }
    json.member("window", tokens).member("windowed_layers", m.layers / 2);
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
            refuse(run, "no inner width of dense layers", "model.ffn");
        }
        json.member("intermediate_size", m.ffn);
    }
    if (m.experts == 0) {
        return;
    }
    if (m.expert_ffn < 1 || m.top_k < 1) {
        refuse(run, "experts without model.moe_ffn or model.topk", "both");
    }
    json.member("num_experts", m.experts).member("top_k", m.top_k).member("expert_size", m.expert_ffn);
    json.member("shared_experts", m.shared_experts).member("first_dense_layers", m.dense_layers);
    write_expert_groups(json, m, notes);
    write_capacity(json, run, framework, notes);
}

std::string workload_of(const PublishedRun& run, const RunNames::Framework& framework,
                        std::vector<std::string>& notes) {
    const PublishedRun::Model& m = run.model;
    if (m.heads < 1) {
        refuse(run, "no number of attention heads", "model.heads");
    }
    if (m.head_size * m.heads != m.hidden && !m.has_head_size && m.attention != "MLA") {
        notes.push_back("hidden is no multiple of heads: heads of " + std::to_string(m.head_size) + " are assumed");
    }
    const bool swiglu = is_swiglu(m);
    if (m.activation.empty()) {
        notes.push_back(swiglu ? "SwiGLU is assumed" : "GELU is assumed");
    } else if (m.activation != "swiglu" && m.activation != "gelu") {
        notes.push_back(m.activation + (swiglu ? " is taken as SwiGLU" : " is taken as GELU"));
    }
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source);
        json.member("layers", m.layers).member("hidden_size", m.hidden).member("heads", m.heads);
        write_attention(json, m);
        json.member("norm", swiglu ? "rms" : "layer").member("feed_forward", swiglu ? "swiglu" : "gelu");
        json.member("biases", !swiglu).member("learned_positions", !swiglu && m.position.empty());
        write_experts(json, run, framework, notes);
        write_window(json, run);
        json.member("vocab_size", m.vocab).member("tied_embeddings", m.tied_embeddings.value_or(!swiglu));
        json.member("sequence_length", m.sequence).end_object();
    }
    return out.str();
}

std::string optimizer_of(const PublishedRun& run, const RunNames::Framework& framework) {
    const std::string zero = zero_words(run);
    if (run.plan.is_fsdp || zero.starts_with("3") || has(zero, "fsdp")) {
        return run.plan.pp > 1 && !framework.sharded_with_stages.empty() ? framework.sharded_with_stages : "fsdp";
    }
    if (zero.starts_with("2")) {
        return "zero-2";
    }
    if (zero.starts_with("1") || has(zero, "distributed_optimizer") || has(zero, "distributed optimizer")) {
        return run.plan.ep > 1 ? framework.sharded_with_experts : "sharded";
    }
    if (zero.empty()) {
        return framework.optimizer_unstated;
    }
    if (zero.starts_with("none") || zero.starts_with("0")) {
        return "replicated";
    }
    refuse(run, "zero " + json_quote(run.plan.zero), "one that begins with none, 0, 1, 2, 3 or distributed_optimizer");
}

/// ZeRO++ keeps a second copy of the weights in each node (hpZ), from which the backward pass gathers them. 0: it does
/// not.
int reshard_ranks_of(const PublishedRun& run, int data_parallel, std::vector<std::string>& notes) {
    if (!has(run.plan.zero, "hierarchical") && !has(run.plan.zero, "hpZ")) {
        return 0;
    }
    if (run.gpus_per_node > 1 && data_parallel % run.gpus_per_node == 0) {
        return run.gpus_per_node;
    }
    notes.emplace_back("hpZ is left out: nodes do not divide the data-parallel ranks");
    return 0;
}

std::vector<std::string> recompute_of(const PublishedRun& run, const RunNames::Framework& framework,
                                      std::vector<std::string>& notes) {
    if (run.plan.recompute_choice) {
        return *run.plan.recompute_choice;
    }
    std::string said = lower_case(run.plan.recompute);
    if (is_recompute_unstated(run)) {
        said = framework.recompute_unstated;
        notes.push_back("recompute " + said + " is assumed");
    }
    if (said.starts_with("none")) {
        return {};
    }
    if (said.starts_with("full")) {
        return {"layer"};
    }
    if (said.starts_with("selective")) {
        return framework.selective;
    }
    refuse(run, "recompute " + json_quote(run.plan.recompute), "full, selective, none, or nothing stated");
}

std::string fp8_of(const PublishedRun& run) {
    const std::string precision = lower_case(run.precision);
    if (has(precision, "fp4")) {
        return "nvfp4";
    }
    if (has(precision, "finer granularity") || has(precision, "block") || has(precision, "mx") ||
        has(run.precision, "-SC")) {
        return "blockwise";
    }
    if (has(precision, "fp8")) {
        return "tensorwise";
    }
    for (const char* const word : {"bf16", "bfloat16", "fp16", "float16"}) {
        if (has(precision, word)) {
            return "none";
        }
    }
    refuse(run, "precision " + json_quote(run.precision), "one with bf16, fp16, fp8 or fp4 in it");
}

/// Micro-batches of a step; a last one that is smaller counts as a whole one.
int micro_batches_of(const PublishedRun& run, int data_parallel, int micro_batch, std::vector<std::string>& notes) {
    const int sequences = run.plan.global_batch / data_parallel;
    if (sequences < 1 || run.plan.global_batch % data_parallel != 0) {
        refuse(run, "global_batch " + std::to_string(run.plan.global_batch),
               "a multiple of the " + std::to_string(data_parallel) + " data-parallel ranks");
    }
    const int whole = (sequences + micro_batch - 1) / micro_batch;
    if (whole * micro_batch != sequences) {
        notes.push_back("the last micro-batch is smaller: it is taken as whole");
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

/// Streams that there are: tp and pp only with ranks of their own.
std::vector<std::string> overlap_of(const PublishedRun& run, const RunNames::Framework& framework) {
    const PublishedRun::Plan& plan = run.plan;
    std::vector<std::string> streams;
    for (const std::string& stream :
         optimizer_of(run, framework) == "fsdp" ? framework.overlap_sharded : framework.overlap) {
        const bool is_there =
            (stream != "tp" || plan.tp > 1) && (stream != "pp" || plan.pp > 1) && (stream != "ep" || plan.ep > 1);
        if (is_there && !plan.overlap.starts_with("none")) {
            streams.push_back(stream);
        }
    }
    return streams;
}

std::string dispatch_of(const PublishedRun& run, const RunNames::Framework& framework, int etp) {
    const bool is_between_nodes = run.scale_up_gpus > 0 && run.plan.ep * etp > run.scale_up_gpus;
    return is_between_nodes && !framework.dispatch_between_nodes.empty() ? framework.dispatch_between_nodes
                                                                         : framework.dispatch;
}

/// Layers of equal stages, or with embedding and head counted as layers where only that divides them; empty: neither.
std::string equal_stages(int layers, int stages) {
    return layers % stages == 0         ? "even"
           : (layers + 2) % stages == 0 ? "even-with-both"
           : (layers + 1) % stages == 0 ? "even-with-head"
                                        : "";
}

/// Virtual stages of a rank: where the case does not say, as many as divide its layers, and the framework's at most;
/// two at least where its schedule is interleaved, one where it says 1f1b.
int virtual_stages_of(const PublishedRun& run, const RunNames::Framework& framework, std::vector<std::string>& notes) {
    if (run.plan.virtual_stages > 0 || run.plan.pp == 1 || run.plan.schedule == "1f1b") {
        return std::max(1, run.plan.virtual_stages);
    }
    const int wanted = std::max(has(run.plan.schedule, "int") ? 2 : 1, framework.most_virtual_stages);
    int stages = std::min(wanted, std::max(1, run.model.layers / run.plan.pp));
    while (stages > 1 && equal_stages(run.model.layers, run.plan.pp * stages).empty()) {
        --stages;
    }
    if (stages > 1) {
        notes.push_back(std::to_string(stages) + " virtual stages a rank are assumed");
    }
    return stages;
}

std::string stages_of(const PublishedRun& run, int virtual_stages) {
    const std::string equal = equal_stages(run.model.layers, run.plan.pp * virtual_stages);
    return equal.empty() ? "by-cost" : equal;
}

std::string plan_of(const PublishedRun& run, const RunNames::Framework& framework, std::vector<std::string>& notes) {
    const PublishedRun::Plan& plan = run.plan;
    const int etp = plan.etp > 0 ? plan.etp : plan.ep > 1 ? 1 : plan.tp;
    const int replica = plan.pp * plan.ep * etp, dense_replica = plan.pp * plan.tp * plan.cp;
    if (run.gpus % replica != 0 || run.gpus % dense_replica != 0) {
        refuse(run, std::to_string(run.gpus) + " GPUs",
               "a multiple of pp ep etp, " + std::to_string(replica) + ", and of pp tp cp, " +
                   std::to_string(dense_replica));
    }
    const int data_parallel = run.gpus / dense_replica, micro_batch = plan.micro_batch > 0 ? plan.micro_batch : 1;
    std::ostringstream out;
    {
        JsonWriter json(out, JsonLayout::kOneLine);
        json.begin_object().member("source", run.source).member("dp", run.gpus / replica);
        json.member("tp", plan.tp).member("pp", plan.pp).member("cp", plan.cp).member("ep", plan.ep);
        json.member("etp", etp).member("sequence_parallel", plan.sequence_parallel && plan.tp > 1);
        json.member("micro_batch_size", micro_batch);
        json.member("micro_batches", micro_batches_of(run, data_parallel, micro_batch, notes));
        const int virtual_stages = virtual_stages_of(run, framework, notes);
        const bool is_interleaved = virtual_stages > 1 && plan.pp > 1;
        json.member("schedule", is_interleaved ? "interleaved-1f1b" : "1f1b");
        if (is_interleaved) {
            json.member("virtual_stages", virtual_stages);
        }
        if (plan.pp > 1) {
            json.member("stages", stages_of(run, virtual_stages));
        }
        write_texts(json, "recompute", recompute_of(run, framework, notes));
        json.member("precision", "bf16").member("gradient_dtype", framework.gradient_dtype);
        if (run.plan.zero.empty() && !run.plan.is_fsdp) {
            notes.push_back("optimizer " + framework.optimizer_unstated + " is assumed");
        }
        const std::string fp8 = fp8_of(run);
        json.member("fp8", fp8).member("optimizer", optimizer_of(run, framework));
        const bool is_sharded = optimizer_of(run, framework) == "fsdp";  // cast as they are gathered
        if (!is_sharded && std::ranges::find(framework.fp8_weights_only, fp8) != framework.fp8_weights_only.end()) {
            json.member("fp8_weights", "only");
        }
        if (const int ranks = reshard_ranks_of(run, data_parallel, notes); ranks > 0) {
            json.member("reshard_after_forward", ranks);
        }
        json.member("dispatch", dispatch_of(run, framework, etp)).member("expert_kernels", framework.expert_kernels);
        json.member("routing", "uniform");
        write_texts(json, "overlap", overlap_of(run, framework));
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
