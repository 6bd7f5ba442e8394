/// @file Words for recomputation, from the first that tells on.
#include "compare/evaluate/runs/run_recompute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/input_text.hpp"
#include "base/json.hpp"
#include "compare/evaluate/words/denials.hpp"
#include "compare/evaluate/words/layer_words.hpp"
#include "compare/evaluate/words/words.hpp"
#include "models/recompute/megatron_modules.hpp"

namespace auspex::evaluate {
namespace {

using models::Recompute;
using Words = std::vector<std::string>;

/// Names of parts that are several words, or stand for one of Megatron-LM's or of the plan's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kJoined{{{"transformer block", "layer"},
                                                                                 {"transformer blocks", "layers"},
                                                                                 {"each block", "each layer"},
                                                                                 {"every block", "every layer"},
                                                                                 {"core attention", "core_attn"},
                                                                                 {"core attn", "core_attn"},
                                                                                 {"self attention", "core_attn"},
                                                                                 {"flash attention", "core_attn"},
                                                                                 {"shared experts", "shared_experts"},
                                                                                 {"shared expert", "shared_experts"},
                                                                                 {"moe act", "moe_act"},
                                                                                 {"mla up proj", "mla_up_proj"},
                                                                                 {"mla up projection", "mla_up_proj"},
                                                                                 {"mla up projections", "mla_up_proj"},
                                                                                 {"up projections", "mla_up_proj"},
                                                                                 {"layer norm", "layernorm"},
                                                                                 {"layer norms", "layernorm"},
                                                                                 {"rms norm", "layernorm"},
                                                                                 {"feed forward", "mlp"},
                                                                                 {"activation function", "activation"},
                                                                                 {"swiglu activation", "activation"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kAliases{{{"attention", "core_attn"},
                                                                                  {"attn", "core_attn"},
                                                                                  {"self_attn", "core_attn"},
                                                                                  {"norms", "layernorm"},
                                                                                  {"layernorms", "layernorm"},
                                                                                  {"rmsnorm", "layernorm"},
                                                                                  {"rmsnorms", "layernorm"},
                                                                                  {"ffn", "mlp"},
                                                                                  {"experts", "moe"},
                                                                                  {"act", "activation"},
                                                                                  {"activations", "activation"},
                                                                                  {"swiglu", "activation"},
                                                                                  {"mla_up", "mla_up_proj"},
                                                                                  {"shared_expert", "shared_experts"}}};

bool is_checkpointing(std::string_view word) {
    return word.starts_with("checkpoint") || word.starts_with("recomput") || word.ends_with("_checkpointing");
}

/// Without what only says that this is about recomputation; "percent" for a sign of it.
Words telling_words(std::string_view text) {
    std::string with_percent, joined = " ";
    for (const char c : text) {
        with_percent += c == '%' ? " percent " : std::string(1, c);
    }
    for (const std::string& word : words_in(with_percent)) {
        joined += word + " ";
    }
    for (const auto& [several, one] : kJoined) {
        const std::string from = " " + std::string(several) + " ", to = " " + std::string(one) + " ";
        for (std::size_t at = joined.find(from); at != std::string::npos; at = joined.find(from)) {
            joined.replace(at, from.size(), to);
        }
    }
    const Words all = words_in(joined);
    Words telling;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_of_next = i + 1 < all.size() && is_checkpointing(all[i + 1]) &&
                                is_one_of(all[i], {"activation", "activations", "gradient", "gradients"});
        if (!is_of_next && !is_checkpointing(all[i]) &&
            !is_one_of(all[i], {"granularity", "method", "modules", "module", "mode", "ac", "megatron", "and", "plus",
                                "with", "of", "the", "num", "num_layers", "only"})) {
            telling.push_back(all[i]);
        }
    }
    return telling;
}

class RecomputeReader {
 public:
    RecomputeReader(const PublishedRun& run, const RunNames::Framework& framework, int virtual_stages)
        : run_(run), framework_(framework), stages_(run.plan.pp * std::max(1, virtual_stages)) {}

