/// @file Cases read as they are: what is named is checked, what is not is passed over.
#include "compare/evaluate/published/published_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <regex>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/published/case_object.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;

/// Whose time does not grow with the square of the sequence, or of which another layer has none.
void refuse_other_attention(CaseObject& v, const std::string& attention) {
    for (const char* const word : {"linear", "mamba", "ssm", "rwkv", "retention", "lightning", "delta", "sparse"}) {
        if (says(attention, word)) {
            v.at("attention")
                .fail("attention of every pair of tokens, as \"GQA\" or \"MLA\", or none where it is that");
        }
    }
}

/// "MLA", "multi-head latent attention (MLA)", in any case, and nothing else.
bool is_latent(const std::string& attention) {
    const std::vector<std::string> words = words_in(attention);
    const auto is_there = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
    return (is_there("mla") || is_there("latent")) && std::ranges::all_of(words, [](const std::string& word) {
               return is_one_of(word, {"multi", "multihead", "head", "latent", "attention", "mla"});
           });
}

/// What the case does not say of its latents: as DeepSeek-V2 and V3 have them (arXiv:2405.04434, section 3.1.2;
/// arXiv:2412.19437, section 4.2), and as their small ones have it queries without a rank where the model is narrower.
void assume_latents(CaseObject& v, PublishedRun::Model& model) {
    constexpr int kKeyValueRank = 512, kQueryRank = 1536, kHidden = 5120, kHead = 128, kRotated = 64;
    if (model.kv_rank == 0 && !v.find("q_lora_rank") && model.hidden >= kHidden) {
        model.q_rank = kQueryRank;
    }
    const std::pair<int*, int> sizes[] = {{&model.kv_rank, kKeyValueRank},
                                          {&model.plain_head_size, kHead},
                                          {&model.value_head_size, kHead},
                                          {&model.rope_head_size, kRotated}};
    for (const auto& [size, known] : sizes) {
        model.are_latents_assumed = model.are_latents_assumed || *size == 0;
        *size = *size > 0 ? *size : known;
    }
}

PublishedRun::Model model_of(CaseObject& v) {
    PublishedRun::Model model;
    model.name = v.text("name");
    model.variant = v.words("variant");
    model.activation = v.text("activation");
    model.attention = v.text("attention");
    refuse_other_attention(v, model.attention);
    if (is_latent(model.attention)) {
        model.attention = "MLA";
    }
    model.position = v.text("position");
    model.window = v.words("sliding_window");
    model.layers = v.required_count("layers");
    model.hidden = v.required_count("hidden");
    constexpr double kBillion = 1e9;
    model.parameters = kBillion * v.number("params_b");
    model.heads = v.count("heads");
    model.kv_heads = v.count("kv_heads", model.heads);
    model.is_kv_assumed = !v.find("kv_heads");
    model.head_size = v.count("head_dim", model.heads > 0 ? model.hidden / model.heads : 0);
    model.has_head_size = v.find("head_dim").has_value();
    model.ffn = v.count("ffn");
    model.vocab = v.required_count("vocab");
    model.sequence = v.required_count("seq");
    model.experts = v.count("experts");
    model.top_k = v.count("topk");
    model.expert_ffn = v.count("moe_ffn", model.ffn);
    model.are_experts_assumed = model.experts > 0 && model.ffn > 0 && !v.find("moe_ffn");
    if (const auto predicts = v.find("mtp")) {
        model.prediction_layers = predicts->is_bool() ? static_cast<int>(predicts->as_bool()) : v.count("mtp");
    }
    model.shared_experts = v.count("shared_experts");
    model.expert_interval = v.count("moe_layer_freq", v.count("interleave_moe_layer_step"));
    const int of_interval = model.expert_interval > 1 ? model.layers - model.layers / model.expert_interval : 0;
    model.dense_layers = v.count("dense_layers", of_interval);
    model.expert_groups = v.count("expert_groups");
    model.top_k_groups = v.count("topk_groups");
    model.q_rank = v.count("q_lora_rank");
    model.kv_rank = v.count("kv_lora_rank");
    model.rope_head_size = v.count("qk_rope_dim");
    model.plain_head_size = v.count("qk_nope_dim");
    model.value_head_size = v.count("v_head_dim");
    if (model.attention == "MLA") {
        assume_latents(v, model);
    }
    model.biases = v.flag("biases");
    model.tied_embeddings = v.flag("tied_embeddings");
    model.is_ffn_assumed = model.ffn == 0 && model.experts == 0 && !says_gated(model).value_or(false);
    if (model.is_ffn_assumed) {
        constexpr int kOfHidden = 4;
        model.ffn = kOfHidden * model.hidden;
    }
    return model;
}

