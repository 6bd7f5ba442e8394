/// @file Parts of loads.
#include "sim/network/sharing/pattern_loads.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "base/mix64.hpp"

namespace auspex::network {

std::uint64_t hash_of(LoadList loads) {
    std::uint64_t hash = loads.size();
    for (const LinkLoad& on : loads) {
        hash = mix64(hash ^ (std::bit_cast<std::uint64_t>(on.load) + on.link));
    }
    return hash;
}

bool are_equal(LoadList a, LoadList b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LinkLoad& one, const LinkLoad& other) {
        return one.link == other.link && one.load == other.load;
    });
}

std::vector<LinkLoad> list_of(const std::map<std::uint32_t, double>& loads) {
    std::vector<LinkLoad> list;
    list.reserve(loads.size());
    for (const auto& [link, load] : loads) {
        list.push_back({link, load});
    }
    return list;
}

std::size_t PatternLoads::add(std::uint32_t node, LoadList loads) {
    AUSPEX_CHECK(!loads.empty(), "a part has links");
    const auto begin = static_cast<std::uint32_t>(loads_.size());
    loads_.insert(loads_.end(), loads.begin(), loads.end());
    parts_.push_back({node, begin, static_cast<std::uint32_t>(loads_.size())});
    size_ += loads.size();
    return parts_.size() - 1;
}

std::size_t PatternLoads::repeat(std::uint32_t node, std::size_t like) {
    const Part same = parts_[like];
    parts_.push_back({node, same.begin, same.end});
    size_ += same.end - same.begin;
    return like;
}

std::span<LinkLoad> PatternLoads::between_nodes() {
    if (parts_.empty() || parts_.back().node != kBetweenNodes) {
        return {};
    }
    return std::span(loads_).subspan(parts_.back().begin, parts_.back().end - parts_.back().begin);
}

}  // namespace auspex::network
