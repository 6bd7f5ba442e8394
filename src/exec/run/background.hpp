#pragma once
/// @file Communications of a step that go on beside kernels, in one thread.
#include <deque>
#include <memory>

#include "exec/operations/step_collectives.hpp"
#include "exec/run/step_record.hpp"
#include "schedule/bindings/beside.hpp"

namespace auspex::exec {

/// Runs what schedule::runs_beside says: one after another, in the order in which they were begun, as calls that are
/// begun, asked on between the operations of the program, and waited for where one depends on them. Nothing goes on
/// while a kernel runs but what MPI does by itself. A span reaches from the first call to the end of the last.
template <class P>
class BackgroundOperations {
 public:
    BackgroundOperations(Rank<P>& rank, StepRecord<P>& record) : rank_(rank), record_(record) {}

    void begin_block(const schedule::Block& block) { queue_.begin_block(block); }
    /// Waits for all that `op` must not begin before.
    void wait_for(const schedule::Operation& op);
    /// Behind those under way.
    void begin(const CurrentOperation& current);
    /// Goes on as far as it can without waiting.
    void advance();
    [[nodiscard]] bool empty() const { return queue_.empty(); }

 private:
    struct Begun {
        CurrentOperation current;
        std::vector<StepCollective> calls;
        std::size_t next = 0;  ///< call
        std::unique_ptr<PendingCollective> under_way;
        typename StepRecord<P>::Clock::time_point start;
    };
    /// The first goes on; true once it has ended.
    [[nodiscard]] bool go_on(bool waits);
    void end_first();

    Rank<P>& rank_;
    StepRecord<P>& record_;
    schedule::BesideQueue queue_;
    std::deque<Begun> begun_;  ///< as in queue_
};

}  // namespace auspex::exec
