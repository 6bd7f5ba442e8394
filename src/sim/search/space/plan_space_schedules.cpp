/// @file Schedules of a grid's plans, and deals of layers to their virtual stages.
#include <algorithm>
#include <array>
#include <set>

#include "sim/search/space/plan_space.hpp"

namespace auspex::search {
namespace {

constexpr int kMaxVirtualStages = 8;

}  // namespace

/// With pp = 1 no schedule is shorter than 1f1b.
void PlanSpace::add_schedules(Candidate c) {
    using models::ScheduleKind;
    const bool is_fixed = !is_free("schedule") || !is_free("virtual_stages");
    if (is_fixed || c.pp == 1) {
        c.schedule = is_fixed ? inputs_.plan.schedule : ScheduleKind::k1f1b;
        c.virtual_stages = is_fixed ? inputs_.plan.virtual_stages : 1;
        add_if_possible(c);
        return;
    }
    for (const ScheduleKind schedule : schedules_) {
        c.schedule = schedule;
        c.virtual_stages = least_chunks(schedule);
        if (!add_if_possible(c) || schedule != ScheduleKind::kInterleaved1f1b) {
            continue;
        }
        for (++c.virtual_stages;
             c.virtual_stages <= kMaxVirtualStages && c.virtual_stages * c.pp <= inputs_.workload.layers;
             ++c.virtual_stages) {
            add_deals(c);
        }
    }
}

bool PlanSpace::add_if_possible(const Candidate& c) {
    const bool is_v = is_v_shaped(c.schedule), has_chunks = c.virtual_stages > 1;
    const bool fits = misfit_of(c.schedule, {c.pp, c.micro_batches, c.virtual_stages}).field.empty() &&
                      (!has_chunks || stages_of_model(c.schedule, c.pp, c.virtual_stages) <= inputs_.workload.layers);
    const char* const why =
        has_stages_twice(c.schedule)
            ? "dualpipe needs an even pp, an even number of micro-batches, 2 pp or more, and a layer for each stage"
        : is_v
            ? "zbv, v-half, v-min and dualpipev need pp > 1, micro-batches that fill the V, and a layer for each chunk"
            : "interleaved-1f1b needs pp > 1, micro_batches a multiple of pp, and a layer for each chunk";
    const bool are_twice = has_stages_twice(c.schedule);
    if (reject_if(!fits, why) || reject_if(are_twice && (once_a_step_.empty() || inputs_.plan.post_validation),
                                           "dualpipe has no zero-2, no fsdp and no post_validation")) {
        return false;
    }
    add_deals(c);
    return true;
}

const std::vector<models::StageDeal>& PlanSpace::deals(int stages_of_model) {
    using models::StageDeal;
    const models::Plan& base = inputs_.plan;
    const auto [found, is_new] = deals_.try_emplace(stages_of_model);
    if (!is_new) {
        return found->second;
    }
    if (base.stages == StageDeal::kList) {
        if (static_cast<int>(base.stage_layers.size()) == stages_of_model) {
            found->second = {StageDeal::kList};
        }
    } else if (!is_free("stages")) {
        found->second = {base.stages};
    } else {
        // Where deals give the same layers it is by the one that --where leaves that they are known.
        std::array<StageDeal, models::kNamedDeals.size()> named = models::kNamedDeals;
        std::ranges::stable_partition(named, [&](StageDeal deal) { return leave_deal(request_.where, deal); });
        std::set<std::vector<int>> known;
        for (const StageDeal deal : named) {
            const std::vector<int> layers = layers_dealt(inputs_.workload, deal, stages_of_model);
            if (std::ranges::find(layers, 0) == layers.end() && known.insert(layers).second) {
                found->second.push_back(deal);
            }
        }
    }
    return found->second;
}

models::StageDeal PlanSpace::deal_of(const models::Plan& plan) const {
    const int stages = stages_of_model(plan.schedule, plan.pp, plan.virtual_stages);
    const auto known = deals_.find(stages);
    if (plan.stages != models::StageDeal::kList && known != deals_.end()) {
        const std::vector<int> layers = layers_dealt(inputs_.workload, plan.stages, stages);
        for (const models::StageDeal deal : known->second) {
            if (deal != models::StageDeal::kList && layers_dealt(inputs_.workload, deal, stages) == layers) {
                return deal;
            }
        }
    }
    return plan.stages;
}

void PlanSpace::add_deals(Candidate c) {
    const std::vector<models::StageDeal>& all = deals(stages_of_model(c.schedule, c.pp, c.virtual_stages));
    const bool is_listed = inputs_.plan.stages == models::StageDeal::kList;
    reject_if(all.empty(), is_listed ? "stages lists the layers of another number of stages than pp * virtual_stages"
                                     : "there are fewer layers than pp * virtual_stages");
    for (const models::StageDeal deal : all) {
        c.stages = deal;
        add_shape(c);
    }
}

}  // namespace auspex::search