/// micro_batch ga dp of a case that has no global_batch.
int global_batch_of(CaseObject& v) {
    if (v.find("global_batch")) {
        return v.required_count("global_batch");
    }
    const double batch = 1.0 * v.count("micro_batch") * v.count("ga") * v.count("dp");
    constexpr double kMost = 1e9;
    if (batch < 1 || batch > kMost) {
        v.fail("global_batch, or micro_batch, ga and dp, whose product it is, at most 1e9");
    }
    return static_cast<int>(batch);
}

PublishedRun::Plan plan_of(CaseObject& v) {
    PublishedRun::Plan plan;
    plan.tp = v.ranks("tp");
    plan.pp = v.ranks("pp");
    plan.cp = v.ranks("cp");
    plan.ep = v.ranks("ep");
    plan.etp = v.count("etp");
    plan.virtual_stages = v.count("vpp");
    plan.micro_batch = v.count("micro_batch");
    plan.global_batch = global_batch_of(v);
    plan.accumulation = v.count("ga");
    plan.data_parallel = v.count("dp");
    plan.sequence_parallel = v.flag("seq_parallel");
    plan.capacity_factor = v.number("capacity_factor");
    plan.zero = v.words("zero");
    plan.overlap = v.words("overlap");
    plan.recompute = v.words("recompute");
    plan.schedule = v.words("schedule");
    plan.mixed_precision = v.words("mp_mode");
    if (const auto fsdp = v.find("fsdp")) {
        plan.fsdp = fsdp->is_bool() ? static_cast<int>(fsdp->as_bool()) : v.count("fsdp");
    }
    plan.is_compiled = v.flag("compile").value_or(false);
    return plan;
}

PublishedRun::Measured measured_of(CaseObject& v) {
    PublishedRun::Measured measured;
    const double printed_s = v.number("step_time_s"), by_formula_s = v.number("step_time_from_formula_s");
    measured.step_s = printed_s > 0 ? printed_s : by_formula_s;
    measured.samples_per_s = v.number("samples_per_s");
    measured.tokens_per_s_per_gpu = v.number("tokens_per_s_per_gpu");
    measured.tflops_per_gpu = v.number("tflops_per_gpu");
    if (const std::optional<JsonValue> mfu = v.find("mfu")) {
        measured.mfu = mfu->as_number(0, 1);
    }
    measured.flop_kind = v.text("tflops_kind");
    measured.peak_memory_bytes = kGi * v.number("peak_mem_gib");
    return measured;
}

