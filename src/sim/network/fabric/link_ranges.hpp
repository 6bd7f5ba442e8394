#pragma once
/// @file Links by number: those of a kind and capacity are contiguous.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/fabric/route.hpp"
#include "sim/network/node/link_kind.hpp"

namespace auspex::network {

/// Grows by whole ranges; numbers never change.
class LinkRanges {
 public:
    struct Range {
        LinkKind kind;
        std::uint32_t first;
        double bytes_per_s;
    };

    /// `where` names the machine's fabric in errors.
    LinkRanges(std::uint64_t first, std::string where);
    /// Number of the first of `count` new links. Throws InputError when there are more links than the loads of a
    /// pattern can be kept for.
    std::uint32_t add(LinkKind kind, std::uint64_t count, double bytes_per_s);
    [[nodiscard]] std::uint32_t begin() const { return begin_; }
    [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(end_); }
    /// Requires: begin() <= link < end().
    [[nodiscard]] const Range& of(std::uint32_t link) const;
    /// The same kinds of links have the same numbers.
    [[nodiscard]] bool numbered_as(const LinkRanges& other) const;

 private:
    std::string where_;
    std::vector<Range> ranges_;
    std::uint32_t begin_;
    std::uint64_t end_;
};

}  // namespace auspex::network
