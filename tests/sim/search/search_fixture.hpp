#pragma once
/// @file Inputs and spaces for searches, shipped and drawn, and what two searches have to agree on.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex::testing_search {

inline models::Inputs inputs_of(const std::string& machine, const std::string& stack, const std::string& workload) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    models::Inputs inputs = models::load_inputs(load("machines/" + machine), load("stacks/" + stack),
                                                load("workloads/" + workload), load("plans/mula-7b-a1b"));
    inputs.plan.recompute.norm = inputs.plan.recompute.attention = inputs.plan.recompute.expert = false;
    return inputs;
}

/// A small space: few layers and experts, rates of machine and fabric drawn around what they are.
inline models::Inputs drawn_inputs(std::uint64_t seed) {
    Rng rng(seed);
    const std::vector<std::pair<const char*, const char*>> systems{
        {"aurora", "optimus"}, {"dgx-h100", "bare"}, {"dgx-a100", "megatron-deepspeed"}, {"frontier", "bare"}};
    const auto& [machine, stack] = systems[rng.below(systems.size())];
    models::Inputs inputs = inputs_of(machine, stack, rng.below(3) == 0 ? "mula-1b" : "mula-7b-a1b");
    inputs.workload.layers = 2 + static_cast<int>(rng.below(5));
    inputs.workload.first_dense_layers = inputs.workload.num_experts > 0 ? static_cast<int>(rng.below(2)) : 0;
    if (inputs.workload.first_dense_layers > 0) {
        inputs.workload.intermediate_size = 4096;
    }
    inputs.workload.tied_embeddings = rng.below(4) == 0;
    if (inputs.stack.offers_dispatches.size() > 2) {  // two at a time, for spaces that can be tried whole
        inputs.stack.offers_dispatches.erase(inputs.stack.offers_dispatches.begin() + static_cast<int>(seed % 2));
    }
    if (inputs.workload.num_experts > 0 && rng.below(3) == 0) {
        inputs.plan.routing.kind = models::RoutingDistribution::kZipf;
        inputs.plan.routing.parameter = 0.4;
    }
    Rng choices(seed + 1'000'000);
    inputs.workload.mtp_layers = choices.below(3) == 0 ? 1 + static_cast<int>(choices.below(2)) : 0;
    if (inputs.workload.num_experts > 0) {
        inputs.workload.router_bias = choices.below(2) == 0;
        inputs.workload.capacity_factor = std::vector{0.0, 0.0, 0.5, 1.25}[choices.below(4)];
        inputs.workload.pad_to_capacity = inputs.workload.capacity_factor > 0 && choices.below(2) == 0;
        inputs.plan.routing.alike_layers = choices.below(2) == 0;
    }
    const auto vary = [&rng](double& value) { value *= 0.3 + 2 * rng.uniform(); };
    vary(inputs.machine.tile.peak_bf16_flop_per_s);
    vary(inputs.machine.tile.hbm_bytes_per_s);
    vary(inputs.machine.node.nic_bytes_per_s);
    vary(inputs.stack.rank_bytes_per_s);
    inputs.machine.tile.hbm_bytes *= 0.1 + rng.uniform();
    inputs.workload.vocab_size = 16'384 << rng.below(5);  // heads of less than a layer, and of several
    inputs.plan.placement = rng.below(3) == 0 ? models::PlacementKind::kScattered : models::PlacementKind::kContiguous;
    return inputs;
}

inline search::SpaceRequest small_request(std::uint64_t seed) {
    Rng rng(seed);
    search::SpaceRequest request;
    request.tiles = std::vector{8, 12, 16, 24}[rng.below(4)];
    request.global_batch = request.tiles * std::vector{1, 2, 4}[rng.below(3)];
    request.where = search::read_constraints("--where", "tp<=4,micro_batch_size<=2,virtual_stages<=2");
    request.fixed = {"recompute", "expert_kernels"};
    if (rng.below(4) > 0) {
        request.fixed.emplace_back("overlap");
    } else {
        request.fixed.emplace_back("optimizer");
        request.where.push_back({"pp", "<=", 2});
    }
    if (rng.below(3) == 0) {
        request.where.push_back({"pp", ">=", 2});
    }
    return request;
}

/// What differs between the answers of two searches of one space, in words; empty: nothing that may not.
inline std::string difference(const search::SearchResult& a, const search::SearchResult& b) {
    std::string found;
    const auto compare = [&found](const char* what, const std::vector<search::EvaluatedPlan>& one,
                                  const std::vector<search::EvaluatedPlan>& other) {
        found += one.size() == other.size() ? "" : std::string("as many of ") + what + "; ";
        for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
            const search::EvaluatedPlan &x = one[i], &y = other[i];
            if (x.index != y.index || x.step != y.step || x.bound_s != y.bound_s || x.losses != y.losses ||
                x.memory_peak_bytes != y.memory_peak_bytes || x.candidate.pp != y.candidate.pp ||
                x.candidate.micro_batches != y.candidate.micro_batches || x.candidate.stages != y.candidate.stages ||
                x.candidate.recompute != y.candidate.recompute) {
                found += std::string(what) + " " + std::to_string(i) + "; ";
            }
        }
    };
    compare("best", a.best, b.best);
    compare("pareto", a.pareto, b.pareto);
    compare("unfit", a.unfit, b.unfit);
    found += a.space == b.space && a.rejected == b.rejected ? "" : "space; ";
    for (const search::SearchResult& one : {a, b}) {
        found += one.space == one.pruned_bound + one.pruned_memory + one.evaluated ? "" : "sums; ";
        found += one.was_cut || one.untried > 0 ? "cut; " : "";
    }
    return found;
}

}  // namespace auspex::testing_search
