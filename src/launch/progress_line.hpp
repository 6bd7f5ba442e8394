#pragma once
/// @file How far a long run has come, on standard error.
#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>

namespace auspex::launch {

/// Where lines of progress go, and the clock that they go by.
struct ProgressPlace {
    std::ostream& out;
    bool is_terminal = false;
    std::function<std::chrono::steady_clock::time_point()> now;
};
[[nodiscard]] ProgressPlace standard_error();

/// On a terminal one line, written over and over, from two seconds on, ten times a second at most and only where it
/// changes. Elsewhere (files, pipes of batch systems) a line of its own every thirty seconds at most, the first after
/// as many, with the time that has passed.
class ProgressLine {
 public:
    /// `what` stands before the numbers: "sizes timed".
    explicit ProgressLine(std::string what, ProgressPlace place = standard_error());
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// `note` stands behind the numbers: "best so far 1.25 s"; may be empty.
    void show(std::size_t done, std::size_t all, const std::string& note = "");

 private:
    using Time = std::chrono::steady_clock::time_point;
    void write_over(const std::string& line, bool is_last, Time now);
    void write_line(const std::string& line, Time now);

    std::string what_;
    ProgressPlace place_;
    Time begin_;
    std::string shown_;  ///< the last line of a terminal; empty: none yet
    Time shown_at_;      ///< of the last line, or `begin_`
};

}  // namespace auspex::launch
