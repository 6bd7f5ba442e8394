#pragma once
/// @file The groups of a job by kind, stage and level, each found once.
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "models/layout.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/group_set.hpp"

namespace auspex::network {

class JobGroups {
 public:
    /// `model`: of a job with the same layout and routes; what it has is taken from it. It must not end or change
    /// before this; null: none.
    JobGroups(const models::Layout& layout, const Fabric& fabric, const JobGroups* model)
        : layout_(layout), fabric_(fabric), model_(model) {}

    /// All groups of a kind in a stage.
    const GroupSet& all(models::GroupKind kind, int stage);
    const GroupForm& form(models::GroupKind kind, int stage);
    /// Those of the key's kind, stage, level and member.
    const GroupSet& of(const PatternKey& key) { return at(key).groups; }
    /// Kind, stage, level and member under which the very same ranks were met first; the rest of the key is any. Kinds
    /// of groups often coincide (experts' replicas and the outer level of dense ones): then they share their patterns.
    PatternKey first_with_those_of(const PatternKey& key) { return at(key).same_as; }

 private:
    struct LevelGroups {
        GroupSet groups;
        PatternKey same_as{};
    };
    using LevelKey = std::tuple<models::GroupKind, int, Level, int>;
    [[nodiscard]] static LevelKey level_key(const PatternKey& key) {
        return {key.group, key.stage, key.level, key.member};
    }
    const LevelGroups& at(const PatternKey& key);
    [[nodiscard]] PatternKey first_with(const GroupSet& groups, const PatternKey& own);
    [[nodiscard]] const LevelGroups& met(const PatternKey& key) const { return level_groups_.at(level_key(key)); }
    /// What the model has in one of its maps under a key; null: nothing.
    template <class Map>
    [[nodiscard]] const typename Map::mapped_type* of_model(Map JobGroups::*map,
                                                            const typename Map::key_type& key) const {
        if (model_ == nullptr) {
            return nullptr;
        }
        const auto found = (model_->*map).find(key);
        return found == (model_->*map).end() ? nullptr : &found->second;
    }

    const models::Layout& layout_;
    const Fabric& fabric_;
    const JobGroups* model_;
    std::map<std::pair<models::GroupKind, int>, GroupSet> flat_;
    std::map<std::pair<models::GroupKind, int>, GroupForm> forms_;
    std::map<LevelKey, LevelGroups> level_groups_;
    std::map<std::uint64_t, PatternKey> first_by_hash_;
};

}  // namespace auspex::network
