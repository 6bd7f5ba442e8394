/// @file A queue under a lock.
#include "sim/search/part_source.hpp"

namespace auspex::search {

void PartQueue::fill(const std::vector<OpenPart>& parts) {
    const std::lock_guard lock(mutex_);
    for (const OpenPart& part : parts) {
        waiting_.push_back(part.part);
        open_.insert(part.part);
    }
    is_filled_ = true;
}

std::optional<std::uint64_t> PartQueue::take(int who) {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty()) {
        const std::uint64_t part = waiting_.front();
        waiting_.pop_front();
        if (open_.contains(part)) {  // else it was given back, and then its first taker finished it
            under_way_[part] = who;
            return part;
        }
    }
    return std::nullopt;
}

void PartQueue::finish(std::uint64_t part) {
    const std::lock_guard lock(mutex_);
    open_.erase(part);
    under_way_.erase(part);
}

void PartQueue::give_back(int who) {
    const std::lock_guard lock(mutex_);
    for (auto at = under_way_.begin(); at != under_way_.end();) {
        if (at->second == who) {
            waiting_.push_front(at->first);
            at = under_way_.erase(at);
        } else {
            ++at;
        }
    }
}

bool PartQueue::is_over() {
    const std::lock_guard lock(mutex_);
    return is_filled_ && open_.empty();
}

void OwnParts::begin(SearchBoard& /*board*/, const std::vector<OpenPart>& parts) { queue_.fill(parts); }

}  // namespace auspex::search
