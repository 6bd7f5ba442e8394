/// @file Groups out of the layout, in the model or here.
#include "sim/network/collective/job_groups.hpp"

#include "base/mix64.hpp"
#include "models/group_ranks.hpp"

namespace auspex::network {

PatternKey JobGroups::first_with(const GroupSet& groups, const PatternKey& own) {
    std::uint64_t hash = groups.count();
    for (const int rank : groups.ranks) {
        hash = hash * kGoldenGamma + static_cast<std::uint64_t>(rank);
    }
    if (const PatternKey* const known = of_model(&JobGroups::first_by_hash_, hash);
        known != nullptr && model_->met(*known).groups == groups) {
        return *known;
    }
    const PatternKey& first = first_by_hash_.try_emplace(hash, own).first->second;
    return first == own || met(first).groups == groups ? first : own;
}

const GroupSet& JobGroups::all(models::GroupKind kind, int stage) {
    if (const GroupSet* const known = of_model(&JobGroups::flat_, {kind, stage})) {
        return *known;
    }
    const auto [found, is_new] = flat_.try_emplace(std::pair(kind, stage));
    if (is_new) {
        found->second = equal_groups(group_ranks(layout_, kind, stage), group_size(layout_, kind));
    }
    return found->second;
}

const GroupForm& JobGroups::form(models::GroupKind kind, int stage) {
    if (const GroupForm* const known = of_model(&JobGroups::forms_, {kind, stage})) {
        return *known;
    }
    const auto [found, is_new] = forms_.try_emplace(std::pair(kind, stage));
    if (is_new) {
        const bool pairs = kind == models::GroupKind::kNextStage || kind == models::GroupKind::kPreviousStage;
        found->second = pairs ? form_of_pairs(all(kind, stage), fabric_) : form_of(all(kind, stage), fabric_);
    }
    return found->second;
}

const JobGroups::LevelGroups& JobGroups::at(const PatternKey& asked) {
    const LevelKey key = level_key(asked);
    if (const LevelGroups* const known = of_model(&JobGroups::level_groups_, key)) {
        return *known;
    }
    if (const auto found = level_groups_.find(key); found != level_groups_.end()) {
        return found->second;
    }
    const GroupSet& whole = all(asked.group, asked.stage);
    LevelGroups made;
    if (asked.member == kAllSiblings) {
        made.groups = subgroups(whole, asked.level, fabric_);
    } else {
        const std::span<const int> one = whole.group(static_cast<std::size_t>(asked.member));
        made.groups = subgroups(flatten({{one.begin(), one.end()}}), asked.level, fabric_);
    }
    // Patterns of kWorld keep no loads: nobody else may take them for his own.
    const PatternKey own{asked.group, asked.stage, asked.level, StepShape::kShift, 1, asked.member};
    made.same_as = asked.group == models::GroupKind::kWorld ? own : first_with(made.groups, own);
    return level_groups_.emplace(key, std::move(made)).first->second;
}

}  // namespace auspex::network
