#pragma once
/// @file The loads of a pattern by link, held once for all nodes with equal loads.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "sim/network/sharing/alike_blocks.hpp"
#include "sim/network/sharing/max_min.hpp"

namespace auspex::network {

/// Tells lists of loads apart.
[[nodiscard]] std::uint64_t hash_of(LoadList loads);
/// To the bit.
[[nodiscard]] bool are_equal(LoadList a, LoadList b);
[[nodiscard]] std::vector<LinkLoad> list_of(const std::map<std::uint32_t, double>& loads);

/// By rising link. A ring over a thousand nodes loads the same links of each: kept are the links of one of them and the
/// numbers of all.
class PatternLoads {
 public:
    static constexpr std::uint32_t kBetweenNodes = ~0U;
    /// Loads of one node, or of the links between nodes. Parts of nodes with equal loads begin at the same index.
    struct Part {
        std::uint32_t node;  ///< or kBetweenNodes
        std::uint32_t begin, end;
    };
    /// Goes over all links; gives values.
    class Iterator;

    PatternLoads() = default;
    explicit PatternLoads(std::uint32_t links_per_node) : links_per_node_(links_per_node) {}
    /// Parts come by rising node, kBetweenNodes last. Links of a node are named by slot. Returns the part's number.
    std::size_t add(std::uint32_t node, LoadList loads);
    /// A node that carries what the part number `like` does. Returns the number of the first that does.
    std::size_t repeat(std::uint32_t node, std::size_t like);

    /// What was added is that of the first block and of links that no block has for itself; the others carry as much.
    /// `blocks` must not end before the loads.
    void stand_for(const AlikeBlocks& blocks) { alike_ = &blocks; }
    /// Null: the loads are those of all nodes and links.
    [[nodiscard]] const AlikeBlocks* alike_blocks() const { return alike_; }
    /// The same with all blocks.
    [[nodiscard]] PatternLoads of_all_blocks() const;

    /// The links between nodes, if there are any: they are the last.
    [[nodiscard]] std::span<LinkLoad> between_nodes();

    [[nodiscard]] std::span<const Part> parts() const { return parts_; }
    [[nodiscard]] LoadList loads(const Part& part) const {
        return LoadList(loads_).subspan(part.begin, part.end - part.begin);
    }
    /// To be added to the links of loads(part).
    [[nodiscard]] std::uint32_t first_link(const Part& part) const {
        return part.node == kBetweenNodes ? 0 : part.node * links_per_node_;
    }

    /// Requires loads of all nodes and links.
    [[nodiscard]] Iterator begin() const;
    [[nodiscard]] Iterator end() const;
    [[nodiscard]] std::size_t size() const { return size_; }

 private:
    std::uint32_t links_per_node_ = 0;
    std::vector<Part> parts_;
    std::vector<LinkLoad> loads_;
    std::size_t size_ = 0;
    const AlikeBlocks* alike_ = nullptr;
};

class PatternLoads::Iterator {
 public:
    using iterator_category = std::input_iterator_tag;
    using value_type = LinkLoad;
    using difference_type = std::ptrdiff_t;
    using pointer = const LinkLoad*;
    using reference = LinkLoad;

    Iterator() = default;
    Iterator(const PatternLoads& on, std::size_t part) : on_(&on), part_(part) { enter(); }
    LinkLoad operator*() const { return {first_link_ + at_->link, at_->load}; }
    Iterator& operator++() {
        if (++at_ == end_) {
            ++part_;
            enter();
        }
        return *this;
    }
    Iterator operator++(int) {
        Iterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Iterator& other) const { return part_ == other.part_ && at_ == other.at_; }

 private:
    void enter() {
        at_ = end_ = nullptr;
        if (part_ < on_->parts_.size()) {
            const Part& part = on_->parts_[part_];
            at_ = on_->loads_.data() + part.begin;
            end_ = on_->loads_.data() + part.end;
            first_link_ = on_->first_link(part);
        }
    }
    const PatternLoads* on_ = nullptr;
    std::size_t part_ = 0;
    const LinkLoad *at_ = nullptr, *end_ = nullptr;
    std::uint32_t first_link_ = 0;
};

inline PatternLoads::Iterator PatternLoads::begin() const {
    AUSPEX_CHECK(alike_ == nullptr, "one goes over links that are all there");
    return {*this, 0};
}
inline PatternLoads::Iterator PatternLoads::end() const { return {*this, parts_.size()}; }

}  // namespace auspex::network
