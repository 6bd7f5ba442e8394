/// @file Failed nodes out, spare nodes in.
#include "campaign/node_pool.hpp"

#include <algorithm>

#include "campaign/drawn_length.hpp"

namespace auspex::campaign {

NodePool::NodePool(const Nodes& nodes, Nanoseconds window, Rng rng)
    : nodes_(nodes), window_(window), rng_(rng), spares_(nodes.spares.value_or(0)) {
    if (nodes.lemon_share > 0) {
        for (int i = 0; i < nodes.count; ++i) {
            lemons_ += rng_.uniform() < nodes.lemon_share ? 1 : 0;
        }
    }
}

double NodePool::pace() const { return 1 + lemons_ * (nodes_.lemon_factor - 1) / nodes_.count; }

void NodePool::take(int count, Nanoseconds now, Nanoseconds exposed) {
    const std::size_t window = window_ > 0 ? static_cast<std::size_t>(exposed / window_) : 0;
    if (windows_.size() <= window) {
        windows_.resize(window + 1);
    }
    windows_[window] += count;
    for (int i = 0; i < count && nodes_.lemon_share > 0; ++i) {
        // Who causes a failure is a lemon by how often they fail; who is taken with it, by how many they are.
        const double weight = i == 0 ? nodes_.lemon_factor : 1;
        const double share = lemons_ * weight / (nodes_.count - lemons_ + lemons_ * weight);
        lemons_ -= rng_.uniform() < share ? 1 : 0;
        lemons_ += rng_.uniform() < nodes_.lemon_share ? 1 : 0;
    }
    if (!nodes_.spares) {
        return;
    }
    missing_ += count;
    for (int i = 0; i < count && nodes_.replenish_s > 0; ++i) {
        const Nanoseconds back = now + drawn_length(nodes_.replenish_s, nodes_.replenish_sigma, rng_);
        returns_.insert(std::ranges::upper_bound(returns_, back), back);
    }
}

bool NodePool::fill(Nanoseconds now) {
    while (!returns_.empty() && returns_.front() <= now) {
        returns_.pop_front();
        ++spares_;
    }
    if (spares_ < missing_) {
        return false;
    }
    spares_ -= missing_;
    missing_ = 0;
    return true;
}

Nanoseconds NodePool::filled_at() const {
    const int more = missing_ - spares_;
    return static_cast<int>(returns_.size()) < more ? kNever : returns_[static_cast<std::size_t>(more - 1)];
}

void NodePool::renew() {
    spares_ = nodes_.spares.value_or(0);
    missing_ = 0;
    returns_.clear();
}

std::vector<std::int64_t> NodePool::windows(Nanoseconds exposed) const {
    const std::size_t over = window_ > 0 ? static_cast<std::size_t>(exposed / window_) : 0;
    std::vector<std::int64_t> counts = windows_;
    counts.resize(std::max<std::size_t>(over, 1));
    return counts;
}

}  // namespace auspex::campaign
