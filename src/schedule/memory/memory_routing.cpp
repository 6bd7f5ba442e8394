/// @file Rows of a rank from the choices of recorded steps.
#include "schedule/memory/memory_routing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "models/context/dealt_tokens.hpp"
#include "models/routing.hpp"

namespace auspex::schedule {
namespace {

void require(const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected) {
        throw InputError("routing", std::string("found ") + what + " " + std::to_string(found) + "; expected " +
                                        std::to_string(expected));
    }
}

}  // namespace

void check_record(const models::RoutingRecord& record, const models::Workload& workload, const models::Layout& layout) {
    require("layers", record.layers, workload.moe_layers());
    require("top_k", record.top_k, workload.top_k);
    require("num_experts", record.num_experts, workload.num_experts);
    require("tokens", record.tokens, std::int64_t{layout.global_batch} * workload.sequence_length);
}

namespace {

/// Of the tokens that rank `number` of a stage routes in a micro-batch.
std::vector<std::int64_t> kept_by_expert(const models::RoutingRecord& record, const models::Workload& workload,
                                         const models::Plan& plan, const models::Layout& grid, int number, int step,
                                         int moe_layer, int micro_batch) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(workload.num_experts), 0);
    std::int64_t tokens = 0;
    for (const models::TokenRun& run : routed_tokens(plan, grid, workload.sequence_length, number, micro_batch)) {
        const std::vector<std::int64_t> more = choices_by_expert(record, step, moe_layer, run.first, run.count);
        std::ranges::transform(counts, more, counts.begin(), std::plus<>());
        tokens += run.count;
    }
    const double capacity = expert_capacity(workload, static_cast<double>(tokens));
    for (std::int64_t& count : counts) {
        count = static_cast<double>(count) > capacity ? static_cast<std::int64_t>(capacity) : count;
    }
    return counts;
}

}  // namespace

std::vector<LayerRows> recorded_rows(const models::RoutingRecord& record, const models::Workload& workload,
                                     const models::Plan& plan, const models::GridCoordinates& coordinates,
                                     LayerRange layers, int step, int micro_batch) {
    const int local = workload.num_experts / plan.ep, first = coordinates.ep * local;
    const models::Layout grid = rank_grid(plan, tiles_of(plan));
    std::vector<LayerRows> rows;
    for (int layer = layers.first; layer < layers.last; ++layer) {
        std::int64_t computed = 0, sent = 0;
        for (int ep = 0; workload.is_moe_layer(layer) && ep < plan.ep; ++ep) {
            const int n = number_in_stage(grid, {coordinates.stage, coordinates.dp, ep, coordinates.etp});
            const std::vector<std::int64_t> kept =
                kept_by_expert(record, workload, plan, grid, n, step, layer - workload.first_dense_layers, micro_batch);
            computed = std::accumulate(kept.begin() + first, kept.begin() + first + local, computed);
            sent = ep == coordinates.ep ? std::accumulate(kept.begin(), kept.end(), sent) : sent;
        }
        rows.push_back({static_cast<std::uint64_t>(computed), static_cast<std::uint64_t>(sent)});
    }
    return rows;
}

}  // namespace auspex::schedule
