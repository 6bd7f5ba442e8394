/// @file Keys of config.json to keys of a workload.
#include "interop/hugging_face.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "interop/config_keys.hpp"
#include "interop/dense_layers.hpp"
#include "interop/hugging_face_families.hpp"

namespace auspex::interop {
namespace {

constexpr const char* kParts = "text_config";

const ModelFamily& family_of(const JsonValue& model_type) {
    const std::string name = model_type.as_string();
    std::string names;
    for (const ModelFamily& family : model_families()) {
        if (family.model_type == name) {
            return family;
        }
        names += (names.empty() ? "" : ", ") + std::string(family.model_type);
    }
    model_type.fail("one of " + names);
}

/// "leave it out with --set workload.KEY=VALUE": what an error about a key ends with.
std::string left_out_by(const JsonValue& value, const std::string& other) {
    return "; --set workload." + value.path() + "=" + other + " leaves it out";
}

class Importer {
 public:
    Importer(const JsonDocument& config, const JsonValue& model)
        : config_(config), model_(model), keys_(model), family_(family_of(keys_.at("model_type"))), json_(text_) {}

    ImportedWorkload run() {
        json_.begin_object().member(
            "source", "config.json of Hugging Face transformers, model_type " + std::string(family_.model_type));
        write_sizes();
        write_attention();
        if (!family_.expert_width.empty()) {
            write_experts();
        } else {
            json_.member("intermediate_size", keys_.count("intermediate_size"));
        }
        write_training();
        write_window();
        write_extra_layers();
        note_small_parts();
        pass_over_what_costs_nothing();
        keys_.refuse_the_rest();
        if (config_.root().path() != model_.path()) {
            check_wrapper();
        }
        write_notes();
        json_.end_object();
        return {config_.converted(text_.str()), std::move(notes_)};
    }

 private:
    void write_sizes() {
        layers_ = keys_.count("num_hidden_layers");
        json_.member("layers", layers_).member("hidden_size", keys_.count("hidden_size"));
        json_.member("vocab_size", keys_.count("vocab_size")).member("norm", family_.norm);
        json_.member("tied_embeddings", keys_.flag_or("tie_word_embeddings", false));
        json_.member("biases", family_.has_biases).member("sequence_length", sequence_length());
        if (const auto activation = keys_.find("hidden_act"); activation) {
            static_cast<void>(activation->as_one_of({"silu"}));
        }
        json_.member("feed_forward", "swiglu");
    }