PublishedRun run_of(const JsonValue& value) {
    PublishedRun run;
    CaseObject v(value, "");
    run.id = v.at("id").as_string();
    run.source_key = v.text("source_key");
    run.source = v.at("source").as_string();
    run.system = v.text("machine");
    CaseObject hardware(v.at("hardware"), "hardware");
    run.gpu = hardware.at("gpu").as_string();
    run.nics = hardware.text("nics");
    run.gpus_per_node = hardware.count("gpus_per_node");
    run.scale_up_gpus = hardware.count("nvlink_domain", run.gpus_per_node);
    run.gpus = v.required_count("gpus");
    run.precision = v.text("precision");
    run.framework = v.at("framework").as_string();
    if (const auto notes = v.find("notes"); notes && notes->is_string()) {
        run.notes = notes->as_string();
    }
    run.flop_convention = v.text("how_flops_counted");
    if (const auto files = v.find("files")) {
        run.workload_file = files->at("workload").as_string();
        run.plan_file = files->at("plan").as_string();
    }
    CaseObject model(v.at("model"), "model"), plan(v.at("plan"), "plan"), measured(v.at("measured"), "measured");
    run.model = model_of(model);
    run.plan = plan_of(plan);
    run.plan.is_compiled = run.plan.is_compiled || (!plan.find("compile") && says(run.framework, "compile"));
    run.measured = measured_of(measured);
    if (const auto derived = v.find("derived")) {
        run.measured.derived_step_s = CaseObject(*derived, "derived").number("step_time_s");
    }
    const std::pair<const CaseObject*, std::vector<std::string_view>> parts[] = {
        {&v, {"url", "slingshot", "confidence", "config_confidence", "tier", "moe", "core", "comment"}},
        {&hardware, {"gpu_note"}},
        {&model, {"active_params_b", "comment"}},
        {&plan, {"optimizer", "ddp_impl", "local_batch", "comment"}},
        {&measured, {"samples_per_s_rounded", "hfu", "aggregate_pflops", "eflops", "phases_ms", "comment"}}};
    for (const auto& [part, beside] : parts) {
        std::ranges::move(part->passed_over(beside), std::back_inserter(run.passed_over));
    }
    constexpr std::size_t kMost = 12;
    if (const std::size_t all = run.passed_over.size(); all > kMost) {
        run.passed_over.resize(kMost);
        run.passed_over.push_back("and " + std::to_string(all - kMost) + " more keys are passed over");
    }
    return run;
}

PublishedRun run_or_fault(const JsonValue& value, const std::string& id) {
    try {
        return run_of(value);
    } catch (const InputError& error) {
        PublishedRun run;
        run.id = id;
        run.unreadable = error.what();
        return run;
    }
}

}  // namespace

std::vector<PublishedRun> load_published_runs(const JsonDocument& document) {
    std::vector<PublishedRun> runs;
    std::set<std::string> ids;
    for (const JsonValue& value : document.root().elements()) {
        const std::string id = value.at("id").as_string();
        if (!ids.insert(id).second) {
            value.at("id").fail("an id of its own: another case has it");
        }
        runs.push_back(run_or_fault(value, id));
    }
    return runs;
}

bool drops_tokens(const PublishedRun& run) {
    const auto says_so = [](const std::string& text) {
        static const std::regex form(
            "\\b(tokens?[-_ ]?(are |were )?drop(s|ped|ping)?|drop(s|ped|ping)?[-_ ]tokens?)\\b");
        const std::string words = lower_case(text.substr(0, kLongestText));
        std::smatch found;
        return std::regex_search(words, found, form) &&
               !is_denied(words, static_cast<std::size_t>(found.position()),
                          static_cast<std::size_t>(found.position() + found.length()));
    };
    return run.plan.capacity_factor > 0 || says_so(run.model.variant) || says_so(run.notes);
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
    return has(words, "elu") ? std::optional(false) : std::nullopt;
}

bool is_swiglu(const PublishedRun::Model& m) {
    constexpr int kPlain = 4;
    if (const std::optional<bool> said = says_gated(m); said || m.experts == 0) {
        return said.value_or(m.ffn != kPlain * m.hidden || (m.attention == "MLA" && !m.is_ffn_assumed));
    }
    const double h = m.hidden, mixtures = m.layers - m.dense_layers;
    const double matrix =
        h * (m.dense_layers * static_cast<double>(m.ffn) + mixtures * (m.experts + m.shared_experts) * m.expert_ffn);
    const double rest = 2 * h * (m.layers * static_cast<double>(m.heads + m.kv_heads) * m.head_size + m.vocab);
    const auto miss = [&](int matrices) { return std::abs(matrices * matrix + rest - m.parameters); };
    return m.parameters <= 0 || miss(3) <= miss(2);
}

}  // namespace auspex::evaluate
