/// @file The rate of a pattern when alone: the least capacity over load.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "sim/network/collective/detour_loads.hpp"
#include "sim/network/collective/flow_pattern.hpp"

namespace auspex::network {
namespace {

/// Runs `pass` over the links of the first block, as often as there are `blocks` that carry the same, `links` apart. A
/// pass that binds nothing, or at the rate of the one before by rounding, does so in all blocks that follow.
template <class Pass>
void bind_blocks(FlowPattern& pattern, std::uint32_t blocks, std::uint32_t links, Pass&& pass) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
        const double rate = pattern.solo_rate;
        const std::uint32_t bottleneck = std::exchange(pattern.bottleneck, kNoLink);
        pass();
        if (pattern.bottleneck == kNoLink) {
            pattern.bottleneck = bottleneck;
            return;
        }
        const bool goes_on_so = pattern.solo_rate == rate;
        pattern.bottleneck += (goes_on_so ? blocks - 1 : block) * links;
        if (goes_on_so) {
            return;
        }
    }
}

}  // namespace

/// The link that binds: the first of those with the least capacity over load.
void PatternBuilder::find_rate(FlowPattern& pattern) {
    pattern.solo_rate = std::numeric_limits<double>::infinity();
    const AlikeBlocks* const alike = pattern.loads.alike_blocks();
    // Of all ranks at once the nodes that are there stand for the others.
    const bool by_block = alike != nullptr && pattern.key.group != models::GroupKind::kWorld;
    bind_blocks(pattern, by_block ? static_cast<std::uint32_t>(alike->blocks) : 1,
                by_block ? fabric_.first_link(alike->nodes) : 0, [&] { bind_nodes(pattern); });
    pattern.free_s_per_byte = 1 / pattern.solo_rate;
    pattern.window_s_per_byte = 0;
    bind_between(pattern);
    const std::span<LinkLoad> between = pattern.loads.between_nodes();
    const DetourBound bound = add_detours(fabric_, between, pattern.solo_rate);
    if (bound.link != kNoLink) {
        pattern.solo_rate = bound.rate;
        pattern.bottleneck = bound.link;
    }
    for (std::size_t level = 0; level < kDetourLevels; ++level) {
        pattern.waits[level].drain_s_per_byte = bound.full[level].drain_s_per_byte;
        pattern.waits[level].link = bound.full[level].link;
    }
    wait_in_windows(pattern);
    if (pattern.key.group == models::GroupKind::kWorld) {
        pattern.loads = PatternLoads(fabric_.links_per_node());
    }
}

/// A rank at rate b sends windows w that take w / b, each when the one before it has come as a whole; where packets
/// wait for full links, d of the level that they cross, a window waits with them:
///   rate = 1 / (messages / b + sum over levels of min(crossing * d / w, what is left of n / C))
/// The second of the two is the share C / n that n flows have of direct links C without any detour: ranks that leave
/// these no longer full do not wait. Of a rank's messages as many as any rank has are taken to cross between groups,
/// the others between switches. Bound by the full links is what has no more than their share, or waits longer than it
/// takes to send; else what bound it without the wait still does. Source: the packets of bench/packets,
/// tests/packets/full_pair_test.cpp.
void PatternBuilder::wait_in_windows(FlowPattern& pattern) const {
    const double free_s_per_byte = pattern.messages / fabric_.rank_bytes_per_s();
    double waiting_s_per_byte = 0;
    bool has_share_only = false;
    std::uint32_t full = kNoLink;
    int others = pattern.messages;
    for (const DetourLevel level : {DetourLevel::kGroups, DetourLevel::kSwitches}) {
        const FlowPattern::Wait& wait = pattern.waits[static_cast<std::size_t>(level)];
        const int crossing = std::min(wait.messages, others);
        others -= crossing;
        if (crossing > 0 && wait.drain_s_per_byte > 0) {
            const double windows = crossing * fabric_.detour_delay_s(level) / fabric_.rank_window_bytes();
            const double most = std::max(0.0, wait.drain_s_per_byte - free_s_per_byte);
            waiting_s_per_byte += std::min(windows, most);
            has_share_only = has_share_only || windows >= most;
            full = full == kNoLink ? wait.link : full;
        }
    }
    const double without = pattern.solo_rate, rate = 1 / (free_s_per_byte + waiting_s_per_byte);
    if (waiting_s_per_byte > 0 && rate < without) {
        pattern.solo_rate = rate;
        pattern.bottleneck = has_share_only || waiting_s_per_byte > free_s_per_byte ? full : pattern.bottleneck;
        pattern.window_s_per_byte = 1 / rate - 1 / without;
    }
}

void PatternBuilder::wait_as_all(const FlowPattern& all, FlowPattern& member) const {
    member.node_ranks = all.node_ranks;
    member.waits = all.waits;
    member.free_s_per_byte = all.free_s_per_byte;
    wait_in_windows(member);
    member.window_s_per_byte = all.window_s_per_byte;
}

void PatternBuilder::bind_between(FlowPattern& pattern) const {
    const std::span<const LinkLoad> between = pattern.loads.between_nodes();
    const auto bind_until = [&](auto first, std::uint32_t end) {
        for (; first != between.end() && first->link < end; ++first) {
            (void)bind(fabric_.capacity_bytes_per_s(first->link), *first, 0, pattern);
        }
        return first;
    };
    auto next = between.begin();
    if (const AlikeBlocks* const alike = pattern.loads.alike_blocks()) {
        for (const BlockLinks& own : alike->links) {
            const auto first = bind_until(next, own.first);
            next = first;
            bind_blocks(pattern, static_cast<std::uint32_t>(alike->blocks), own.of_block,
                        [&] { next = bind_until(first, own.first + own.of_block); });
        }
    }
    (void)bind_until(next, kNoLink);
}

/// True if the link binds as much as those before it, or more.
bool PatternBuilder::bind(double capacity, const LinkLoad& on, std::uint32_t first, FlowPattern& pattern) {
    const bool binds = capacity < pattern.solo_rate * on.load;
    if (binds) {
        pattern.solo_rate = capacity / on.load;
        pattern.bottleneck = first + on.link;
    }
    return binds;
}

/// Nodes that carry the same share a list. Where it binds no more, it does not bind at a lower rate either; where
/// rounding lets it bind at its own rate again, it does so at every node.
void PatternBuilder::bind_nodes(FlowPattern& pattern) const {
    struct Known {
        bool binds = true;
        double bound_again_at = 0;  ///< this rate
        std::uint32_t slot = 0;     ///< by this slot
    };
    std::unordered_map<std::uint32_t, Known> known;  // by begin of a list
    for (const PatternLoads::Part& part : pattern.loads.parts()) {
        if (part.node == PatternLoads::kBetweenNodes) {
            break;
        }
        Known& like = known[part.begin];
        const std::uint32_t first = pattern.loads.first_link(part);
        const double before = pattern.solo_rate;
        if (like.binds && like.bound_again_at == before) {
            pattern.bottleneck = first + like.slot;
        } else if (like.binds) {
            like.binds = false;
            for (const LinkLoad& on : pattern.loads.loads(part)) {
                like.binds |= bind(fabric_.capacity_bytes_per_s(first + on.link), on, first, pattern);
            }
            if (like.binds && pattern.solo_rate == before) {
                like.bound_again_at = before;
                like.slot = pattern.bottleneck - first;
            }
        }
    }
}

}  // namespace auspex::network
