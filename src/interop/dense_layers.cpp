/// @file Several spellings of one number.
#include "interop/dense_layers.hpp"

#include <cstdint>
#include <vector>

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostLayers = 10'000;

/// Of a list of layers that are `first` and those behind it.
bool are_in_order(const std::vector<JsonValue>& layers, std::int64_t first) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].as_integer(0, kMostLayers) != first + static_cast<std::int64_t>(i)) {
            return false;
        }
    }
    return true;
}

int dense_of_dense_layers(const JsonValue& list) {
    const std::vector<JsonValue> layers = list.elements();
    if (!are_in_order(layers, 0)) {
        list.fail("the first layers, in order: dense layers among those with experts are not modelled");
    }
    return static_cast<int>(layers.size());
}

int dense_of_layers_with_experts(const JsonValue& list, int layers) {
    const std::vector<JsonValue> with_experts = list.elements();
    const std::int64_t dense = layers - static_cast<std::int64_t>(with_experts.size());
    if (dense < 0 || !are_in_order(with_experts, dense)) {
        list.fail("the last of " + std::to_string(layers) +
                  " layers, in order: dense layers among those with experts are not modelled");
    }
    return static_cast<int>(dense);
}

int dense_of_kinds(const JsonValue& kinds, int layers) {
    if (kinds.elements().size() != static_cast<std::size_t>(layers)) {
        kinds.fail("a word for each of the " + std::to_string(layers) + " layers");
    }
    int dense = 0;
    bool has_experts = false;
    for (const JsonValue& kind : kinds.elements()) {
        const bool is_dense = kind.as_one_of({"dense", "sparse"}) == 0;
        if (is_dense && has_experts) {
            kind.fail("\"sparse\": dense layers behind one with experts are not modelled");
        }
        dense += is_dense ? 1 : 0;
        has_experts = has_experts || !is_dense;
    }
    return dense;
}

}  // namespace

int first_dense_layers(ConfigKeys& keys, int layers, bool required) {
    for (const char* key : {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"}) {
        if (const auto step = keys.find(key); step && step->as_integer(1, 1000) != 1) {
            step->fail(
                "1: experts in every n-th layer only are not modelled (a workload's dense layers are all in front of "
                "those with "
                "experts, first_dense_layers)");
        }
    }
    std::optional<int> dense;
    const auto take = [&dense, layers](const JsonValue& value, int found) {
        if (found >= layers) {
            value.fail("fewer dense layers than the model's " + std::to_string(layers));
        }
        if (dense && *dense != found) {
            value.fail("as many dense layers as another key says (" + std::to_string(*dense) + ")");
        }
        dense = found;
    };
    if (const auto first = keys.find("first_k_dense_replace")) {
        take(*first, static_cast<int>(first->as_integer(0, kMostLayers)));
    }
    if (const auto list = keys.find("mlp_only_layers")) {
        take(*list, dense_of_dense_layers(*list));
    }
    if (const auto kinds = keys.find("mlp_layer_types")) {
        take(*kinds, dense_of_kinds(*kinds, layers));
    }
    if (const auto list = keys.find("moe_layers")) {
        take(*list, dense_of_layers_with_experts(*list, layers));
    }
    return !dense && required ? keys.count("first_k_dense_replace", 0) : dense.value_or(0);
}

}  // namespace auspex::interop
