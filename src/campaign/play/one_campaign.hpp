#pragma once
/// @file One campaign while it is played: what its job is at, and what it has.
#include <cstdint>

#include "base/rng.hpp"
#include "campaign/failure_clocks.hpp"
#include "campaign/kept_checkpoints.hpp"
#include "campaign/ledger.hpp"
#include "campaign/node_pool.hpp"
#include "campaign/player.hpp"
#include "campaign/progress.hpp"
#include "campaign/slow_spells.hpp"

namespace auspex::campaign {

/// Why time stopped before what was to be done in it was done.
enum class Stop : std::uint8_t { kNone, kFailure, kCorruptionFound, kBlockEnd };

/// How long something may go on, and what ends it.
struct Room {
    Nanoseconds length = 0;
    Stop stop = Stop::kNone;
};

/// Blocks, in them recoveries and steps, in them checkpoints; failures may strike in all.
class OneCampaign {
 public:
    /// Keeps a reference to `setting`.
    OneCampaign(const Setting& setting, const SampleChoice& choice);
    Outcome play();

 private:
    // --- Time ---

    [[nodiscard]] bool is_batch() const { return set_.blocks.walltime_s > 0 || set_.blocks.queue_wait_s > 0; }
    [[nodiscard]] bool is_exposed() const { return is_up_ || set_.recovery.is_interruptible; }
    [[nodiscard]] Room room_for(Nanoseconds length);
    [[nodiscard]] Ledger::Nodes nodes() const { return is_exposed() ? Ledger::Nodes::kExposed : Ledger::Nodes::kIdle; }
    Stop spend(Nanoseconds length, Spent spent);
    void wait_until(Nanoseconds time, Spent spent, Ledger::Nodes nodes);

    // --- Blocks ---

    [[nodiscard]] bool persists_next() const {
        const int every = set_.checkpoints.persistent_every;
        return every > 0 && (copied_ + 1) % every == 0;
    }
    [[nodiscard]] Nanoseconds next_stall() const {
        return stall_ + (persists_next() ? to_nanoseconds(set_.checkpoints.persistent_stall_s) : 0);
    }
    [[nodiscard]] Nanoseconds last_save() const { return set_.checkpoints.at_block_end ? next_stall() + write_ : 0; }
    void open_block();
    void end_block();
    void next_block();

    // --- From a stop to the next step ---

    Stop bring_up();
    Stop start_processes();
    /// Environment where nodes lack it, processes, communicators; booked as a failed start where it is to fail.
    Stop initialise(bool fails);
    /// Of a start: booked as such where no interruption caused it.
    Stop go_on(double seconds, Spent spent);

    // --- Steps and checkpoints ---

    Stop work();
    /// Intervals in which nothing happens but their steps and the checkpoint behind them, at once. The last ones are
    /// left to run_steps() and save(), so that their checkpoints are there to restart from.
    void skip_quiet_intervals();
    /// Up to the next checkpoint, to where steps are new again, to where nodes become slow or fast, or to the last that
    /// leaves the block the time for a checkpoint.
    Stop run_steps();
    Stop finish_write();
    Stop save();
    Stop save_and_leave();

    // --- Failures ---

    /// Part of a step is lost, a write that goes on, too.
    void stop_job();
    void restore(Nanoseconds before);
    void fail();
    void interrupt(std::size_t source);
    void corrupt(std::size_t source);
    void find_corruption();

    const Setting& set_;
    const Nanoseconds step_, start_, stall_, write_;
    const bool keeps_periods_;
    Ledger book_;
    Progress steps_;
    FailureClocks clocks_;
    NodePool pool_;
    KeptCheckpoints kept_;
    SlowSpells slow_;
    Rng start_rng_, queue_rng_;
    std::int64_t events_ = 0;
    std::int64_t copied_ = 0;  ///< checkpoints whose stall is over, also those that were not written to the end
    Nanoseconds block_end_ = kNever;
    Nanoseconds prepare_ = set_.starts_cold ? to_nanoseconds(set_.prepare_s) : 0;  ///< until it is done once
    bool is_up_ = true, is_over_ = false;
    bool is_planned_ = true;                    ///< the start that comes or goes on follows no interruption
    bool swaps_ = false, needs_queue_ = false;  ///< of the recovery that comes or goes on
    bool has_environment_ = !set_.starts_cold;  ///< the nodes that the job holds
    Nanoseconds detection_ = 0, outage_ = 0, left_of_step_ = 0;
    Spent detected_as_ = Spent::kDetection;
    Nanoseconds corrupt_since_ = kNever, corruption_found_ = kNever;
    std::size_t corrupter_ = 0;
};

}  // namespace auspex::campaign
