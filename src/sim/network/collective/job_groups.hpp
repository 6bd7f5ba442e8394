#pragma once
/// @file The groups of a job by kind, stage and level, each found once.
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/layout.hpp"
#include "sim/network/collective/flow_pattern.hpp"
#include "sim/network/collective/group_set.hpp"
#include "sim/network/collective/regular_groups.hpp"

namespace auspex::network {

/// The kind of groups that no layout has: they are listed, and the number of a list takes the place of the stage.
inline constexpr auto kListedGroups = static_cast<models::GroupKind>(255);

class JobGroups {
 public:
    /// `model`: of a job with the same layout and routes; what it has is taken from it. It must not end or change
    /// before this; null: none.
    JobGroups(const models::Layout& layout, const Fabric& fabric, const JobGroups* model)
        : layout_(layout), fabric_(fabric), model_(model), places_(rank_places(fabric)) {}

    /// All groups are listed rank by rank from here on, by rule never. Before anything is asked.
    void list_all() { places_ = {}; }
    /// A list of groups of the same size, of kListedGroups; `pairs`: they are {from, to}. Returns its number. Requires
    /// list_all().
    int list(GroupSet groups, bool pairs);

    [[nodiscard]] std::size_t count(models::GroupKind kind, int stage);
    const GroupForm& form(models::GroupKind kind, int stage);
    /// Ranks of the first group.
    [[nodiscard]] std::vector<int> first(models::GroupKind kind, int stage);
    /// Those of the key's kind, stage, level and member, listed.
    const GroupSet& of(const PatternKey& key) { return listed(level_key(key)); }
    /// The same by rule; null: they have none.
    const RegularGroups* regular(const PatternKey& key);
    /// Kind, stage, level and member under which the very same ranks were met first; the rest of the key is any. Kinds
    /// of groups often coincide (experts' replicas and the outer level of dense ones): then they share their patterns.
    PatternKey first_with_those_of(const PatternKey& key) { return at(key).same_as; }

 private:
    using LevelKey = std::tuple<models::GroupKind, int, Level, int>;
    struct LevelGroups {
        std::optional<RegularGroups> regular;  ///< none: they are listed
        PatternKey same_as{};
    };
    /// By which groups are told apart before their ranks are compared.
    using Signature = std::tuple<std::size_t, std::size_t, int, int>;
    [[nodiscard]] static LevelKey level_key(const PatternKey& key) {
        return {key.group, key.stage, key.level, key.member};
    }
    const std::optional<RegularGroups>& whole(models::GroupKind kind, int stage);
    const GroupSet& all(models::GroupKind kind, int stage);
    const GroupSet& listed(const LevelKey& key);
    const LevelGroups& at(const PatternKey& key);
    [[nodiscard]] Signature signature(const LevelKey& key, const LevelGroups& groups);
    [[nodiscard]] bool are_equal(const LevelKey& a, const LevelGroups& of_a, const LevelKey& b);
    [[nodiscard]] PatternKey first_with(const LevelKey& key, const LevelGroups& groups, const PatternKey& own);
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
    RankPlaces places_;
    std::map<std::pair<models::GroupKind, int>, std::optional<RegularGroups>> wholes_;
    std::map<std::pair<models::GroupKind, int>, GroupSet> flat_;
    std::map<std::pair<models::GroupKind, int>, GroupForm> forms_;
    std::vector<bool> are_listed_pairs_;  ///< by number of a list
    std::map<LevelKey, LevelGroups> level_groups_;
    std::map<LevelKey, GroupSet> listed_;
    std::map<Signature, std::vector<PatternKey>> firsts_;
};

}  // namespace auspex::network
