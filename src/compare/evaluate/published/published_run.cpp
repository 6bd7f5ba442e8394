/// @file Cases read as they are: what is named is checked, what is not is passed over.
#include "compare/evaluate/published/published_run.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kLargest = 1e15, kGi = 1024.0 * 1024 * 1024;
constexpr int kLargestCount = 100'000'000;

std::optional<JsonValue> member(const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> found = object.find(key);
    return found && !found->is_null() ? found : std::nullopt;
}

std::string text_of(const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> found = member(object, key);
    return found ? found->as_string() : "";
}

/// Also true, false, a number, or a list of these: "a, b". An empty list is "none".
std::string words_of(const JsonValue& object, std::string_view key) {
    const auto word = [](const JsonValue& v) { return v.is_bool() || v.is_number() ? v.dump() : v.as_string(); };
    const std::optional<JsonValue> found = member(object, key);
    if (!found || !found->is_array()) {
        return found ? word(*found) : "";
    }
    std::string words;
    for (const JsonValue& one : found->elements()) {
        words += (words.empty() ? "" : ", ") + word(one);
    }
    return words.empty() ? "none" : words;
}

double number_of(const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> found = member(object, key);
    return found ? found->as_number(0, kLargest) : 0;
}

int count_of(const JsonValue& object, std::string_view key, int otherwise = 0) {
    const std::optional<JsonValue> found = member(object, key);
    return found ? static_cast<int>(found->as_integer(0, kLargestCount)) : otherwise;
}

/// Of a kind of parallelism; 1 where the case does not say.
int ranks_of(const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> found = member(object, key);
    return found ? static_cast<int>(found->as_integer(1, kLargestCount)) : 1;
}

int required_count(const JsonValue& object, std::string_view key) {
    return static_cast<int>(object.at(key).as_integer(1, kLargestCount));
}

PublishedRun::Model model_of(const JsonValue& v) {
    PublishedRun::Model model;
    model.name = text_of(v, "name");
    model.activation = text_of(v, "activation");
    model.attention = text_of(v, "attention");
    model.position = text_of(v, "position");
    model.window = text_of(v, "sliding_window");
    model.layers = required_count(v, "layers");
    model.hidden = required_count(v, "hidden");
    constexpr double kBillion = 1e9;
    model.parameters = kBillion * number_of(v, "params_b");
    model.heads = count_of(v, "heads");
    model.kv_heads = count_of(v, "kv_heads", model.heads);
    model.head_size = count_of(v, "head_dim", model.heads > 0 ? model.hidden / model.heads : 0);
    model.has_head_size = member(v, "head_dim").has_value();
    model.ffn = count_of(v, "ffn");
    model.vocab = required_count(v, "vocab");
    model.sequence = required_count(v, "seq");
    model.experts = count_of(v, "experts");
    model.top_k = count_of(v, "topk");
    model.expert_ffn = count_of(v, "moe_ffn", model.ffn);
    model.shared_experts = count_of(v, "shared_experts");
    model.dense_layers = count_of(v, "dense_layers");
    model.expert_groups = count_of(v, "expert_groups");
    model.top_k_groups = count_of(v, "topk_groups");
    model.q_rank = count_of(v, "q_lora_rank");
    model.kv_rank = count_of(v, "kv_lora_rank");
    model.rope_head_size = count_of(v, "qk_rope_dim");
    model.plain_head_size = count_of(v, "qk_nope_dim");
    model.value_head_size = count_of(v, "v_head_dim");
    if (const auto tied = member(v, "tied_embeddings")) {
        model.tied_embeddings = tied->as_bool();
    }
    model.is_ffn_assumed = model.ffn == 0 && model.experts == 0 && !says_gated(model).value_or(false);
    if (model.is_ffn_assumed) {
        constexpr int kOfHidden = 4;
        model.ffn = kOfHidden * model.hidden;
    }
    return model;
}

PublishedRun::Plan plan_of(const JsonValue& v) {
    PublishedRun::Plan plan;
    plan.tp = ranks_of(v, "tp");
    plan.pp = ranks_of(v, "pp");
    plan.cp = ranks_of(v, "cp");
    plan.ep = ranks_of(v, "ep");
    plan.etp = count_of(v, "etp");
    plan.virtual_stages = count_of(v, "vpp");
    plan.micro_batch = count_of(v, "micro_batch");
    plan.global_batch = required_count(v, "global_batch");
    plan.accumulation = count_of(v, "ga");
    if (const auto sliced = member(v, "seq_parallel")) {
        plan.sequence_parallel = sliced->as_bool();
    }
    plan.capacity_factor = number_of(v, "capacity_factor");
    plan.zero = words_of(v, "zero");
    plan.overlap = words_of(v, "overlap");
    plan.recompute = words_of(v, "recompute");
    plan.schedule = words_of(v, "schedule");
    if (const auto fsdp = member(v, "fsdp")) {
        plan.fsdp = fsdp->is_bool() ? static_cast<int>(fsdp->as_bool()) : count_of(v, "fsdp");
    }
    if (const auto compiled = member(v, "compile")) {
        plan.is_compiled = compiled->as_bool();
    }
    return plan;
}

