/// @file One campaign: blocks, in them recoveries and steps, in them checkpoints; failures may strike in all.
#include "campaign/player.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "campaign/blocks.hpp"
#include "campaign/failure_clocks.hpp"
#include "campaign/kept_checkpoints.hpp"
#include "campaign/ledger.hpp"
#include "campaign/node_pool.hpp"
#include "campaign/progress.hpp"
#include "campaign/slow_spells.hpp"

namespace auspex::campaign {
namespace {

/// Purposes of random streams beyond the sources' numbers.
constexpr std::uint64_t kNodeStream = 1'000'000, kSlowStream = 1'000'001, kPaceStream = 1'000'002;
/// A run is given up after so many events a checkpoint and so many checkpoints more, or so many times its steps' time.
constexpr std::int64_t kEventsOfCheckpoint = 100, kMoreCheckpoints = 1'000;
constexpr double kLongest = 100, kLonger_s = 365.25 * 86'400;

/// Why time stopped before what was to be done in it was done.
enum class Stop : std::uint8_t { kNone, kFailure, kCorruptionFound, kBlockEnd };

/// How long something may go on, and what ends it.
struct Room {
    Nanoseconds length = 0;
    Stop stop = Stop::kNone;
};

Nanoseconds step_of(const Setting& setting, const SampleChoice& choice) {
    Rng rng = stream_of(choice.seed, choice.index, kPaceStream);
    const double slowness = setting.step_sigma > 0 ? std::exp(setting.step_sigma * rng.normal()) : 1;
    return std::max<Nanoseconds>(to_nanoseconds(setting.step_s * slowness), 1);
}

class Player {
 public:
    Player(const Setting& setting, const SampleChoice& choice)
        : set_(setting),
          step_(step_of(setting, choice)),
          start_(to_nanoseconds(setting.recovery.restart_s) + to_nanoseconds(setting.recovery.initialise_s) +
                 to_nanoseconds(setting.recovery.load_s)),
          stall_(to_nanoseconds(setting.checkpoints.stall_s)),
          write_(to_nanoseconds(setting.checkpoints.write_s)),
          keeps_periods_(choice.keeps_periods),
          book_(setting.failures.size(), choice.keeps_periods),
          steps_(step_, book_),
          clocks_(setting.failures, choice.seed, choice.index),
          pool_(setting.nodes, to_nanoseconds(spare_window_s(setting)),
                stream_of(choice.seed, choice.index, kNodeStream)),
          kept_(setting.checkpoints.copies),
          slow_(setting.slow, stream_of(choice.seed, choice.index, kSlowStream)),
          is_up_(!setting.starts_cold) {
        clocks_.quicken(0, pool_.pace());
    }

    Outcome play() {
        const std::int64_t most_events =
            kEventsOfCheckpoint * (set_.steps / set_.checkpoints.every_steps + kMoreCheckpoints);
        const Nanoseconds longest =
            to_nanoseconds(kLongest * to_seconds(step_) * static_cast<double>(set_.steps) + kLonger_s);
        open_block();
        while (!is_over_ && events_ < most_events && book_.now() < longest) {
            const Stop stop = is_up_ ? work() : bring_up();
            if (stop == Stop::kFailure) {
                fail();
            } else if (stop == Stop::kCorruptionFound) {
                find_corruption();
            } else if (stop == Stop::kBlockEnd) {
                end_block();
            }
        }
        Outcome& out = book_.out();
        out.is_finished = is_over_;
        out.elapsed = book_.now();
        out.windows = pool_.windows(out.exposed);
        return std::move(out);
    }

 private:
    // --- Time ---
    [[nodiscard]] bool is_batch() const { return set_.blocks.walltime_s > 0 || set_.blocks.queue_wait_s > 0; }
    [[nodiscard]] bool is_exposed() const { return is_up_ || set_.recovery.is_interruptible; }

