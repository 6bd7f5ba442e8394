#pragma once
/// @file Max-min fair rates of one problem after another.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/sharing/max_min.hpp"

namespace auspex::network {

/// max_min_rates (max_min.hpp) that keeps its memory between problems, and says which links were full.
class MaxMinFilling {
 public:
    static constexpr std::uint32_t kUnused = ~0U;

    /// Requires what max_min_rates does. What is returned is valid until the next call.
    std::span<const double> solve(std::span<const double> capacities, std::span<const LoadList> classes);
    /// Of the last solution, by class: the link that was full and fixed its rate; kUnused: none.
    [[nodiscard]] std::span<const std::uint32_t> bottlenecks() const { return bottlenecks_; }

 private:
    /// A link with classes on it that still rise. Loads frozen at the same level are summed before they are multiplied
    /// and taken off, so that the result does not depend on how flows were put into classes.
    struct Link {
        std::uint32_t number = 0;  ///< among `capacities`
        double left = 0;           ///< without what froze at `level`
        double rising = 0;         ///< load of the classes that still rise
        double level = 0, frozen_at_level = 0;
        std::uint32_t classes = 0;     ///< that still rise: what remains of a sum after subtracting all of it may be
                                       ///< rounding
        std::uint32_t first_user = 0;  ///< into users_

        [[nodiscard]] double full_at() const;
        void freeze(double at, double load);
    };
    struct Expected {
        double level;
        std::uint32_t link;
        friend bool operator<(const Expected& a, const Expected& b) {  // std heaps keep the largest on top
            return a.level != b.level ? a.level > b.level : a.link > b.link;
        }
    };
    void list_links(std::span<const double> capacities, std::span<const LoadList> classes);
    void list_users(std::span<const LoadList> classes);
    void fill(std::span<const LoadList> classes);

    std::vector<double> rates_;
    std::vector<std::uint32_t> bottlenecks_;
    std::vector<std::uint32_t> index_;  ///< of a link among links_
    std::vector<Link> links_;
    std::vector<std::uint32_t> users_;  ///< classes, by link
    std::vector<Expected> next_;        ///< a heap
};

}  // namespace auspex::network
