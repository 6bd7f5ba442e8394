#pragma once
/// @file Loads of several patterns in one manner.
#include <cstddef>
#include <deque>
#include <vector>

#include "sim/network/sharing/pattern_loads.hpp"

namespace auspex::network {

/// Of the first block if all of them stand for all blocks, else of all nodes and links.
class EvenLoads {
 public:
    /// `nodes`: of the job. The loads must not end before this.
    EvenLoads(std::vector<const PatternLoads*> loads, int nodes);

    [[nodiscard]] std::size_t size() const { return loads_.size(); }
    [[nodiscard]] const PatternLoads& operator[](std::size_t index) const { return *loads_[index]; }
    /// That they are of.
    [[nodiscard]] int nodes() const { return nodes_; }
    /// Null: they are of all nodes and links.
    [[nodiscard]] const AlikeBlocks* alike_blocks() const { return alike_; }

 private:
    std::vector<const PatternLoads*> loads_;
    std::deque<PatternLoads> of_all_blocks_;
    const AlikeBlocks* alike_ = nullptr;
    int nodes_;
};

}  // namespace auspex::network
