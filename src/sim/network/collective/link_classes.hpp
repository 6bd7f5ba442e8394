#pragma once
/// @file Links that carry the same loads of the same patterns, merged into classes: rates of a set are solved on one
/// link of each class.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/collective/flow_pattern.hpp"

namespace auspex::network {

class LinkClasses {
 public:
    /// Of these patterns, named by their index. `asked`: all that may be active at once, one of them more than once if
    /// it may be; links that could carry them all at their solo rates are in no class.
    void build(std::span<const FlowPattern> patterns, std::span<const std::uint32_t> asked, const Fabric& fabric);
    /// True if the two share a class; of a pattern with itself, always.
    [[nodiscard]] bool can_slow(std::uint32_t a, std::uint32_t b) const { return interferes_[a][b]; }
    /// Max-min fair rates of the set, in its order.
    [[nodiscard]] std::vector<double> rates(std::span<const std::uint32_t> set);

 private:
    void find_interference();

    std::vector<double> capacities_;              ///< of one link of each class
    std::vector<double> solo_rates_;              ///< by pattern
    std::vector<std::vector<LinkLoad>> loads_;    ///< by pattern: on classes
    std::vector<std::vector<bool>> interferes_;   ///< [pattern][pattern]
    std::vector<double> wanted_;                  ///< scratch of a solution: 0 between two
    std::vector<std::uint32_t> number_of_class_;  ///< likewise
};

}  // namespace auspex::network
