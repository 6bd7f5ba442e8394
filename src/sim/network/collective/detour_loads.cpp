/// @file Pools of detours: their rate, then their loads.
#include "sim/network/collective/detour_loads.hpp"

#include <algorithm>
#include <span>

namespace auspex::network {
namespace {

/// Calls `visit(detour, pool, pairs)` for every pool of detours that `loads` (by rising link) load: its load, and those
/// of its pair links.
template <typename Visit>
void for_each_pool(const Fabric& fabric, std::span<LinkLoad> loads, Visit&& visit) {
    const auto at = [&](auto from, std::uint32_t link) {
        return std::lower_bound(from, loads.end(), link,
                                [](const LinkLoad& on, std::uint32_t sought) { return on.link < sought; });
    };
    for (const DetourLinks& detour : fabric.detours()) {
        const auto last = at(loads.begin(), detour.end);
        for (auto first = at(loads.begin(), detour.first); first != last;) {
            const std::uint32_t pool = (first->link - detour.first) / detour.links_of_pool;
            const auto end = at(first, detour.first + (pool + 1) * detour.links_of_pool);
            visit(detour, *at(end, detour.first_pool + pool), std::span<const LinkLoad>(first, end));
            first = end;
        }
    }
}

/// The rate r, `rate` at most, at which load * r + sum over pairs of max(0, n * r - direct), n being the load of a
/// pair, is the capacity of their pool. Newton's method from above on a sum of convex, broken lines: each step leaves
/// out pairs that no longer detour, and without any of these it is exact.
double rate_of_pool(double rate, double load, double capacity, std::span<const LinkLoad> pairs, double direct) {
    while (true) {
        double loads = load, carried = capacity;
        for (const LinkLoad& pair : pairs) {
            if (pair.load * rate > direct) {
                loads += pair.load;
                carried += direct;
            }
        }
        const double next = carried / loads;
        if (next >= rate) {
            return rate;
        }
        rate = next;
    }
}

}  // namespace

DetourBound add_detours(const Fabric& fabric, std::span<LinkLoad> loads, double rate) {
    DetourBound bound{rate, kNoLink};
    for_each_pool(fabric, loads, [&](const DetourLinks& detour, LinkLoad& pool, std::span<const LinkLoad> pairs) {
        const double capacity = fabric.capacity_bytes_per_s(pool.link);
        const double left = rate_of_pool(bound.rate, pool.load, capacity, pairs, detour.direct_bytes_per_s);
        if (left < bound.rate) {
            bound.rate = left;
            bound.link = pool.link;
        }
    });
    for_each_pool(fabric, loads, [&](const DetourLinks& detour, LinkLoad& pool, std::span<const LinkLoad> pairs) {
        const double direct = detour.direct_bytes_per_s;
        DetourBound::FullPair& full = bound.full[static_cast<std::size_t>(detour.level)];
        for (const LinkLoad& pair : pairs) {
            pool.load += std::max(0.0, pair.load - direct / bound.rate);
            if (is_contended(pair.load * bound.rate, direct) && pair.load / direct > full.drain_s_per_byte) {
                full = {pair.load / direct, pair.link};
            }
        }
    });
    return bound;
}

}  // namespace auspex::network
