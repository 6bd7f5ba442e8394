/// @file Plans too large, played all the same; then their neighbours.
#include "sim/search/answers/shut_out.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "sim/search/leaders.hpp"
#include "sim/search/played_plan.hpp"

namespace auspex::search {
namespace {

bool have_one_split(const EvaluatedPlan& a, const EvaluatedPlan& b) {
    const auto grid = [](const Candidate& c) { return std::tie(c.pp, c.tp, c.etp, c.ep, c.cp); };
    return grid(a.candidate) == grid(b.candidate);
}

/// Of each grid the fastest, at most so many.
std::vector<EvaluatedPlan> fastest_of_grids(std::vector<EvaluatedPlan> plans, std::size_t most) {
    std::ranges::sort(plans, is_better);
    std::vector<EvaluatedPlan> found;
    for (const EvaluatedPlan& plan : plans) {
        const auto is_known = [&](const EvaluatedPlan& other) { return have_one_split(other, plan); };
        if (found.size() < most && std::ranges::none_of(found, is_known)) {
            found.push_back(plan);
        }
    }
    return found;
}

/// The fastest of those that fit.
std::optional<EvaluatedPlan> fastest_that_fits(const models::Inputs& inputs, std::vector<EvaluatedPlan> plans) {
    tbb::parallel_for(std::size_t{0}, plans.size(),
                      [&](std::size_t i) { plans[i] = play_alone(inputs, plans[i], true); });
    std::erase_if(plans, [](const EvaluatedPlan& plan) { return plan.step == 0; });
    const auto best = std::ranges::min_element(plans, is_better);
    return best == plans.end() ? std::nullopt : std::optional(*best);
}

void find_what_fits(const models::Inputs& inputs, const SpaceRequest& request, const PlanSpace& space, ShutOut& one) {
    std::vector<EvaluatedPlan> recomputed, others;
    if (std::ranges::find(request.fixed, "recompute") == request.fixed.end()) {
        for (int recompute = 0; recompute <= kRecomputeAll; ++recompute) {
            if (recompute != one.plan.candidate.recompute) {
                recomputed.push_back({.candidate = one.plan.candidate});
                recomputed.back().candidate.recompute = static_cast<std::uint8_t>(recompute);
                recomputed.back().index = static_cast<std::uint64_t>(recompute);
            }
        }
    }
    for (const auto& [candidate, number] : space.neighbours_of(one.plan.candidate)) {
        if (candidate.recompute == one.plan.candidate.recompute && number != one.plan.index) {
            others.push_back({.candidate = candidate, .index = number});
        }
    }
    one.by_recompute = fastest_that_fits(inputs, std::move(recomputed));
    one.by_other_field = fastest_that_fits(inputs, std::move(others));
}

}  // namespace

ShutOutPlans shut_out_by_memory(const models::Inputs& inputs, const SpaceRequest& request, const SearchResult& result,
                                std::size_t most) {
    constexpr std::size_t kTogether = 8;  // whatever the number of cores: how many are played decides nothing else
    ShutOutPlans found;
    if (result.was_cut || result.best.empty()) {
        found.are_more_possible = result.was_cut;
        return found;
    }
    std::vector<EvaluatedPlan> played, fastest;
    const auto bar_s = [&] {
        return fastest.size() < most ? to_seconds(result.best.front().step) : to_seconds(fastest.back().step);
    };
    while (played.size() < result.unfit.size() && result.unfit[played.size()].bound_s < bar_s()) {
        const std::size_t first = played.size();
        played.resize(std::min(first + kTogether, result.unfit.size()));
        tbb::parallel_for(first, played.size(),
                          [&](std::size_t i) { played[i] = play_alone(inputs, result.unfit[i], false); });
        std::vector<EvaluatedPlan> faster = played;
        std::erase_if(faster, [&](const EvaluatedPlan& plan) { return plan.step >= result.best.front().step; });
        fastest = fastest_of_grids(std::move(faster), most);
    }
    found.played = played.size();
    found.are_more_possible =
        result.unfit.size() == kUnfitKept && played.size() == kUnfitKept && played.back().bound_s < bar_s();
    if (!fastest.empty()) {
        const PlanSpace space(inputs, request);
        for (const EvaluatedPlan& plan : fastest) {
            ShutOut& one = found.fastest.emplace_back(ShutOut{.plan = plan, .by_recompute = {}, .by_other_field = {}});
            one.excess_bytes = plan.memory_peak_bytes - inputs.machine.tile.hbm_bytes;
            find_what_fits(inputs, request, space, one);
        }
    }
    return found;
}

}  // namespace auspex::search
