/// @file Nodes that are not filled, groups that straddle two.
#include "sim/predict/placement_notes.hpp"

#include <algorithm>

#include "base/number_text.hpp"
#include "models/group_ranks.hpp"

namespace auspex::predict {
namespace {

/// Collectives in two levels want as many ranks of a group on each of its nodes (network/collective).
void note_unfilled_node(const models::Layout& layout, std::vector<std::string>& notes) {
    const int whole = layout.tiles / layout.tiles_per_node, left = layout.tiles % layout.tiles_per_node;
    if (whole > 0 && left > 0) {
        notes.push_back(counted(layout.tiles, "tile") + " leave " + std::to_string(left) +
                        " on a node by themselves: collectives over all nodes do not go over two levels, and may take "
                        "much longer than on " +
                        std::to_string(whole * layout.tiles_per_node) + " or " +
                        std::to_string((whole + 1) * layout.tiles_per_node) + " tiles, which fill theirs");
    }
}

void note_straddling(const models::Layout& layout, models::GroupKind kind, const char* name,
                     std::vector<std::string>& notes) {
    const int size = group_size(layout, kind);
    if (size <= 1 || size > layout.tiles_per_node) {
        return;
    }
    const auto groups = groups_of(layout, kind, 0);
    const auto straddles = [&](const std::vector<int>& group) {
        const auto [low, high] = std::minmax_element(group.begin(), group.end());
        return *low / layout.tiles_per_node != *high / layout.tiles_per_node;
    };
    const auto count = std::count_if(groups.begin(), groups.end(), straddles);
    if (count > 0) {
        notes.push_back(std::to_string(count) + " of " + std::to_string(groups.size()) + " " + name + " groups of " +
                        std::to_string(size) + " straddle two nodes of " + std::to_string(layout.tiles_per_node) +
                        " tiles in the first stage");
    }
}

}  // namespace

std::vector<std::string> placement_notes(const models::Layout& layout) {
    std::vector<std::string> notes;
    note_unfilled_node(layout, notes);
    note_straddling(layout, models::GroupKind::kTp, "tp", notes);
    note_straddling(layout, models::GroupKind::kEp, "ep", notes);
    return notes;
}

}  // namespace auspex::predict
