/// @file What a failure does.
#include "campaign/play/one_campaign.hpp"

#include <algorithm>
#include <cmath>

namespace auspex::campaign {

void OneCampaign::stop_job() {
    left_of_step_ = is_up_ ? steps_.left_of_step() : 0;
    is_up_ = false;
    kept_.stop(book_.now());
    if (set_.recovery.loses_work) {
        steps_.lose_partial();
    }
}

void OneCampaign::restore(Nanoseconds before) {
    if (!set_.recovery.loses_work) {
        return;
    }
    const KeptCheckpoints::Restored found = kept_.restore(before);
    if (found.taken <= corrupt_since_) {
        corrupt_since_ = corruption_found_ = kNever;
    }
    steps_.restore(found.step);
}

void OneCampaign::fail() {
    const std::size_t source = clocks_.next();
    const FailureSource& from = set_.failures[source];
    const double draw = clocks_.uniform(source);
    const bool hangs = draw < from.hang_share;
    const bool is_soft = !hangs && draw < from.hang_share + from.soft_share;
    const bool corrupts = !hangs && !is_soft && draw < from.hang_share + from.soft_share + from.corruption_share;
    clocks_.strike();
    if (corrupts && is_up_) {
        corrupt(source);
        return;
    }
    interrupt(source);
    restore(kNever);
    detected_as_ = hangs ? Spent::kHang : Spent::kDetection;
    const double watchdog_s = set_.recovery.watchdog_s;
    detection_ = hangs                          ? (watchdog_s > 0 ? to_nanoseconds(watchdog_s) : kNever)
                 : is_soft && left_of_step_ > 0 ? left_of_step_
                                                : to_nanoseconds(from.detection_s);
}

void OneCampaign::interrupt(std::size_t source) {
    const FailureSource& from = set_.failures[source];
    book_.strike(source);
    stop_job();
    is_planned_ = false;
    outage_ = std::max(outage_, to_nanoseconds(from.outage_s));
    if (from.nodes > 0) {
        swaps_ = true;
        pool_.take(from.nodes, book_.now(), book_.exposed());
        clocks_.quicken(book_.exposed(), pool_.pace());
    } else if (set_.recovery.software_requeues && is_batch()) {
        needs_queue_ = true;
    }
}

void OneCampaign::corrupt(std::size_t source) {
    if (corrupt_since_ < kNever) {
        return;
    }
    const double found_s = -set_.recovery.corruption_s * std::log1p(-clocks_.uniform(source));
    corrupt_since_ = book_.now();
    corruption_found_ = std::min(book_.now() + to_nanoseconds(found_s), kNever);
    corrupter_ = source;
}

void OneCampaign::find_corruption() {
    const Nanoseconds since = corrupt_since_;
    corruption_found_ = kNever;
    detection_ = 0;
    interrupt(corrupter_);
    restore(since);
}

}  // namespace auspex::campaign
