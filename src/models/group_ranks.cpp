/// @file Groups of ranks as families of strides.
#include "models/group_ranks.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.hpp"

namespace auspex::models {
namespace {

/// A family of equal groups among the N ranks of a stage. Group (a, b) holds the ranks
///   n = a * outer_stride + b + i * block_step + j * step, i < member_blocks, j < members_in_block, in this order,
/// for a < outer and b < inner. Every kind of group is such a family.
struct Family {
    int outer = 1, outer_stride = 0;
    int inner = 1;
    int member_blocks = 1, block_step = 0;
    int members_in_block = 1, step = 1;
};

/// Ranks n with equal remainder modulo `classes`: each group strides over the whole stage.
Family strided(int ranks, int classes) { return {1, 0, classes, 1, 0, ranks / classes, classes}; }
/// Blocks of inner * size ranks, in which a group takes every inner-th rank.
Family blocked(int ranks, int inner, int size) {
    return {ranks / (inner * size), inner * size, inner, 1, 0, size, inner};
}

/// kDenseDp groups cut by ep index. With q = tp / etp whole, n mod tp and the ep index together say n / etp modulo
/// lcm(q, ep). With etp / tp whole, each block of etp ranks of one expert holds etp / tp members. Otherwise the cut is
/// uneven: the groups stay whole.
Family dense_dp_outer(const Layout& layout) {
    const int ranks = layout.stage_ranks;
    if (layout.tp % layout.etp == 0) {
        return strided(ranks, layout.etp * std::lcm(layout.tp / layout.etp, layout.ep));
    }
    if (layout.etp % layout.tp == 0) {
        return {layout.ep, layout.etp, layout.tp, layout.dp, layout.ep * layout.etp, layout.etp / layout.tp, layout.tp};
    }
    return strided(ranks, layout.tp);
}

/// One member of each kDenseDpOuter group that makes up a kDenseDp group: neighbours in the stage, over all ep indices.
Family dense_dp_inner(const Layout& layout) {
    const int ranks = layout.stage_ranks;
    if (layout.tp % layout.etp == 0) {
        const int classes = layout.etp * std::lcm(layout.tp / layout.etp, layout.ep);
        return blocked(ranks, layout.tp, classes / layout.tp);
    }
    return layout.etp % layout.tp == 0 ? blocked(ranks, layout.etp, layout.ep) : blocked(ranks, 1, 1);
}

Family family_of(const Layout& layout, GroupKind kind) {
    const int ranks = layout.stage_ranks;
    switch (kind) {
        case GroupKind::kTp: return blocked(ranks, 1, layout.tp);
        case GroupKind::kCp: return blocked(ranks, layout.tp, layout.cp);
        case GroupKind::kCpAllToAll: return blocked(ranks, layout.tp, layout.cp_all_to_all);
        case GroupKind::kCpRing:
            return blocked(ranks, layout.tp * layout.cp_all_to_all, layout.cp / layout.cp_all_to_all);
        case GroupKind::kEtp: return blocked(ranks, 1, layout.etp);
        case GroupKind::kEp: return blocked(ranks, layout.etp, layout.ep);
        case GroupKind::kExpertDp: return strided(ranks, layout.ep * layout.etp);
        case GroupKind::kDenseDp: return strided(ranks, layout.tp);
        case GroupKind::kDenseDpOuter: return dense_dp_outer(layout);
        case GroupKind::kDenseDpInner: return dense_dp_inner(layout);
        // A block of dp indices is a block of the stage's ranks: the same one for dense part and experts.
        case GroupKind::kDenseShard: return blocked(ranks, layout.tp, ranks / layout.tp / layout.shard_replicas);
        case GroupKind::kExpertShard: return blocked(ranks, layout.ep * layout.etp, layout.dp / layout.shard_replicas);
        case GroupKind::kDenseReshard: return blocked(ranks, layout.tp, std::max(layout.reshard_ranks, 1));
        case GroupKind::kExpertReshard:
            return blocked(ranks, layout.ep * layout.etp, std::max(layout.reshard_ranks, 1));
        case GroupKind::kShardReplicas: return strided(ranks, ranks / layout.shard_replicas);
        case GroupKind::kStage: return strided(ranks, 1);
        case GroupKind::kRank: return blocked(ranks, 1, 1);
        case GroupKind::kWorld:
        case GroupKind::kNextStage:
        case GroupKind::kPreviousStage:
        case GroupKind::kMirrorStage: break;
    }
    check_failed("family_of", "a kind of group that lies in one stage", __FILE__, __LINE__);
}

/// Layout::rank(stage, n) for all n.
std::vector<int> stage_ranks(const Layout& layout, int stage) {
    const auto stride = [&](Axis axis) { return layout.stride[static_cast<std::size_t>(axis)]; };
    std::vector<int> ranks;
    ranks.reserve(static_cast<std::size_t>(layout.stage_ranks));
    for (int dp = 0; dp < layout.dp; ++dp) {
        for (int ep = 0; ep < layout.ep; ++ep) {
            const int first = dp * stride(Axis::kDp) + stage * stride(Axis::kPp) + ep * stride(Axis::kEp);
            for (int etp = 0; etp < layout.etp; ++etp) {
                ranks.push_back(first + etp * stride(Axis::kTp));
            }
        }
    }
    return ranks;
}

std::vector<int> ranks_in_stage(const Layout& layout, const Family& family, int stage) {
    const std::vector<int> of_stage = stage_ranks(layout, stage);
    std::vector<int> ranks;
    ranks.reserve(static_cast<std::size_t>(layout.stage_ranks));
    for (int a = 0; a < family.outer; ++a) {
        for (int b = 0; b < family.inner; ++b) {
            for (int i = 0; i < family.member_blocks; ++i) {
                for (int j = 0; j < family.members_in_block; ++j) {
                    const int n = a * family.outer_stride + b + i * family.block_step + j * family.step;
                    ranks.push_back(of_stage[static_cast<std::size_t>(n)]);
                }
            }
        }
    }
    return ranks;
}

/// The stage of the other ranks of pairs; of an odd number of stages none has a mirror but itself.
int counterpart_of(const Layout& layout, GroupKind pairs, int stage) {
    return group_size(layout, pairs) == 2 ? layout.other_stage(pairs, stage) : stage;
}

/// Pairs {from, to} of counterparts in two stages; in one stage a rank is its own and a group of one.
std::vector<int> counterparts(const Layout& layout, int stage, int other) {
    std::vector<int> own = stage_ranks(layout, stage);
    if (stage == other) {
        return own;
    }
    const int distance = (other - stage) * layout.stride[static_cast<std::size_t>(Axis::kPp)];
    std::vector<int> ranks;
    ranks.reserve(2 * own.size());
    for (const int rank : own) {
        ranks.push_back(rank);
        ranks.push_back(rank + distance);
    }
    return ranks;
}

/// Those of n, the number of a rank in its stage, as those of the rank: appends them, the last one the fastest. False
/// if they cut across an axis.
bool append_rank_digits(const Layout& layout, RankDigit of_n, std::vector<RankDigit>& digits) {
    struct AxisOfN {
        int step, count, stride;
    };
    const auto stride = [&](Axis axis) { return layout.stride[static_cast<std::size_t>(axis)]; };
    const std::array axes{AxisOfN{1, layout.etp, stride(Axis::kTp)}, AxisOfN{layout.etp, layout.ep, stride(Axis::kEp)},
                          AxisOfN{layout.etp * layout.ep, layout.dp, stride(Axis::kDp)}};
    std::vector<RankDigit> rising;
    int count = of_n.count, step = of_n.stride;
    for (const AxisOfN& axis : axes) {
        const int end = axis.step * axis.count;
        if (count == 1 || step >= end) {
            continue;
        }
        if (step % axis.step != 0 || (step * count > end && end % step != 0)) {
            return false;
        }
        const int here = step * count > end ? end / step : count;
        if (count % here != 0) {
            return false;
        }
        rising.push_back({here, step / axis.step * axis.stride});
        count /= here;
        step = end;
    }
    digits.insert(digits.end(), rising.rbegin(), rising.rend());
    return count == 1;
}

}  // namespace

std::vector<RankDigit> joined(const std::vector<RankDigit>& digits) {
    std::vector<RankDigit> found;
    for (const RankDigit& digit : digits) {
        if (digit.count == 1) {
            continue;
        }
        if (!found.empty() && found.back().stride == digit.count * digit.stride) {
            found.back() = {found.back().count * digit.count, digit.stride};
        } else {
            found.push_back(digit);
        }
    }
    return found;
}

std::optional<RankFamily> rank_family(const Layout& layout, GroupKind kind, int stage) {
    if (kind == GroupKind::kWorld) {
        return RankFamily{0, {}, joined({{layout.tiles, 1}})};
    }
    RankFamily found{stage * layout.pp_stride, {}, {}};
    const bool pairs = are_pairs(kind);
    const Family family = pairs ? blocked(layout.stage_ranks, 1, 1) : family_of(layout, kind);
    const bool follows_axes = append_rank_digits(layout, {family.outer, family.outer_stride}, found.groups) &&
                              append_rank_digits(layout, {family.inner, 1}, found.groups) &&
                              append_rank_digits(layout, {family.member_blocks, family.block_step}, found.members) &&
                              append_rank_digits(layout, {family.members_in_block, family.step}, found.members);
    if (!follows_axes) {
        return {};
    }
    found.groups = joined(found.groups);
    found.members = joined(found.members);
    const int other = pairs ? counterpart_of(layout, kind, stage) : stage;
    if (other != stage) {
        found.members.push_back({2, (other - stage) * layout.pp_stride});
    }
    return found;
}

std::vector<int> group_ranks(const Layout& layout, GroupKind kind, int stage) {
    switch (kind) {
        case GroupKind::kWorld: {
            std::vector<int> world(static_cast<std::size_t>(layout.tiles));
            std::iota(world.begin(), world.end(), 0);
            return world;
        }
        case GroupKind::kNextStage:
        case GroupKind::kPreviousStage:
        case GroupKind::kMirrorStage: return counterparts(layout, stage, counterpart_of(layout, kind, stage));
        default: return ranks_in_stage(layout, family_of(layout, kind), stage);
    }
}

std::vector<std::vector<int>> groups_of(const Layout& layout, GroupKind kind, int stage) {
    const std::vector<int> ranks = group_ranks(layout, kind, stage);
    const auto size = static_cast<std::ptrdiff_t>(group_size(layout, kind));
    std::vector<std::vector<int>> groups;
    groups.reserve(ranks.size() / static_cast<std::size_t>(size));
    for (auto first = ranks.begin(); first != ranks.end(); first += size) {
        groups.emplace_back(first, first + size);
    }
    return groups;
}

int group_size(const Layout& layout, GroupKind kind) {
    switch (kind) {
        case GroupKind::kWorld: return layout.tiles;
        case GroupKind::kNextStage:
        case GroupKind::kPreviousStage: return layout.pp > 1 ? 2 : 1;
        case GroupKind::kMirrorStage: return layout.pp % 2 == 0 ? 2 : 1;
        default: {
            const Family family = family_of(layout, kind);
            return family.member_blocks * family.members_in_block;
        }
    }
}

}  // namespace auspex::models