    int sequence_length() {
        keys_.pass_over({"sequence_length"});
        const auto given = config_.root().find("sequence_length");
        if (!given) {
            const auto longest = keys_.find("max_position_embeddings");
            throw InputError(config_.name() + ": $.sequence_length",
                             "found no such key; expected the length of training sequences, which such a file does not "
                             "have: --set workload.sequence_length=4096, --sequence-length with auspex import hf" +
                                 (longest ? " (the model can take " + longest->excerpt() + ")" : std::string()));
        }
        sequence_length_ = static_cast<int>(given->as_integer(1, 100'000'000));
        if (const auto longest = keys_.find("max_position_embeddings");
            longest && longest->as_integer(1, 1'000'000'000) < sequence_length_) {
            notes_.push_back("the sequence is longer than the " + longest->excerpt() +
                             " positions that the model is published for");
        }
        return sequence_length_;
    }

    void write_attention() {
        const int heads = keys_.count("num_attention_heads");
        json_.member("heads", heads);
        if (family_.is_latent) {
            json_.member("attention", "latent").member("head_size", keys_.count("qk_nope_head_dim"));
            if (!keys_.has("q_lora_rank")) {
                static_cast<void>(
                    keys_.at("q_lora_rank"));  // null means none, but a missing one a default of the family
            }
            json_.member("q_rank", keys_.count_or("q_lora_rank", 0)).member("kv_rank", keys_.count("kv_lora_rank"));
            json_.member("rope_head_size", keys_.count("qk_rope_head_dim", 0));
            json_.member("value_head_size", keys_.count("v_head_dim"));
            keys_.pass_over({"num_key_value_heads", "head_dim"});  // as many as heads; the part with position
            return;
        }
        json_.member("kv_heads", family_.kv_heads_default_to_heads ? keys_.count_or("num_key_value_heads", heads, 1)
                                                                   : keys_.count("num_key_value_heads"));
        if (family_.needs_head_size || keys_.find("head_dim")) {
            json_.member("head_size", keys_.count("head_dim"));
        }
        const bool is_normed = keys_.flag_or("use_qk_norm", family_.has_qk_norm);
        json_.member("qk_norm", is_normed);
        if (is_normed && family_.norms_each_head) {
            notes_.emplace_back("queries and keys are normed head by head: here over all heads together");
        }
    }

    void write_experts() {
        json_.member("num_experts", number_of_experts()).member("top_k", keys_.count("num_experts_per_tok"));
        const int width = keys_.count(family_.expert_width);
        json_.member("expert_size", width).member("shared_experts", shared_experts(width));
        const int groups = keys_.count_or("n_group", 1), chosen = keys_.count_or("topk_group", groups);
        if (chosen < groups) {
            json_.member("expert_groups", groups).member("top_k_groups", chosen);
        }
        const auto method = keys_.find("topk_method");
        if (family_.has_router_bias && (!method || method->excerpt() == "\"noaux_tc\"")) {
            json_.member("router_bias", true);
        }
        const int dense = first_dense_layers(keys_, layers_, family_.needs_dense_and_shared);
        json_.member("first_dense_layers", dense);
        if (dense > 0) {
            json_.member("intermediate_size", keys_.count(family_.dense_width));
        } else {
            keys_.pass_over({family_.dense_width});
        }
    }

    /// Three names for one number.
    int number_of_experts() {
        std::optional<JsonValue> found;
        for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"}) {
            const auto value = keys_.find(key);
            if (value && found && value->excerpt() != found->excerpt()) {
                value->fail(found->excerpt() + ", as " + found->path() + " has it");
            }
            found = value ? value : found;
        }
        return found ? static_cast<int>(found->as_integer(1, 1'000'000)) : keys_.count("num_experts");
    }

    int shared_experts(int width) {
        if (family_.default_shared_width > 0) {
            require_said("shared_expert_intermediate_size", family_.default_shared_width, ", or 0");
        }
        if (const auto all = keys_.find("shared_expert_intermediate_size")) {
            const std::int64_t shared = all->as_integer(0, 100'000'000);
            if (shared % width != 0) {
                all->fail("a multiple of " + std::string(family_.expert_width) + " (" + std::to_string(width) +
                          "): shared experts as wide as the others");
            }
            notes_.emplace_back("the gate of the shared expert is left out");
            return static_cast<int>(shared / width);
        }
        return family_.needs_dense_and_shared ? keys_.count("n_shared_experts", 0)
                                              : keys_.count_or("n_shared_experts", family_.has_one_shared ? 1 : 0);
    }

    void write_training() {
        json_.key("training").begin_object();
        const std::optional<JsonValue> rope = keys_.find("rope_parameters");
        const auto theta = rope && rope->is_object() ? rope->find("rope_theta") : keys_.find("rope_theta");
        if (theta && theta->is_number()) {
            json_.member("rope_theta", theta->as_number(1, 1e12));
        }
        keys_.pass_over({"rope_theta"});
        if (const auto epsilon = keys_.find("rms_norm_eps")) {
            json_.member("norm_epsilon", epsilon->as_number(1e-12, 1));
        }
        if (const auto deviation = keys_.find("initializer_range")) {
            json_.member("initial_deviation", deviation->as_number(0, 10));
        }
        if (!family_.expert_width.empty()) {
            json_.member("normalize_top_k", keys_.flag_or("norm_topk_prob", family_.normalizes_top_k));
            for (const char* key : {"router_aux_loss_coef", "aux_loss_alpha"}) {
                if (const auto balance = keys_.find(key)) {
                    json_.member("auxiliary_loss", balance->as_number(0, 100));
                    break;
                }
            }
        }
        json_.end_object();
    }

