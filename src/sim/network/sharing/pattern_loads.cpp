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

PatternLoads PatternLoads::of_all_blocks() const {
    if (alike_ == nullptr) {
        return *this;
    }
    PatternLoads all(links_per_node_);
    const auto blocks = static_cast<std::uint32_t>(alike_->blocks);
    for (std::uint32_t block = 0; block < blocks; ++block) {
        for (std::size_t p = 0; p < parts_.size() && parts_[p].node != kBetweenNodes; ++p) {
            const std::uint32_t node = parts_[p].node + block * static_cast<std::uint32_t>(alike_->nodes);
            if (block > 0) {
                (void)all.repeat(node, p);
                continue;
            }
            const auto like = std::find_if(parts_.begin(), parts_.end(),
                                           [&](const Part& part) { return part.begin == parts_[p].begin; });
            const auto first = static_cast<std::size_t>(like - parts_.begin());
            (void)(first < p ? all.repeat(node, first) : all.add(node, loads(parts_[p])));
        }
    }
    if (!parts_.empty() && parts_.back().node == kBetweenNodes) {
        std::map<std::uint32_t, double> between;
        for (const LinkLoad& on : loads(parts_.back())) {
            const BlockLinks* const own = alike_->links_with(on.link);
            for (std::uint32_t block = 0; block < (own == nullptr ? 1 : blocks); ++block) {
                between.emplace(on.link + (own == nullptr ? 0 : block * own->of_block), on.load);
            }
        }
        (void)all.add(kBetweenNodes, list_of(between));
    }
    return all;
}

std::span<LinkLoad> PatternLoads::between_nodes() {
    if (parts_.empty() || parts_.back().node != kBetweenNodes) {
        return {};
    }
    return std::span(loads_).subspan(parts_.back().begin, parts_.back().end - parts_.back().begin);
}

}  // namespace auspex::network
