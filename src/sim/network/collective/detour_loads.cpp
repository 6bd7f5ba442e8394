/// @file Pools of detours: their rate, then their loads.
#include "sim/network/collective/detour_loads.hpp"

#include <algorithm>
#include <span>

namespace auspex::network {
namespace {

/// Calls `visit(pool, pairs, direct)` for every pool of detours that `loads` (by rising link) load: its load, those of
/// its pair links, and what the direct links of a pair carry.
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
            visit(*at(end, detour.first_pool + pool), std::span<const LinkLoad>(first, end), detour.direct_bytes_per_s);
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
        if (carried >= rate * loads) {
            return rate;
        }
        rate = carried / loads;
    }
}

}  // namespace

DetourBound add_detours(const Fabric& fabric, std::span<LinkLoad> loads, double rate) {
    DetourBound bound{rate, kNoLink};
    for_each_pool(fabric, loads, [&](LinkLoad& pool, std::span<const LinkLoad> pairs, double direct) {
        const double left = rate_of_pool(bound.rate, pool.load, fabric.capacity_bytes_per_s(pool.link), pairs, direct);
        if (left < bound.rate) {
            bound = {left, pool.link};
        }
    });
    for_each_pool(fabric, loads, [&](LinkLoad& pool, std::span<const LinkLoad> pairs, double direct) {
        for (const LinkLoad& pair : pairs) {
            pool.load += std::max(0.0, pair.load - direct / bound.rate);
        }
    });
    return bound;
}

}  // namespace auspex::network