    RunRecompute read(const std::string& text) {
        const Words words = telling_words(text);
        const std::string_view first = words.empty() ? "" : std::string_view(words.front());
        if (words.empty()) {
            return whole_layers(json_quote(text) + " is taken as full recomputation");
        }
        if (is_denial(first)) {
            return {};
        }
        if (const auto said = layers_said(words)) {
            return some_layers(*said, text);
        }
        if (const auto layers = layers_of_block(words)) {
            return first_layers(*layers);
        }
        if (first.starts_with("full")) {
            return full(words, text);
        }
        if (first.starts_with("selective") || first == "sac") {
            return selective(words);
        }
        if (first == "uniform") {
            const int apart = number_from(words, 1).value_or(1);
            return whole_layers(apart > 1 ? "groups of " + std::to_string(apart) + " layers are taken layer by layer"
                                          : "");
        }
        const bool is_every_layer = std::ranges::all_of(words, [](const std::string& word) {
            return is_one_of(word, {"transformer", "layer", "layers", "each", "every", "all"});
        });
        if (is_every_layer ||
            (is_one_of(first, {"true", "yes", "on", "enabled", "all", "whole"}) && !number_from(words, 1))) {
            return whole_layers(json_quote(text) + " is taken as full recomputation");
        }
        return of_parts(words, false);
    }

 private:
    const PublishedRun& run_;
    const RunNames::Framework& framework_;
    int stages_;  ///< of all ranks
    RunRecompute found_;

    [[noreturn]] void refuse_words() const {
        refuse(run_.id, "recompute " + json_quote(run_.plan.recompute),
               "none, full, selective, uniform, block N, parts of a layer in Megatron-LM's words "
               "(--recompute-modules) or the plan's, or nothing stated");
    }

    static RunRecompute whole_layers(const std::string& note = "") {
        return {{"layer"}, 0, note.empty() ? Words{} : Words{note}};
    }

    /// The number behind Megatron-LM's method "block", or else in front of it.
    static std::optional<int> layers_of_block(const Words& words) {
        const auto block = std::ranges::find(words, "block");
        if (block == words.end()) {
            return std::nullopt;
        }
        const std::optional<int> behind = number_from(words, static_cast<std::size_t>(block - words.begin()));
        return behind ? behind : number_from(words, 0);
    }

    /// All layers, unless the text says of some that are not understood.
    [[nodiscard]] RunRecompute full(const Words& words, const std::string& text) const {
        const auto is_count = [](const std::string& word) { return number_in(word).value_or(1) != 1; };
        const bool speaks_of_layers =
            has(lower_case(text), "layer") || std::all_of(words.begin() + 1, words.end(), is_count);
        const bool is_uniform = std::ranges::find(words, "uniform") != words.end();
        const bool is_of_some = std::ranges::any_of(words, [](const std::string& word) {
            return is_one_of(word, {"first", "last", "but", "except", "without", "block"});
        });
        if (is_of_some || (!is_uniform && speaks_of_layers && std::ranges::any_of(words, is_count))) {
            refuse_words();
        }
        return whole_layers();
    }

    /// Of each virtual stage.
    static RunRecompute first_layers(int layers) {
        return layers > 0 ? RunRecompute{{"layer"}, layers, {}} : RunRecompute{};
    }

    /// So many of a stage's, or as many as come nearest to a share of the model's.
    [[nodiscard]] RunRecompute some_layers(LayersSaid said, const std::string& text) const {
        const int all = run_.model.layers, stage = (all + stages_ - 1) / stages_;
        if (said.of > 0 ? said.count == said.of : said.count >= all) {
            return whole_layers(json_quote(text) + " is taken as full recomputation");
        }
        const bool is_of_stage = said.of == 0 && said.count <= stage;
        const double share = static_cast<double>(said.count) / (said.of > 0 ? said.of : all);
        const int layers = is_of_stage ? said.count : static_cast<int>(std::lround(share * stage));
        RunRecompute some = layers < stage ? first_layers(layers) : whole_layers();
        some.notes.push_back(json_quote(text) + " is taken as " + std::to_string(layers) + " of each stage's " +
                             std::to_string(stage) + " layers");
        return some;
    }

