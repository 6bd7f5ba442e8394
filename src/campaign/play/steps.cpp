/// @file Steps, and checkpoints between them.
#include "campaign/play/one_campaign.hpp"

#include <algorithm>

namespace auspex::campaign {

Stop OneCampaign::work() {
    while (steps_.done() < set_.steps) {
        skip_quiet_intervals();
        Stop stop = run_steps();
        const std::int64_t due = steps_.saved() + set_.checkpoints.every_steps;
        if (stop == Stop::kNone && (steps_.done() == due || steps_.done() == set_.steps)) {
            stop = save();
        }
        if (stop != Stop::kNone) {
            return stop;
        }
    }
    const Stop stop = finish_write();
    is_over_ = stop == Stop::kNone;
    return stop;
}

void OneCampaign::skip_quiet_intervals() {
    const Checkpoints& c = set_.checkpoints;
    const Nanoseconds work = c.every_steps * step_;
    const Nanoseconds longest = work + stall_ + to_nanoseconds(c.persistent_stall_s);
    if (keeps_periods_ || steps_.done() != steps_.saved() || steps_.partial() > 0 || write_ > work ||
        slow_.pace(book_.exposed(), step_) != step_) {
        return;
    }
    const Nanoseconds quiet =
        std::min({clocks_.due() - book_.exposed(), corruption_found_ - book_.now(),
                  slow_.change(book_.exposed()) - book_.exposed(), block_end_ - book_.now() - last_save()});
    const std::int64_t alike = steps_.alike(set_.steps) / c.every_steps;
    const std::int64_t to_persistent =
        c.persistent_every > 0 ? c.persistent_every - 1 - copied_ % c.persistent_every : alike;
    const std::int64_t count = std::min({quiet / longest - c.copies - 1, alike - c.copies - 1, to_persistent});
    if (count < 1) {
        return;
    }
    steps_.set_pace(step_);
    steps_.pass(count * work, nodes());
    book_.pass(count * stall_, Spent::kCheckpoint, nodes());
    kept_.settle(book_.now());
    steps_.save();
    copied_ += count;
}

Stop OneCampaign::run_steps() {
    const Nanoseconds pace_now = slow_.pace(book_.exposed(), step_), pace = steps_.set_pace(pace_now);
    const Nanoseconds change = pace == pace_now ? slow_.change(book_.exposed()) - book_.exposed() : 0;
    const std::int64_t until_due = steps_.saved() + set_.checkpoints.every_steps - steps_.done();
    const std::int64_t until_change = (change + steps_.partial() + pace - 1) / pace;
    std::int64_t steps = std::min({until_due, steps_.alike(set_.steps), std::max<std::int64_t>(until_change, 1)});
    if (block_end_ < kNever && set_.checkpoints.at_block_end) {
        const Nanoseconds pending = std::max<Nanoseconds>(kept_.write_end() - book_.now(), 0);
        const Nanoseconds free = block_end_ - book_.now() - last_save() - pending;
        if (free + steps_.partial() < pace) {
            return save_and_leave();
        }
        steps = std::min(steps, (free + steps_.partial()) / pace);
    }
    const Room room = room_for(steps * pace - steps_.partial());
    steps_.pass(room.length, nodes());
    return room.stop;
}

Stop OneCampaign::finish_write() {
    const Nanoseconds left = kept_.write_end() - book_.now();
    const Stop stop = left > 0 ? spend(left, Spent::kCheckpoint) : Stop::kNone;
    kept_.settle(book_.now());
    return stop;
}

Stop OneCampaign::save() {
    if (const Stop stop = finish_write(); stop != Stop::kNone) {
        return stop;
    }
    kept_.begin_stall();
    const Nanoseconds taken = book_.now();
    const bool persists = persists_next();
    if (const Stop stop = spend(next_stall(), Spent::kCheckpoint); stop != Stop::kNone) {
        return stop;
    }
    ++copied_;
    kept_.begin_write(steps_.done(), taken, book_.now() + write_);
    kept_.settle(book_.now());
    if (persists) {
        kept_.keep(steps_.done(), taken);
    }
    steps_.save();
    return Stop::kNone;
}

Stop OneCampaign::save_and_leave() {
    Stop stop = steps_.done() > steps_.saved() ? save() : Stop::kNone;
    stop = stop == Stop::kNone ? finish_write() : stop;
    return stop == Stop::kNone ? Stop::kBlockEnd : stop;
}

}  // namespace auspex::campaign
