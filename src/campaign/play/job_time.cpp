/// @file How long anything may go on, and blocks of the batch system.
#include "campaign/play/one_campaign.hpp"

#include <algorithm>

#include "campaign/blocks.hpp"
#include "campaign/drawn_length.hpp"

namespace auspex::campaign {

Room OneCampaign::room_for(Nanoseconds length) {
    ++events_;
    Room room{length, Stop::kNone};
    const auto limit = [&](Nanoseconds until, Stop stop) {
        room = until < room.length ? Room{std::max<Nanoseconds>(until, 0), stop} : room;
    };
    limit(block_end_ - book_.now(), Stop::kBlockEnd);
    limit(corruption_found_ - book_.now(), Stop::kCorruptionFound);
    if (is_exposed()) {
        limit(clocks_.due() - book_.exposed(), Stop::kFailure);
    }
    return room;
}

Stop OneCampaign::spend(Nanoseconds length, Spent spent) {
    const Room room = room_for(length);
    book_.pass(room.length, spent, nodes());
    return room.stop;
}

void OneCampaign::wait_until(Nanoseconds time, Spent spent, Ledger::Nodes nodes) {
    ++events_;
    book_.pass(std::max<Nanoseconds>(time - book_.now(), 0), spent, nodes);
}

void OneCampaign::open_block() {
    const Stretch block = block_from(set_.blocks, book_.now(), start_ + prepare_ + step_ + last_save());
    wait_until(block.begin, Spent::kMaintenance, Ledger::Nodes::kNone);
    block_end_ = block.end;
}

void OneCampaign::end_block() {
    book_.blame_none();
    stop_job();
    restore(kNever);
    is_planned_ = true;
    swaps_ = needs_queue_ = false;
    detection_ = outage_ = 0;
    next_block();
}

void OneCampaign::next_block() {
    const Nanoseconds wait = drawn_length(set_.blocks.queue_wait_s, set_.blocks.queue_wait_sigma, queue_rng_);
    wait_until(book_.now() + wait, Spent::kQueue, Ledger::Nodes::kNone);
    open_block();
    has_environment_ = false;
    if (is_batch()) {
        pool_.renew();
    }
    ++book_.out().blocks;
}

}  // namespace auspex::campaign
