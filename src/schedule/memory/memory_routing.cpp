/// @file Rows of a rank from the choices of recorded steps.
#include "schedule/memory/memory_routing.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "models/context/dealt_tokens.hpp"

namespace auspex::schedule {
namespace {

void require(const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected) {
        throw InputError("routing", std::string("found ") + what + " " + std::to_string(found) + "; expected " +
                                        std::to_string(expected));
    }
}

}  // namespace

void check_record(const models::RoutingRecord& record, const models::Workload& workload, const models::Plan& plan,
                  const models::Layout& layout) {
    require("layers", record.layers, workload.moe_layers());
    require("top_k", record.top_k, workload.top_k);
    require("num_experts", record.num_experts, workload.num_experts);
    require("tokens", record.tokens, std::int64_t{layout.global_batch} * workload.sequence_length);
}

std::vector<std::uint64_t> recorded_rows(const models::RoutingRecord& record, const models::Workload& workload,
                                         const models::Plan& plan, const models::GridCoordinates& coordinates,
                                         LayerRange layers, int step, int micro_batch) {
    const int local = workload.num_experts / plan.ep, first = coordinates.ep * local;
    const models::Layout grid = rank_grid(plan, tiles_of(plan));
    std::vector<std::uint64_t> rows;
    for (int layer = layers.first; layer < layers.last; ++layer) {
        std::int64_t sum = 0;
        for (int ep = 0; workload.is_moe_layer(layer) && ep < plan.ep; ++ep) {
            const int n = number_in_stage(grid, {coordinates.stage, coordinates.dp, ep, coordinates.etp});
            for (const models::TokenRun& run : routed_tokens(plan, grid, workload.sequence_length, n, micro_batch)) {
                const std::vector<std::int64_t> by_expert =
                    choices_by_expert(record, step, layer - workload.first_dense_layers, run.first, run.count);
                sum = std::accumulate(by_expert.begin() + first, by_expert.begin() + first + local, sum);
            }
        }
        rows.push_back(static_cast<std::uint64_t>(sum));
    }
    return rows;
}

}  // namespace auspex::schedule
