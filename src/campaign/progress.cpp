/// @file Steps counted while time passes.
#include "campaign/progress.hpp"

namespace auspex::campaign {

Nanoseconds Progress::slow_part(Nanoseconds time) const {
    const double share = static_cast<double>(pace_ - step_) / static_cast<double>(pace_);
    return static_cast<Nanoseconds>(static_cast<double>(time) * share);
}

void Progress::pass(Nanoseconds length, Ledger::Nodes nodes) {
    const bool was_new = is_new();
    book_.pass(length, was_new ? Spent::kWork : Spent::kReplay, nodes, slow_part(length));
    const std::int64_t whole = (partial_ + length) / pace_;
    partial_ = (partial_ + length) % pace_;
    partial_work_ = was_new ? partial_ - slow_part(partial_) : 0;
    done_ += whole;
    book_.out().replayed_steps += was_new ? 0 : whole;
    furthest_ = std::max(furthest_, done_);
}

void Progress::lose_partial() {
    book_.lose(partial_work_);
    partial_ = partial_work_ = 0;
}

void Progress::restore(std::int64_t step) {
    book_.out().lost_steps += done_ - step;
    done_ = saved_ = step;
}

}  // namespace auspex::campaign
