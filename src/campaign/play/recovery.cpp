/// @file From a stop to the next step.
#include "campaign/play/one_campaign.hpp"

#include <algorithm>
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
    const std::pair<double, Spent> stages[] = {{swaps_ ? r.swap_s : 0, Spent::kSwap},
                                               {r.restart_s, Spent::kRestart},
                                               {r.initialise_s, Spent::kInitialisation},
                                               {to_seconds(prepare_), Spent::kStart},
                                               {r.load_s, Spent::kLoad}};
    for (const auto& [seconds, spent] : stages) {
        if (const Nanoseconds length = to_nanoseconds(seconds); length > 0) {
            if (const Stop stop = spend(length, is_planned_ ? Spent::kStart : spent); stop != Stop::kNone) {
                return stop;
            }
        }
        prepare_ = spent == Spent::kStart ? 0 : prepare_;
    }
    is_up_ = true;
    swaps_ = false;
    return Stop::kNone;
}

}  // namespace auspex::campaign
