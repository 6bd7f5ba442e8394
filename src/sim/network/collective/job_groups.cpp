/// @file Groups out of the layout, in the model or here.
#include "sim/network/collective/job_groups.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "models/group_ranks.hpp"

namespace auspex::network {
namespace {

/// Of two ranks each; where a counterpart is the rank itself groups are of one.
bool are_pairs_of_two(const models::Layout& layout, models::GroupKind kind) {
    return are_pairs(kind) && group_size(layout, kind) == 2;
}

}  // namespace

const std::optional<RegularGroups>& JobGroups::whole(models::GroupKind kind, int stage) {
    if (const auto* const known = of_model(&JobGroups::wholes_, {kind, stage})) {
        return *known;
    }
    const auto [found, is_new] = wholes_.try_emplace(std::pair(kind, stage));
    if (is_new && places_.ranks_per_block > 0) {
        const bool pairs = are_pairs_of_two(layout_, kind);
        const std::optional<models::RankFamily> family = rank_family(layout_, kind, stage);
        found->second = family ? regular_groups(*family, pairs, places_) : std::nullopt;
        if (found->second && !form_of_regular(*found->second, pairs, places_)) {
            found->second.reset();
        }
    }
    return found->second;
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

int JobGroups::list(GroupSet groups, bool pairs) {
    AUSPEX_CHECK(places_.ranks_per_block == 0, "groups without a rule are listed rank by rank");
    const auto number = static_cast<int>(are_listed_pairs_.size());
    are_listed_pairs_.push_back(pairs);
    flat_.emplace(std::pair(kListedGroups, number), std::move(groups));
    return number;
}

std::size_t JobGroups::count(models::GroupKind kind, int stage) {
    const std::optional<RegularGroups>& regular = whole(kind, stage);
    return regular ? regular->count() : all(kind, stage).count();
}

std::vector<int> JobGroups::first(models::GroupKind kind, int stage) {
    const std::optional<RegularGroups>& regular = whole(kind, stage);
    if (!regular) {
        const std::span<const int> group = all(kind, stage).group(0);
        return {group.begin(), group.end()};
    }
    std::vector<int> group = sums_of(regular->members, 0, std::numeric_limits<int>::max());
    for (int& rank : group) {
        rank += regular->first;
    }
    return group;
}

const GroupForm& JobGroups::form(models::GroupKind kind, int stage) {
    if (const GroupForm* const known = of_model(&JobGroups::forms_, {kind, stage})) {
        return *known;
    }
    const auto [found, is_new] = forms_.try_emplace(std::pair(kind, stage));
    if (is_new) {
        const bool pairs = (kind != kListedGroups && are_pairs(kind)) ||
                           (kind == kListedGroups && are_listed_pairs_[static_cast<std::size_t>(stage)]);
        if (const std::optional<RegularGroups>& regular = whole(kind, stage)) {
            found->second = *form_of_regular(*regular, are_pairs_of_two(layout_, kind), places_);
        } else {
            found->second = pairs ? form_of_pairs(all(kind, stage), fabric_) : form_of(all(kind, stage), fabric_);
        }
    }
    return found->second;
}

const GroupSet& JobGroups::listed(const LevelKey& key) {
    if (const GroupSet* const known = of_model(&JobGroups::listed_, key)) {
        return *known;
    }
    const auto [found, is_new] = listed_.try_emplace(key);
    if (is_new) {
        const auto [kind, stage, level, member] = key;
        const GroupSet& groups = all(kind, stage);
        if (member == kAllSiblings) {
            found->second = subgroups(groups, level, fabric_);
        } else {
            const std::span<const int> one = groups.group(static_cast<std::size_t>(member));
            found->second = subgroups(flatten({{one.begin(), one.end()}}), level, fabric_);
        }
    }
    return found->second;
}

JobGroups::Signature JobGroups::signature(const LevelKey& key, const LevelGroups& groups) {
    if (groups.regular) {
        const RegularGroups& regular = *groups.regular;
        const int second = regular.members.empty() ? 0 : regular.members.back().stride;
        return {regular.count(), regular.group_size(), regular.first, second};
    }
    const GroupSet& set = listed(key);
    const std::span<const int> first = set.group(0);
    return {set.count(), first.size(), first.front(), first.size() > 1 ? first[1] - first[0] : 0};
}

bool JobGroups::are_equal(const LevelKey& a, const LevelGroups& of_a, const LevelKey& b) {
    const LevelGroups* of_b = of_model(&JobGroups::level_groups_, b);
    of_b = of_b != nullptr ? of_b : &level_groups_.at(b);
    return of_a.regular && of_b->regular ? *of_a.regular == *of_b->regular : listed(a) == listed(b);
}

PatternKey JobGroups::first_with(const LevelKey& key, const LevelGroups& groups, const PatternKey& own) {
    const Signature of_key = signature(key, groups);
    const auto is_same = [&](const PatternKey& other) { return are_equal(key, groups, level_key(other)); };
    if (const auto* const known = of_model(&JobGroups::firsts_, of_key)) {
        const auto first = std::find_if(known->begin(), known->end(), is_same);
        if (first != known->end()) {
            return *first;
        }
    }
    std::vector<PatternKey>& firsts = firsts_[of_key];
    const auto first = std::find_if(firsts.begin(), firsts.end(), is_same);
    return first != firsts.end() ? *first : firsts.emplace_back(own);
}

const JobGroups::LevelGroups& JobGroups::at(const PatternKey& asked) {
    const LevelKey key = level_key(asked);
    if (const LevelGroups* const known = of_model(&JobGroups::level_groups_, key)) {
        return *known;
    }
    if (const auto found = level_groups_.find(key); found != level_groups_.end()) {
        return found->second;
    }
    LevelGroups made;
    if (const std::optional<RegularGroups>& all_of_them = whole(asked.group, asked.stage);
        all_of_them && asked.member == kAllSiblings) {
        made.regular = regular_subgroups(*all_of_them, asked.level, places_);
    }
    // Patterns of kWorld keep no loads: nobody else may take them for his own.
    const PatternKey own{asked.group, asked.stage, asked.level, StepShape::kShift, 1, asked.member};
    made.same_as = asked.group == models::GroupKind::kWorld ? own : first_with(key, made, own);
    return level_groups_.emplace(key, std::move(made)).first->second;
}

const RegularGroups* JobGroups::regular(const PatternKey& key) {
    const LevelGroups& groups = at(key);
    return groups.regular ? &*groups.regular : nullptr;
}

}  // namespace auspex::network
