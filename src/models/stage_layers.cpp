/// @file Layers by cumulative cost.
#include "models/stage_layers.hpp"

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
    double all = static_cast<double>(workload.vocab_size) * workload.hidden_size;
    for (int layer = 0; layer < workload.layers; ++layer) {
        all += multiply_adds(workload, layer);
    }
    std::vector<int> layers(static_cast<std::size_t>(stages), 0);
    double cumulative = 0;
    std::size_t stage = 0;
    for (int layer = 0; layer < workload.layers; ++layer) {
        cumulative += multiply_adds(workload, layer);
        while (stage + 1 < layers.size() && cumulative > all * static_cast<double>(stage + 1) / stages) {
            ++stage;
        }
        ++layers[stage];
    }
    return layers;
}

}  // namespace auspex::models
