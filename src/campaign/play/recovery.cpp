/// @file From a stop to the next step.
#include "campaign/play/one_campaign.hpp"

#include <utility>

namespace auspex::campaign {

Stop OneCampaign::bring_up() {
    if (detection_ > 0) {
        if (const Stop stop = spend(std::exchange(detection_, 0), detected_as_); stop != Stop::kNone) {
            return stop;
        }
    }
    if (outage_ > 0) {
        wait_until(book_.now() + std::exchange(outage_, 0), Spent::kNodeWait, Ledger::Nodes::kIdle);
    }
    if (pool_.missing() > 0 && !pool_.fill(book_.now())) {
        if (!is_batch()) {
            wait_until(pool_.filled_at(), Spent::kNodeWait, Ledger::Nodes::kIdle);
            return Stop::kNone;
        }
        needs_queue_ = true;
    }
    if (needs_queue_) {
        ++book_.out().requeues;
        swaps_ = needs_queue_ = false;
        next_block();
    }
    return start_processes();
}

Stop OneCampaign::start_processes() {
    const Recovery& r = set_.recovery;
    if (const Stop stop = swaps_ ? go_on(r.swap_s, Spent::kSwap) : Stop::kNone; stop != Stop::kNone) {
        return stop;
    }
    while (r.failed_start_share > 0 && start_rng_.uniform() < r.failed_start_share) {
        if (const Stop stop = initialise(true); stop != Stop::kNone) {
            return stop;
        }
    }
    if (const Stop stop = initialise(false); stop != Stop::kNone) {
        return stop;
    }
    if (const Stop stop = go_on(to_seconds(prepare_), Spent::kStart); stop != Stop::kNone) {
        return stop;
    }
    prepare_ = 0;
    if (const Stop stop = go_on(r.load_s, Spent::kLoad); stop != Stop::kNone) {
        return stop;
    }
    is_up_ = true;
    swaps_ = false;
    return Stop::kNone;
}

Stop OneCampaign::initialise(bool fails) {
    const Recovery& r = set_.recovery;
    const auto pass = [&](double seconds, Spent spent) { return go_on(seconds, fails ? Spent::kFailedStart : spent); };
    if (const Stop stop = has_environment_ ? Stop::kNone : pass(r.environment_s, Spent::kRestart);
        stop != Stop::kNone) {
        return stop;
    }
    has_environment_ = true;
    if (const Stop stop = pass(r.restart_s, Spent::kRestart); stop != Stop::kNone) {
        return stop;
    }
    return pass(r.initialise_s, Spent::kInitialisation);
}

Stop OneCampaign::go_on(double seconds, Spent spent) {
    const Nanoseconds length = to_nanoseconds(seconds);
    return length == 0 ? Stop::kNone
                       : spend(length, is_planned_ && spent != Spent::kFailedStart ? Spent::kStart : spent);
}

}  // namespace auspex::campaign