    /// Throws InputError for a key whose absence means a number of its family's.
    void require_said(const std::string& key, int otherwise, const std::string& other) const {
        if (!keys_.has(key)) {
            const std::string path = model_.path().empty() ? key : model_.path() + "." + key;
            throw InputError(config_.name() + ": $." + path, "found no such key, which means " +
                                                                 std::to_string(otherwise) + " in a model of " +
                                                                 std::string(family_.model_type) + "; expected it, \"" +
                                                                 key + "\": " + std::to_string(otherwise) + other);
        }
    }

    /// How many layers have sliding windows, and chunks.
    std::pair<int, int> windowed_layers() {
        if (const auto types = keys_.find("layer_types")) {
            std::array<int, 3> found{};
            for (const JsonValue& type : types->elements()) {
                ++found.at(type.as_one_of({"full_attention", "sliding_attention", "chunked_attention"}));
            }
            if (types->elements().size() != static_cast<std::size_t>(layers_)) {
                types->fail("a word for each of the " + std::to_string(layers_) + " layers");
            }
            return {found[1], found[2]};
        }
        const bool is_used = keys_.flag_or("use_sliding_window", false) || family_.window == AttentionWindow::kAlways;
        const int first = family_.window == AttentionWindow::kIfUsed ? keys_.count_or("max_window_layers", 0) : 0;
        const int all = is_used && family_.window != AttentionWindow::kNone ? std::max(0, layers_ - first) : 0;
        const int own = family_.window_alternates ? (all + 1) / 2 : all;
        return family_.window_key == "sliding_window" ? std::pair(own, 0) : std::pair(0, own);
    }

    void write_window() {
        const auto [sliding, chunked] = windowed_layers();
        if (const int window = shorter_than_sequence("sliding_window", sliding); window > 0) {
            json_.member("window", window).member("windowed_layers", sliding);
        }
        const char* const chunk = "attention_chunk_size";
        if (shorter_than_sequence(chunk, chunked) > 0) {
            keys_.at(chunk).fail("at least the sequence length (" + std::to_string(sequence_length_) +
                                 "): attention within chunks is not modelled" + left_out_by(keys_.at(chunk), "null") +
                                 ", and every layer attends to the whole sequence");
        }
        keys_.pass_over({"use_sliding_window", "max_window_layers", "sliding_window", family_.window_key});
    }

