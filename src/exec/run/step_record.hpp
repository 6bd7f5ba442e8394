#pragma once
/// @file What a step leaves for reports: counts of calls, and spans.
#include <chrono>

#include "base/time.hpp"
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// The rank's communicator counts while this lives.
template <class P>
class StepRecord {
 public:
    using Clock = std::chrono::steady_clock;

    /// Without a timeline no spans are kept; they are seconds since `epoch`.
    StepRecord(Rank<P>& rank, schedule::Timeline* timeline, Clock::time_point epoch)
        : rank_(rank), real_(rank.communicator), counting_(*real_), timeline_(timeline), epoch_(epoch) {
        rank.communicator = &counting_;
    }
    ~StepRecord() { rank_.communicator = real_; }
    StepRecord(const StepRecord&) = delete;
    StepRecord& operator=(const StepRecord&) = delete;

    /// What `make` calls is counted as the operation's; where it `goes_on` with one that was counted before, as more
    /// calls of that.
    template <class Make>
    void count(const schedule::Operation& op, bool goes_on, Make&& make) {
        counting_.begin(op);
        make();
        OperationCount more = counting_.end();
        more.operations = goes_on && op.repeat == 1 ? 0 : more.operations;
        if (schedule::is_host_copy(op.comm)) {
            more = {1, 0, rank_.host_copy_bytes};  // no call of a communicator
        }
        rank_.counts[static_cast<std::size_t>(op.kind)] += more;
        rank_.counts[static_cast<std::size_t>(schedule::OpKind::kKeyValueRing)] += counting_.take_shifts();
    }

    void add_span(const CurrentOperation& current, Clock::time_point start, Clock::time_point end) {
        if (timeline_ != nullptr) {
            timeline_->spans.push_back(
                {static_cast<std::uint32_t>(current.op.stream),
                 static_cast<std::uint32_t>(operation_name_index(current.op.kind, current.op.phase)),
                 since_epoch(start), since_epoch(end), current.micro_batch, current.op.layer});
        }
    }

 private:
    [[nodiscard]] Picoseconds since_epoch(Clock::time_point time) const {
        return to_picoseconds(std::chrono::duration<double>(time - epoch_).count());
    }

    Rank<P>& rank_;
    Communicator* real_;
    CountingCommunicator counting_;
    schedule::Timeline* timeline_;
    Clock::time_point epoch_;
};

}  // namespace auspex::exec
