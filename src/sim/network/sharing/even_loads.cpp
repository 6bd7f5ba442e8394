/// @file Loads of blocks spread out where they meet others.
#include "sim/network/sharing/even_loads.hpp"

#include <algorithm>
#include <utility>

namespace auspex::network {

EvenLoads::EvenLoads(std::vector<const PatternLoads*> loads, int nodes) : loads_(std::move(loads)), nodes_(nodes) {
    const bool by_block = std::all_of(loads_.begin(), loads_.end(), [](const PatternLoads* of_pattern) {
        return of_pattern->parts().empty() || of_pattern->alike_blocks() != nullptr;
    });
    for (const PatternLoads*& of_pattern : loads_) {
        if (of_pattern->parts().empty() || of_pattern->alike_blocks() == nullptr) {
            continue;
        }
        if (by_block) {
            alike_ = of_pattern->alike_blocks();
            nodes_ = alike_->nodes;
        } else {
            of_pattern = &of_all_blocks_.emplace_back(of_pattern->of_all_blocks());
        }
    }
}

}  // namespace auspex::network
