/// @file Words of placements, lists of nodes, and what goes with nodes drawn by chance.
#include "models/plan_file/read_placement.hpp"

#include <set>

#include "base/json.hpp"
#include "models/flag_words.hpp"

namespace auspex::models {
namespace {

constexpr std::int64_t kMaxNode = 1'000'000;

/// Keys that only placements by chance have.
void read_chance(const JsonValue& root, Plan& plan) {
    const bool is_scheduled = plan.placement == PlacementKind::kScheduled;
    if (const auto value = root.find("placement_seed")) {
        if (!draws_nodes(plan.placement)) {
            value->fail("no such key without \"placement\": \"random\" or \"scheduled\"");
        }
        plan.placement_seed = static_cast<std::uint64_t>(value->as_integer(0, std::int64_t{1} << 53));
    }
    if (const auto value = root.find("placement_free")) {
        if (!is_scheduled) {
            value->fail("no such key without \"placement\": \"scheduled\"");
        }
        plan.placement_free = value->as_number(0.001, 1);
    }
}

void read_word_or_list(const JsonValue& root, Plan& plan) {
    const auto value = root.find("placement");
    if (!value) {
        return;
    }
    if (!value->is_array()) {
        plan.placement = kNamedPlacements[word_of(*value,
                                                  {to_string(kNamedPlacements[0]), to_string(kNamedPlacements[1]),
                                                   to_string(kNamedPlacements[2]), to_string(kNamedPlacements[3])},
                                                  "a list of node numbers, such as [0, 1, 2]")];
        return;
    }
    plan.placement = PlacementKind::kList;
    std::set<int> seen;
    for (const JsonValue& element : value->elements()) {
        const int node = static_cast<int>(element.as_integer(0, kMaxNode));
        if (!seen.insert(node).second) {
            element.fail("each node once");
        }
        plan.placement_nodes.push_back(node);
    }
    if (plan.placement_nodes.empty()) {
        value->fail("at least one node number");
    }
}

}  // namespace

void read_placement(const JsonValue& root, Plan& plan) {
    read_word_or_list(root, plan);
    read_chance(root, plan);
}

}  // namespace auspex::models
