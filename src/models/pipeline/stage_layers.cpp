/// @file Layers by cumulative cost, and as evenly as they go.
#include "models/pipeline/stage_layers.hpp"

#include "base/error.hpp"

namespace auspex::models {
namespace {

double multiply_adds(const Workload& workload, int layer) {
    const ParameterCount count = count_layer_parameters(workload, layer);
    const double visited =
        workload.num_experts > 0 ? count.experts * workload.top_k / workload.num_experts : count.experts;
    return count.total() - count.experts + visited;
}

}  // namespace

std::vector<int> layers_by_cost(const Workload& workload, int stages) {
    const double first = multiply_adds(workload, 0), last = multiply_adds(workload, workload.layers - 1);
    const auto cost_of = [&](int layer) {  // layers are of two kinds, the dense ones first
        return workload.is_moe_layer(layer) == workload.is_moe_layer(0) ? first : last;
    };
    double all = static_cast<double>(workload.vocab_size) * workload.hidden_size * (1 + workload.mtp_layers);
    for (int layer = workload.layers; layer < workload.layers_and_predictions(); ++layer) {
        all += multiply_adds(workload, layer);
    }
    for (int layer = 0; layer < workload.layers; ++layer) {
        all += cost_of(layer);
    }
    std::vector<int> layers(static_cast<std::size_t>(stages), 0);
    double cumulative = 0;
    std::size_t stage = 0;
    for (int layer = 0; layer < workload.layers; ++layer) {
        cumulative += cost_of(layer);
        while (stage + 1 < layers.size() && cumulative > all * static_cast<double>(stage + 1) / stages) {
            ++stage;
        }
        ++layers[stage];
    }
    return layers;
}

std::vector<int> layers_dealt(const Workload& workload, StageDeal deal, int stages) {
    AUSPEX_CHECK(deal != StageDeal::kList, "a plan lists layers itself");
    if (deal == StageDeal::kByCost) {
        return layers_by_cost(workload, stages);
    }
    const bool is_split = stages > 1;
    const int embedding = is_split && (deal == StageDeal::kWithEmbedding || deal == StageDeal::kWithBoth) ? 1 : 0;
    const int head = is_split && (deal == StageDeal::kWithHead || deal == StageDeal::kWithBoth) ? 1 : 0;
    const int counted = workload.layers + embedding + head;
    std::vector<int> layers(static_cast<std::size_t>(stages), counted / stages);
    for (int stage = 0; stage < counted % stages; ++stage) {
        ++layers[static_cast<std::size_t>(stage)];
    }
    layers.front() -= embedding;
    layers.back() -= head;
    return layers;
}

const char* to_string(StageDeal deal) {
    switch (deal) {
        case StageDeal::kEven: return "even";
        case StageDeal::kByCost: return "by-cost";
        case StageDeal::kWithEmbedding: return "even-with-embedding";
        case StageDeal::kWithHead: return "even-with-head";
        case StageDeal::kWithBoth: return "even-with-both";
        case StageDeal::kList: return "list";
    }
    return "";
}

}  // namespace auspex::models
