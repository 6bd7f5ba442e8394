/// @file Ranges of links.
#include "sim/network/fabric/link_ranges.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace auspex::network {
namespace {

/// Fifty times the links of the largest machine known.
constexpr std::uint64_t kMaxLinks = std::uint64_t{1} << 26;

}  // namespace

LinkRanges::LinkRanges(std::uint64_t first, std::string where)
    : where_(std::move(where)), begin_(static_cast<std::uint32_t>(first)), end_(first) {}

std::uint32_t LinkRanges::add(LinkKind kind, std::uint64_t count, double bytes_per_s) {
    const auto first = static_cast<std::uint32_t>(end_);
    end_ += count;
    if (end_ > kMaxLinks) {
        throw InputError(where_, "found " + std::to_string(end_) + " links; expected at most " +
                                     std::to_string(kMaxLinks) + " for the nodes of a job");
    }
    if (count > 0) {
        ranges_.push_back({kind, first, bytes_per_s});
    }
    return first;
}

const LinkRanges::Range& LinkRanges::of(std::uint32_t link) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), link,
                                        [](std::uint32_t id, const Range& range) { return id < range.first; });
    return *std::prev(after);
}

bool LinkRanges::numbered_as(const LinkRanges& other) const {
    return begin_ == other.begin_ && end_ == other.end_ &&
           std::equal(ranges_.begin(), ranges_.end(), other.ranges_.begin(), other.ranges_.end(),
                      [](const Range& a, const Range& b) { return a.kind == b.kind && a.first == b.first; });
}

}  // namespace auspex::network
