/// @file Checkpoints that alternate between folders, and those that stay.
#include "campaign/kept_checkpoints.hpp"

#include <algorithm>

namespace auspex::campaign {

void KeptCheckpoints::begin_stall() {
    if (copies_ == 1) {
        written_ones_.clear();
    }
}

void KeptCheckpoints::begin_write(std::int64_t step, Nanoseconds taken, Nanoseconds written) {
    pending_ = Checkpoint{step, taken};
    written_ = written;
    settle(taken);
}

void KeptCheckpoints::settle(Nanoseconds now) {
    if (!pending_ || written_ > now) {
        return;
    }
    written_ones_.push_back(*pending_);
    pending_.reset();
    if (written_ones_.size() > static_cast<std::size_t>(copies_)) {
        written_ones_.erase(written_ones_.begin());
    }
}

void KeptCheckpoints::stop(Nanoseconds now) {
    settle(now);
    cut_ += pending_ ? 1 : 0;
    pending_.reset();
}

KeptCheckpoints::Restored KeptCheckpoints::restore(Nanoseconds before) {
    const auto is_newer = [before](const Checkpoint& one) { return one.taken > before; };
    std::erase_if(written_ones_, is_newer);
    std::erase_if(persistent_, is_newer);
    Restored newest;
    for (const std::vector<Checkpoint>* list : {&persistent_, &written_ones_}) {
        if (!list->empty() && list->back().step >= newest.step) {
            newest = {list->back().step, list->back().taken};
        }
    }
    return newest;
}

}  // namespace auspex::campaign