    [[nodiscard]] Room room_for(Nanoseconds length) {
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
    [[nodiscard]] Ledger::Nodes nodes() const { return is_exposed() ? Ledger::Nodes::kExposed : Ledger::Nodes::kIdle; }

    Stop spend(Nanoseconds length, Spent spent) {
        const Room room = room_for(length);
        book_.pass(room.length, spent, nodes());
        return room.stop;
    }
    void wait_until(Nanoseconds time, Spent spent, Ledger::Nodes nodes) {
        ++events_;
        book_.pass(std::max<Nanoseconds>(time - book_.now(), 0), spent, nodes);
    }

    // --- Blocks ---

    [[nodiscard]] bool persists_next() const {
        const int every = set_.checkpoints.persistent_every;
        return every > 0 && (book_.out().checkpoints + 1) % every == 0;
    }
    [[nodiscard]] Nanoseconds next_stall() const {
        return stall_ + (persists_next() ? to_nanoseconds(set_.checkpoints.persistent_stall_s) : 0);
    }
    [[nodiscard]] Nanoseconds last_save() const { return set_.checkpoints.at_block_end ? next_stall() + write_ : 0; }

    void open_block() {
        const Stretch block = block_from(set_.blocks, book_.now(), start_ + prepare_ + step_ + last_save());
        wait_until(block.begin, Spent::kMaintenance, Ledger::Nodes::kNone);
        block_end_ = block.end;
    }
    void end_block() {
        book_.blame_none();
        stop_job();
        restore(kNever);
        is_planned_ = true;
        swaps_ = needs_queue_ = false;
        detection_ = outage_ = 0;
        next_block();
    }
    void next_block() {
        wait_until(book_.now() + to_nanoseconds(set_.blocks.queue_wait_s), Spent::kQueue, Ledger::Nodes::kNone);
        open_block();
        if (is_batch()) {
            pool_.renew();
        }
        ++book_.out().blocks;
    }

    // --- From a stop to the next step ---

    Stop bring_up() {
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

    Stop start_processes() {
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

    // --- Steps and checkpoints ---

    Stop work() {
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

    /// Intervals in which nothing happens but their steps and the checkpoint behind them, at once. The last ones are
    /// left to run_steps() and save(), so that their checkpoints are there to restart from.
    void skip_quiet_intervals() {
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
            c.persistent_every > 0 ? c.persistent_every - 1 - book_.out().checkpoints % c.persistent_every : alike;
        const std::int64_t count = std::min({quiet / longest - c.copies - 1, alike - c.copies - 1, to_persistent});
        if (count < 1) {
            return;
        }
        steps_.set_pace(step_);
        steps_.pass(count * work, nodes());
        book_.pass(count * stall_, Spent::kCheckpoint, nodes());
        kept_.settle(book_.now());
        steps_.save();
        book_.out().checkpoints += count;
    }

    /// Up to the next checkpoint, to where steps are new again, to where nodes become slow or fast, or to the last that
    /// leaves the block the time for a checkpoint.
    Stop run_steps() {
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

    Stop finish_write() {
        const Nanoseconds left = kept_.write_end() - book_.now();
        const Stop stop = left > 0 ? spend(left, Spent::kCheckpoint) : Stop::kNone;
        kept_.settle(book_.now());
        return stop;
    }

    Stop save() {
        if (const Stop stop = finish_write(); stop != Stop::kNone) {
            return stop;
        }
        kept_.begin_stall();
        const Nanoseconds taken = book_.now();
        const bool persists = persists_next();
        if (const Stop stop = spend(next_stall(), Spent::kCheckpoint); stop != Stop::kNone) {
            return stop;
        }
        ++book_.out().checkpoints;
        kept_.begin_write(steps_.done(), taken, book_.now() + write_);
        kept_.settle(book_.now());
        if (persists) {
            kept_.keep(steps_.done(), taken);
        }
        steps_.save();
        return Stop::kNone;
    }

    Stop save_and_leave() {
        Stop stop = steps_.done() > steps_.saved() ? save() : Stop::kNone;
        stop = stop == Stop::kNone ? finish_write() : stop;
        return stop == Stop::kNone ? Stop::kBlockEnd : stop;
    }

    // --- Failures ---

    /// Part of a step is lost, a write that goes on, too.
    void stop_job() {
        left_of_step_ = is_up_ ? steps_.left_of_step() : 0;
        is_up_ = false;
        kept_.stop(book_.now());
        if (set_.recovery.loses_work) {
            steps_.lose_partial();
        }
    }

    void restore(Nanoseconds before) {
        if (!set_.recovery.loses_work) {
            return;
        }
        const KeptCheckpoints::Restored found = kept_.restore(before);
        if (found.taken <= corrupt_since_) {
            corrupt_since_ = corruption_found_ = kNever;
        }
        steps_.restore(found.step);
    }

    void fail() {
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

    void interrupt(std::size_t source) {
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

    void corrupt(std::size_t source) {
        if (corrupt_since_ < kNever) {
            return;
        }
        const double found_s = -set_.recovery.corruption_s * std::log1p(-clocks_.uniform(source));
        corrupt_since_ = book_.now();
        corruption_found_ = std::min(book_.now() + to_nanoseconds(found_s), kNever);
        corrupter_ = source;
    }

    void find_corruption() {
        const Nanoseconds since = corrupt_since_;
        corruption_found_ = kNever;
        detection_ = 0;
        interrupt(corrupter_);
        restore(since);
    }

    const Setting& set_;
    const Nanoseconds step_, start_, stall_, write_;
    const bool keeps_periods_;
    Ledger book_;
    Progress steps_;
    FailureClocks clocks_;
    NodePool pool_;
    KeptCheckpoints kept_;
    SlowSpells slow_;
    std::int64_t events_ = 0;
    Nanoseconds block_end_ = kNever, prepare_ = set_.starts_cold ? to_nanoseconds(set_.prepare_s) : 0;
    bool is_up_ = true, is_over_ = false;
    bool is_planned_ = true;                    ///< the start that comes or goes on follows no interruption
    bool swaps_ = false, needs_queue_ = false;  ///< of the recovery that comes or goes on
    Nanoseconds detection_ = 0, outage_ = 0, left_of_step_ = 0;
    Spent detected_as_ = Spent::kDetection;
    Nanoseconds corrupt_since_ = kNever, corruption_found_ = kNever;
    std::size_t corrupter_ = 0;
};

}  // namespace

double spare_window_s(const Setting& setting) {
    return setting.nodes.replenish_s > 0 ? setting.nodes.replenish_s : setting.blocks.walltime_s;
}

Outcome play_sample(const Setting& setting, const SampleChoice& choice) { return Player(setting, choice).play(); }

}  // namespace auspex::campaign