PublishedRun::Measured measured_of(const JsonValue& v, const std::optional<JsonValue>& derived) {
    PublishedRun::Measured measured;
    measured.step_s = number_of(v, "step_time_s");
    if (measured.step_s <= 0) {
        measured.step_s = number_of(v, "step_time_from_formula_s");
    }
    measured.samples_per_s = number_of(v, "samples_per_s");
    measured.tokens_per_s_per_gpu = number_of(v, "tokens_per_s_per_gpu");
    measured.tflops_per_gpu = number_of(v, "tflops_per_gpu");
    if (const std::optional<JsonValue> mfu = member(v, "mfu")) {
        measured.mfu = mfu->as_number(0, 1);
    }
    measured.flop_kind = text_of(v, "tflops_kind");
    measured.peak_memory_bytes = kGi * number_of(v, "peak_mem_gib");
    if (derived) {
        measured.derived_step_s = number_of(*derived, "step_time_s");
    }
    return measured;
}

PublishedRun run_of(const JsonValue& v) {
    PublishedRun run;
    run.id = v.at("id").as_string();
    run.source_key = text_of(v, "source_key");
    run.source = v.at("source").as_string();
    run.system = text_of(v, "machine");
    const JsonValue hardware = v.at("hardware");
    run.gpu = hardware.at("gpu").as_string();
    run.nics = text_of(hardware, "nics");
    run.gpus_per_node = count_of(hardware, "gpus_per_node");
    run.scale_up_gpus = count_of(hardware, "nvlink_domain", run.gpus_per_node);
    run.gpus = required_count(v, "gpus");
    run.precision = text_of(v, "precision");
    run.framework = v.at("framework").as_string();
    if (const auto notes = member(v, "notes"); notes && notes->is_string()) {
        run.notes = notes->as_string();
    }
    run.flop_convention = text_of(v, "how_flops_counted");
    if (const auto files = member(v, "files")) {
        run.workload_file = files->at("workload").as_string();
        run.plan_file = files->at("plan").as_string();
    }
    run.model = model_of(v.at("model"));
    run.plan = plan_of(v.at("plan"));
    run.plan.is_compiled = run.plan.is_compiled || (!member(v.at("plan"), "compile") && says(run.framework, "compile"));
    run.measured = measured_of(v.at("measured"), member(v, "derived"));
    return run;
}

}  // namespace

std::vector<PublishedRun> load_published_runs(const JsonDocument& document) {
    std::vector<PublishedRun> runs;
    std::set<std::string> ids;
    for (const JsonValue& value : document.root().elements()) {
        runs.push_back(run_of(value));
        if (!ids.insert(runs.back().id).second) {
            value.at("id").fail("an id of its own: another case has it");
        }
    }
    return runs;
}

std::optional<bool> says_gated(const PublishedRun::Model& m) {
    const std::string words = lower_case(m.activation);
    const Said gate = said_of(words, "gate");
    if (gate == Said::kDenied) {
        return false;
    }
    if (gate == Said::kYes || has(words, "glu") || has(words, "silu") || has(words, "swish")) {
        return true;
    }
    return has(words, "gelu") || has(words, "relu") ? std::optional(false) : std::nullopt;
}

bool is_swiglu(const PublishedRun::Model& m) {
    constexpr int kPlain = 4;
    if (const std::optional<bool> said = says_gated(m); said || m.experts == 0) {
        return said.value_or(m.ffn != kPlain * m.hidden);
    }
    const double h = m.hidden, mixtures = m.layers - m.dense_layers;
    const double matrix =
        h * (m.dense_layers * static_cast<double>(m.ffn) + mixtures * (m.experts + m.shared_experts) * m.expert_ffn);
    const double rest = 2 * h * (m.layers * static_cast<double>(m.heads + m.kv_heads) * m.head_size + m.vocab);
    const auto miss = [&](int matrices) { return std::abs(matrices * matrix + rest - m.parameters); };
    return m.parameters <= 0 || miss(3) <= miss(2);
}

}  // namespace auspex::evaluate