    /// The width of windows that some layers have; 0 where none has one shorter than the sequence.
    int shorter_than_sequence(const char* key, int layers) {
        if (layers > 0 && keys_.find("layer_types") && !keys_.has(key) && family_.default_window == 0) {
            keys_.at("layer_types").fail(std::string("\"full_attention\" alone where there is no ") + key);
        }
        if (layers > 0 && family_.default_window > 0) {
            require_said(key, family_.default_window,
                         ", or null, with which every layer attends to the whole sequence");
        }
        const auto window = layers > 0 ? keys_.find(key) : std::nullopt;
        const std::int64_t width = window ? window->as_integer(1, 1'000'000'000) : 0;
        return width < sequence_length_ ? static_cast<int>(width) : 0;
    }

    /// Two names for one number, in some families.
    void write_extra_layers() {
        const bool is_second = !keys_.find("num_nextn_predict_layers");
        const auto extra = keys_.find(is_second ? "num_mtp_layers" : "num_nextn_predict_layers");
        const auto layers = extra ? extra->as_integer(0, 100) : 0;
        if (layers > 0 && !family_.predicts_more_tokens) {
            extra->fail("0: no layers predict more tokens in this family" + left_out_by(*extra, "0"));
        }
        json_.member("mtp_layers", static_cast<int>(layers));
    }

    void note_small_parts() {
        const bool has_biases =
            keys_.flag_or("attention_bias", family_.has_attention_biases) || keys_.flag_or("qkv_bias", false);
        if (has_biases && !family_.has_biases) {
            notes_.emplace_back("biases of queries, keys and values are left out");
        }
        if (keys_.flag_or("mlp_bias", false)) {
            notes_.emplace_back("biases of the feed-forward are left out");
        }
        if (keys_.find("clip_qkv")) {
            notes_.emplace_back("clipping of queries, keys and values is left out");
        }
        if (family_.norms_behind) {
            notes_.emplace_back("norms behind attention and feed-forward are read as norms in front of them");
        }
        if (family_.model_type == "gpt_oss") {
            notes_.emplace_back("attention sinks, one number a head, are left out");
        }
        if (config_.root().path() != model_.path()) {
            notes_.emplace_back("the language model alone: other parts of the model are left out");
        }
    }

    void pass_over_what_costs_nothing() {
        keys_.pass_over({"architectures",
                         "torch_dtype",
                         "dtype",
                         "transformers_version",
                         "_name_or_path",
                         "auto_map",
                         "bos_token_id",
                         "eos_token_id",
                         "pad_token_id",
                         "use_cache",
                         "max_position_embeddings",
                         "rope_scaling",
                         "rope_parameters",
                         "partial_rotary_factor",
                         "rope_interleave",
                         "attention_dropout",
                         "hidden_dropout",
                         "dropout",
                         "resid_pdrop",
                         "embd_pdrop",
                         "layer_norm_eps",
                         "pretraining_tp",
                         "output_router_logits",
                         "quantization_config",
                         "ep_size",
                         "seq_aux",
                         "scoring_func",
                         "topk_method",
                         "routed_scaling_factor",
                         "router_jitter_noise",
                         "initial_context_length",
                         "experts_per_token",
                         "swiglu_limit",
                         "no_rope_layers",
                         "attn_temperature_tuning",
                         "attn_scale",
                         "floor_scale",
                         "for_llm_compressor",
                         "is_llama_config"});
    }

    /// Keys around the language model: of the other parts, which are left out, and of files.
    void check_wrapper() const {
        ConfigKeys root(config_.root());
        root.pass_over({"model_type",
                        "text_config",
                        "vision_config",
                        "audio_config",
                        "sequence_length",
                        "architectures",
                        "torch_dtype",
                        "dtype",
                        "transformers_version",
                        "_name_or_path",
                        "auto_map",
                        "tie_word_embeddings",
                        "boi_token_index",
                        "eoi_token_index",
                        "image_token_index",
                        "media_placeholder_token_id",
                        "bos_token_id",
                        "eos_token_id",
                        "pad_token_id",
                        "quantization_config",
                        "use_unified_vision_chunk",
                        "ignore_index"});
        root.refuse_the_rest();
    }

    void write_notes() {
        std::string all;
        for (const std::string& note : notes_) {
            all += (all.empty() ? "" : "; ") + note;
        }
        if (!all.empty()) {
            json_.member("comment", all);
        }
    }

    const JsonDocument& config_;
    JsonValue model_;
    ConfigKeys keys_;
    const ModelFamily& family_;
    std::ostringstream text_;
    JsonWriter json_;
    std::vector<std::string> notes_;
    int layers_ = 0, sequence_length_ = 0;
};

}  // namespace

double active_without_embedding(const models::Workload& workload) {
    const models::ParameterCount active = count_active_parameters(workload);
    return active.total() - (workload.tied_embeddings ? 0 : active.embedding);
}

bool is_hugging_face(const JsonDocument& document) {
    return document.root().is_object() && document.root().find("model_type").has_value();
}

ImportedWorkload import_hugging_face(const JsonDocument& config) {
    const auto part = config.root().find(kParts);
    return Importer(config, part && !part->is_null() ? *part : config.root()).run();
}

}  // namespace auspex::interop