    RunRecompute selective(const Words& words) {
        RunRecompute parts = of_parts({words.begin() + 1, words.end()}, true);
        if (!parts.words.empty() || !parts.notes.empty()) {
            return parts;
        }
        if (number_from(words, 1)) {
            refuse_words();
        }
        return {framework_.selective, 0, {}};
    }

    RunRecompute of_parts(const Words& words, bool passes_over_unknown) {
        Recompute parts;
        for (const std::string& word : words) {
            const auto* const alias =
                std::ranges::find(kAliases, word, &std::pair<std::string_view, std::string_view>::first);
            if (!add(parts, alias == kAliases.end() ? std::string_view(word) : alias->second) && !passes_over_unknown) {
                refuse_words();
            }
        }
        drop_parts_of_others(parts);
        for (const models::RecomputeWord& one : models::kRecomputeWords) {
            if (parts.*one.part) {
                found_.words.emplace_back(one.word);
            }
        }
        return std::move(found_);
    }

    /// False: no word for a part.
    bool add(Recompute& parts, std::string_view word) {
        const auto* const module = std::ranges::find(models::kRecomputeModules, word, &models::RecomputeModule::name);
        const auto* const own = std::ranges::find(models::kRecomputeWords, word, &models::RecomputeWord::word);
        if (module == models::kRecomputeModules.end() && own == models::kRecomputeWords.end()) {
            return false;
        }
        const bool is_module = module != models::kRecomputeModules.end();
        const bool has_experts = run_.model.experts > 0,
                   is_there = !is_module || (has_experts ? module->of_experts : module->of_dense);
        bool Recompute::*const part = is_module ? module->part : own->part;
        if (!is_there || !model_has(part)) {
            found_.notes.push_back("recompute " + std::string(word) + " is left out: " +
                                   (word == "mlp" ? "few layers or none are dense" : "the model has no such part"));
        } else {
            parts.*part = true;
            if (part == &Recompute::expert && !has_experts && word != "mlp") {
                found_.notes.push_back("recompute " + std::string(word) +
                                       " of a dense model is taken as that of its feed-forward");
            }
        }
        return true;
    }

    [[nodiscard]] bool model_has(bool Recompute::*part) const {
        const bool has_latents = run_.model.attention == "MLA" && run_.model.q_rank > 0 && run_.plan.cp == 1;
        return (part != &Recompute::latent_up || has_latents) &&
               (part != &Recompute::shared_experts || run_.model.shared_experts > 0);
    }

    static void drop_parts_of_others(Recompute& parts) {
        if (parts.layer) {
            parts = {.layer = true};
        }
        if (parts.alternate_products) {
            parts = {.alternate_products = true};
        }
        if (parts.expert) {
            parts.activation = parts.shared_experts = false;
        }
    }
};

}  // namespace

bool is_recompute_unstated(const PublishedRun& run) { return is_unstated(run.plan.recompute); }

RunRecompute recompute_of(const PublishedRun& run, const RunNames::Framework& framework, int virtual_stages) {
    if (run.plan.recompute_choice) {
        return {*run.plan.recompute_choice, 0, {}};
    }
    if (!is_recompute_unstated(run)) {
        return RecomputeReader(run, framework, virtual_stages).read(run.plan.recompute);
    }
    RunRecompute assumed = RecomputeReader(run, framework, virtual_stages).read(framework.recompute_unstated);
    assumed.notes.push_back("recompute " + framework.recompute_unstated + " is assumed");
    return assumed;
}

}  // namespace auspex::evaluate
