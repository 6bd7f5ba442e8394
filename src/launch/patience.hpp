#pragma once
/// @file How long a launcher waits for others. Knows no processes, and is told what time it is.
#include <chrono>
#include <cstddef>
#include <optional>

namespace auspex::launch {

using Time = std::chrono::steady_clock::time_point;

/// Of a run: it hangs once it has made no progress for longer than its limit, and has to be killed where it lives on
/// for longer than kToEnd after it was told to end.
class HangDetector {
 public:
    static constexpr std::chrono::seconds kToEnd{20};

    /// `hang_timeout_s` 0: it never hangs. `progress` is what it had made before.
    HangDetector(double hang_timeout_s, std::size_t progress, Time now)
        : hang_timeout_s_(hang_timeout_s), progress_(progress), last_progress_(now) {}

    /// Has it made any since?
    [[nodiscard]] bool takes_progress(std::size_t progress, Time now);
    /// True once.
    [[nodiscard]] bool finds_hang(Time now);

    /// A signal was passed on to it: the first one counts.
    void note_signal(Time now) { told_to_end_ = told_to_end_.value_or(now); }
    /// It was told to end because it hangs: time counts anew.
    void note_end_of_hang(Time now) { told_to_end_ = now; }
    [[nodiscard]] bool is_over(Time now) const { return told_to_end_ && now - *told_to_end_ > kToEnd; }

 private:
    double hang_timeout_s_;
    std::size_t progress_;
    Time last_progress_;
    bool has_hung_ = false;
    std::optional<Time> told_to_end_;
};

/// For a child of this program, when this program is to end. SIGINT comes from the terminal, which has sent it to the
/// child too, and a second signal within five seconds would have mpirun leave its folders behind: so long it may end of
/// itself.
class TerminationGrace {
 public:
    static constexpr std::chrono::seconds kOfItself{6};

    /// Is the child to be told to end? `signal` is the last that was noted, or 0. True once.
    [[nodiscard]] bool should_forward_signal(int signal, Time now);

 private:
    std::optional<Time> first_;
    bool has_told_ = false;
};

}  // namespace auspex::launch
