#pragma once
/// @file The checkpoints of a run: which are written, which is being written, and which a restart finds.
#include <cstdint>
#include <optional>
#include <vector>

#include "campaign/quantities.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

class KeptCheckpoints {
 public:
    explicit KeptCheckpoints(int copies) : copies_(copies) {}

    /// A stall begins. With one copy, what it overwrites is gone.
    void begin_stall();
    /// The stall is over: what was copied at `taken` is written by `written`.
    void begin_write(std::int64_t step, Nanoseconds taken, Nanoseconds written);
    /// A copy that nothing overwrites.
    void keep(std::int64_t step, Nanoseconds taken) { persistent_.push_back({step, taken}); }
    /// When the write that goes on is done; none goes on: 0.
    [[nodiscard]] Nanoseconds write_end() const { return pending_ ? written_ : 0; }
    /// Counts a write that is done by now.
    void settle(Nanoseconds now);
    /// The job has stopped: a write that is not done by now never will be.
    void stop(Nanoseconds now);
    /// Writes that a stop has cut off.
    [[nodiscard]] std::int64_t cut() const { return cut_; }
    /// The newest step that was copied no later than `before`; 0, the begin, where there is none. What is newer is
    /// thrown away, for it has the same fault.
    struct Restored {
        std::int64_t step = 0;
        Nanoseconds taken = 0;
    };
    [[nodiscard]] Restored restore(Nanoseconds before);

 private:
    struct Checkpoint {
        std::int64_t step = 0;
        Nanoseconds taken = 0;
    };
    int copies_;
    std::vector<Checkpoint> written_ones_, persistent_;  ///< oldest first
    std::optional<Checkpoint> pending_;
    Nanoseconds written_ = 0;
    std::int64_t cut_ = 0;
};

}  // namespace auspex::campaign
