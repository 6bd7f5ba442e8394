#pragma once
/// @file Terminals, switches, groups and links of a dragonfly, by number.
#include <array>
#include <cstddef>
#include <cstdint>

namespace auspex::packets {

/// A dragonfly as in Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008:
/// groups of switches, all joined to all, and groups all joined to all. Global ports are consecutive: those of a group
/// lead to the other groups in rising order, the first h of them on its first switch, and so on.
struct Shape {
    int terminals = 2;  ///< a switch (p)
    int switches = 4;   ///< a group (a)
    int ports = 2;      ///< global ports a switch (h); ports * switches >= links * (groups - 1)
    int groups = 9;     ///< g
    int links = 1;      ///< parallel links between two groups (L)
};

using LinkId = std::uint32_t;

/// The links that a packet takes from its source's switch on: at most local, global, local, global, local, terminal.
struct Path {
    std::array<LinkId, 6> links{};
    std::size_t size = 0;
    void push(LinkId link) { links[size++] = link; }
};

/// Numbers of links. A switch is numbered [group][switch], a terminal [group][switch][terminal].
class Dragonfly {
 public:
    explicit Dragonfly(const Shape& shape);

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] int terminals_per_group() const { return shape_.terminals * shape_.switches; }
    [[nodiscard]] int terminals() const { return terminals_per_group() * shape_.groups; }
    [[nodiscard]] int switch_of(int terminal) const { return terminal / shape_.terminals; }
    [[nodiscard]] int group_of_switch(int of) const { return of / shape_.switches; }
    [[nodiscard]] LinkId links() const { return first_global_ + global_links(); }

    [[nodiscard]] LinkId from_terminal(int terminal) const { return static_cast<LinkId>(terminal); }
    [[nodiscard]] LinkId to_terminal(int terminal) const { return static_cast<LinkId>(terminals() + terminal); }
    [[nodiscard]] LinkId local(int from_switch, int to_switch) const;
    [[nodiscard]] LinkId global(int from_group, int to_group, int parallel) const;
    [[nodiscard]] bool is_terminal(LinkId link) const { return link < first_local_; }
    [[nodiscard]] bool is_global(LinkId link) const { return link >= first_global_; }
    /// The switch of `group` that holds this one of its links to `other`.
    [[nodiscard]] int gateway(int group, int other, int parallel) const;
    /// The first of the parallel links of this global one.
    [[nodiscard]] LinkId first_parallel(LinkId global) const;
    /// Whether parallel links begin at one switch and end at one.
    [[nodiscard]] bool are_side_by_side(LinkId one, LinkId other) const;

 private:
    [[nodiscard]] LinkId global_links() const {
        return static_cast<LinkId>(shape_.groups * shape_.groups * shape_.links);
    }

    Shape shape_;
    LinkId first_local_, first_global_;
};

}  // namespace auspex::packets
