/// @file Reads workloads/*.json: strict keys, ranges, and the consistency that a single number cannot show.
#include "models/workload.hpp"

#include <array>
#include <filesystem>
#include <system_error>

#include "base/json.hpp"

namespace auspex::models {

namespace {

// Generous bounds: an order of magnitude above what anybody trains, so that products of two stay far inside a double's
// 2^53.
constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxSize = 1'000'000;
constexpr std::int64_t kMaxVocab = 100'000'000;
constexpr std::int64_t kMaxSequence = 100'000'000;
constexpr std::int64_t kMaxPredictions = 100;
constexpr double kLeastCapacityFactor = 0.01, kMaxCapacityFactor = 1000;

int read_int(const JsonValue& root, std::string_view key, std::int64_t low, std::int64_t high) {
    return static_cast<int>(root.at(key).as_integer(low, high));
}

int read_int_or(const JsonValue& root, std::string_view key, int fallback, std::int64_t low, std::int64_t high) {
    const auto value = root.find(key);
    return value ? static_cast<int>(value->as_integer(low, high)) : fallback;
}

bool read_bool(const JsonValue& root, std::string_view key) {
    const auto value = root.find(key);
    return value && value->as_bool();
}

void refuse(const JsonValue& root, std::initializer_list<std::string_view> keys, const std::string& expected) {
    for (const std::string_view key : keys) {
        if (const auto value = root.find(key)) {
            value->fail(expected);
        }
    }
}

void read_kinds(const JsonValue& root, Workload& workload) {
    if (const auto value = root.find("norm")) {
        constexpr NormKind kKinds[] = {NormKind::kRms, NormKind::kNonParametric, NormKind::kLayer};
        workload.norm = kKinds[value->as_one_of({"rms", "non-parametric", "layer"})];
    }
    if (const auto value = root.find("feed_forward")) {
        constexpr FeedForward kKinds[] = {FeedForward::kSwiGlu, FeedForward::kGelu};
        workload.feed_forward = kKinds[value->as_one_of({"swiglu", "gelu"})];
    }
    if (const auto value = root.find("attention")) {
        constexpr AttentionKind kKinds[] = {AttentionKind::kMultiHead, AttentionKind::kLatent};
        workload.attention = kKinds[value->as_one_of({"multi-head", "latent"})];
    }
    workload.tied_embeddings = read_bool(root, "tied_embeddings");
    workload.qk_norm = read_bool(root, "qk_norm");
    workload.learned_positions = read_bool(root, "learned_positions");
    workload.biases = read_bool(root, "biases");
}

void read_latent_attention(const JsonValue& root, Workload& workload) {
    if (workload.attention != AttentionKind::kLatent) {
        refuse(root, {"q_rank", "kv_rank", "rope_head_size", "value_head_size"},
               "no such key unless \"attention\" is \"latent\"");
        return;
    }
    workload.q_rank = read_int(root, "q_rank", 0, kMaxSize);
    workload.kv_rank = read_int(root, "kv_rank", 1, kMaxSize);
    workload.rope_head_size = read_int(root, "rope_head_size", 0, kMaxSize);
    workload.value_head_size = read_int(root, "value_head_size", 1, kMaxSize);
    if (workload.kv_heads != workload.heads) {
        root.at("kv_heads")
            .fail("kv_heads equal to heads (" + std::to_string(workload.heads) +
                  "), or no such key: latent attention has one key and value per head");
    }
    if (workload.qk_norm) {
        root.at("qk_norm").fail("false with \"attention\": \"latent\", whose latent norms are counted already");
    }
    if (workload.biases) {
        root.at("biases").fail("false with \"attention\": \"latent\", which is modelled without biases");
    }
}

void read_window(const JsonValue& root, Workload& workload) {
    if (!root.find("window")) {
        refuse(root, {"windowed_layers"}, "no such key without \"window\"");
        return;
    }
    workload.window = read_int(root, "window", 1, kMaxSize * 100);
    workload.windowed_layers = read_int_or(root, "windowed_layers", workload.layers, 0, workload.layers);
}

std::array<int, 2> read_pair(const JsonValue& value, std::int64_t most) {
    const std::vector<JsonValue> elements = value.elements();
    if (elements.size() != 2) {
        value.fail("two numbers, rows and columns");
    }
    return {static_cast<int>(elements[0].as_integer(1, most)), static_cast<int>(elements[1].as_integer(1, most))};
}

void read_image(const JsonValue& root, Workload& workload) {
    const auto object = root.find("image");
    if (!object) {
        workload.vocab_size = read_int(root, "vocab_size", 1, kMaxVocab);
        workload.sequence_length = read_int(root, "sequence_length", 1, kMaxSequence);
        return;
    }
    refuse(root, {"vocab_size", "sequence_length"}, "no such key beside \"image\", whose size and channels say it");
    refuse(root, {"window", "windowed_layers", "tied_embeddings", "mtp_layers", "objective"},
           "no such key beside \"image\"");
    object->allow_only({"size", "window", "shifted_windows", "adaptive_norm", "input_channels", "output_channels"});
    Image& image = workload.image;
    constexpr std::int64_t kMaxSide = 10'000;
    const auto [rows, columns] = read_pair(object->at("size"), kMaxSide);
    image.rows = image.window_rows = rows, image.columns = image.window_columns = columns;
    if (const auto value = object->find("window")) {
        const auto [high, wide] = read_pair(*value, kMaxSide);
        if (rows % high != 0 || columns % wide != 0) {
            value->fail("rows that divide " + std::to_string(rows) + " and columns that divide " +
                        std::to_string(columns) + ", as \"size\" has");
        }
        image.window_rows = high, image.window_columns = wide;
    }
    image.shifted_windows = read_bool(*object, "shifted_windows");
    if (image.shifted_windows && image.window_tokens() == rows * columns) {
        object->at("shifted_windows").fail("false where the window is the whole image");
    }
    image.adaptive_norm = read_bool(*object, "adaptive_norm");
    image.input_channels = read_int(*object, "input_channels", 1, kMaxSize);
    workload.vocab_size = read_int(*object, "output_channels", 1, kMaxSize);
    workload.sequence_length = rows * columns;
}

void read_objective(const JsonValue& root, Workload& workload) {
    if (const auto value = root.find("objective")) {
        constexpr Objective kKinds[] = {Objective::kNextToken, Objective::kDpo};
        workload.objective = kKinds[value->as_one_of({"next-token", "dpo"})];
        if (workload.objective == Objective::kDpo) {
            refuse(root, {"mtp_layers", "global_aux_loss"}, "no such key with \"objective\": \"dpo\"");
        }
    }
}

void read_attention(const JsonValue& root, Workload& workload) {
    workload.heads = read_int(root, "heads", 1, kMaxSize);
    workload.kv_heads = read_int_or(root, "kv_heads", workload.heads, 1, kMaxSize);
    if (workload.heads % workload.kv_heads != 0) {
        root.at("kv_heads").fail("a divisor of heads (" + std::to_string(workload.heads) + ")");
    }
    if (const auto value = root.find("head_size")) {
        workload.head_size = static_cast<int>(value->as_integer(1, kMaxSize));
    } else if (workload.hidden_size % workload.heads == 0 && workload.attention == AttentionKind::kMultiHead) {
        workload.head_size = workload.hidden_size / workload.heads;
    } else {
        root.at("heads").fail("a divisor of hidden_size (" + std::to_string(workload.hidden_size) +
                              ") with multi-head attention, or the key \"head_size\" beside it");
    }
    read_latent_attention(root, workload);
    read_window(root, workload);
}

void read_expert_groups(const JsonValue& root, Workload& workload) {
    workload.expert_groups = read_int_or(root, "expert_groups", 1, 1, workload.num_experts);
    if (workload.num_experts % workload.expert_groups != 0) {
        root.at("expert_groups").fail("a divisor of num_experts (" + std::to_string(workload.num_experts) + ")");
    }
    workload.top_k_groups = workload.expert_groups;
    if (const auto value = root.find("top_k_groups")) {
        workload.top_k_groups = static_cast<int>(value->as_integer(1, workload.expert_groups));
        const int reachable = workload.num_experts / workload.expert_groups * workload.top_k_groups;
        if (reachable < workload.top_k) {
            value->fail("groups of at least top_k (" + std::to_string(workload.top_k) +
                        ") experts together, which have " + std::to_string(reachable));
        }
    }
}

/// Of rows that experts may get, and of what moves tokens between them.
void read_balancing(const JsonValue& root, Workload& workload) {
    workload.router_bias = read_bool(root, "router_bias");
    workload.pad_to_capacity = read_bool(root, "pad_to_capacity");
    if (const auto value = root.find("capacity_factor")) {
        workload.capacity_factor = value->as_number(0, kMaxCapacityFactor);
        if (workload.capacity_factor > 0 && workload.capacity_factor < kLeastCapacityFactor) {
            value->fail("0 (no token is dropped), or at least 0.01");
        }
    }
    if (workload.pad_to_capacity && workload.capacity_factor == 0) {
        root.at("pad_to_capacity").fail("false without a \"capacity_factor\" above 0, which says to how many rows");
    }
}

void read_experts(const JsonValue& root, Workload& workload) {
    if (!root.find("num_experts")) {
        refuse(root,
               {"top_k", "expert_size", "shared_experts", "first_dense_layers", "expert_groups", "top_k_groups",
                "capacity_factor", "pad_to_capacity", "router_bias", "global_aux_loss"},
               "no such key without \"num_experts\": a dense model has no experts");
        return;
    }
    workload.num_experts = read_int(root, "num_experts", 1, kMaxSize);
    workload.top_k = read_int(root, "top_k", 1, kMaxSize);
    if (workload.top_k > workload.num_experts) {
        root.at("top_k").fail("at most num_experts (" + std::to_string(workload.num_experts) + ")");
    }
    workload.expert_size = read_int(root, "expert_size", 1, kMaxSize);
    workload.shared_experts = read_int_or(root, "shared_experts", 0, 0, 1000);
    workload.first_dense_layers = read_int_or(root, "first_dense_layers", 0, 0, kMaxLayers);
    if (workload.first_dense_layers >= workload.layers) {
        root.at("first_dense_layers").fail("fewer than layers (" + std::to_string(workload.layers) + ")");
    }
    read_expert_groups(root, workload);
    read_balancing(root, workload);
    workload.global_aux_loss = read_bool(root, "global_aux_loss");
}

void read_dense_feed_forward(const JsonValue& root, Workload& workload) {
    if (workload.num_experts == 0 || workload.first_dense_layers > 0) {
        workload.intermediate_size = read_int(root, "intermediate_size", 1, kMaxSize);
    } else {
        refuse(root, {"intermediate_size"},
               "no such key when every layer is MoE (the width of one expert is \"expert_size\")");
    }
}

void read_training(const JsonValue& root, Workload& workload) {
    const auto object = root.find("training");
    if (!object) {
        return;
    }
    workload.training = load_training(*object);
    if (workload.num_experts == 0) {
        refuse(*object, {"auxiliary_loss", "z_loss", "normalize_top_k"},
               "no such key without \"num_experts\": a dense model has no router");
    }
    if (workload.mtp_layers == 0) {
        refuse(*object, {"prediction_loss"}, "no such key without \"mtp_layers\"");
    }
    if (!workload.router_bias) {
        refuse(*object, {"router_bias_speed"}, "no such key without \"router_bias\": true");
    }
}

}  // namespace

Workload load_workload(const JsonDocument& document) {
    const JsonValue root = document.root();
    root.allow_only({"source",
                     "layers",
                     "hidden_size",
                     "heads",
                     "kv_heads",
                     "head_size",
                     "attention",
                     "q_rank",
                     "kv_rank",
                     "rope_head_size",
                     "value_head_size",
                     "norm",
                     "qk_norm",
                     "feed_forward",
                     "biases",
                     "intermediate_size",
                     "num_experts",
                     "top_k",
                     "expert_size",
                     "shared_experts",
                     "window",
                     "windowed_layers",
                     "first_dense_layers",
                     "expert_groups",
                     "top_k_groups",
                     "capacity_factor",
                     "pad_to_capacity",
                     "router_bias",
                     "mtp_layers",
                     "global_aux_loss",
                     "vocab_size",
                     "tied_embeddings",
                     "learned_positions",
                     "sequence_length",
                     "image",
                     "objective",
                     "training"});
    if (root.at("source").as_string().empty()) {
        root.at("source").fail("where the shapes come from, not an empty string");
    }
    Workload workload;
    workload.file = document.name();
    std::error_code status;
    const std::filesystem::path file = std::filesystem::absolute(document.name(), status);
    const std::string folder = file.parent_path().filename().string();
    workload.name = file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
    workload.layers = read_int(root, "layers", 1, kMaxLayers);
    workload.hidden_size = read_int(root, "hidden_size", 1, kMaxSize);
    read_image(root, workload);
    read_objective(root, workload);
    workload.mtp_layers = read_int_or(root, "mtp_layers", 0, 0, kMaxPredictions);
    read_kinds(root, workload);
    read_attention(root, workload);
    read_experts(root, workload);
    read_dense_feed_forward(root, workload);
    read_training(root, workload);
    return workload;
}

}  // namespace auspex::models
