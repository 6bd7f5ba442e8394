/// @file Parts of loads.
#include "sim/network/sharing/pattern_loads.hpp"

#include "base/error.hpp"

namespace auspex::network {

void PatternLoads::add(std::uint32_t node, LoadList loads) {
    AUSPEX_CHECK(!loads.empty(), "a part has links");
    const auto begin = static_cast<std::uint32_t>(loads_.size());
    loads_.insert(loads_.end(), loads.begin(), loads.end());
    parts_.push_back({node, begin, static_cast<std::uint32_t>(loads_.size())});
    size_ += loads.size();
}

void PatternLoads::repeat(std::uint32_t node, std::size_t like) {
    const Part same = parts_[like];
    parts_.push_back({node, same.begin, same.end});
    size_ += same.end - same.begin;
}

}  // namespace auspex::network
