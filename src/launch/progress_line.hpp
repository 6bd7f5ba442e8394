#pragma once
/// @file How far a long run has come, on a terminal.
#include <chrono>
#include <string>

namespace auspex::launch {

/// Writes one line to standard error, over and over, from two seconds on, ten times a second at most and only where it
/// changes; nothing where that is no terminal.
class ProgressLine {
 public:
    /// `what` stands before the numbers: "sizes timed".
    explicit ProgressLine(std::string what);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    void show(std::size_t done, std::size_t all);

 private:
    std::string what_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    bool shown_ = false;
    std::size_t shown_done_ = 0;  ///< of the last line
    std::chrono::steady_clock::time_point shown_at_;
};

}  // namespace auspex::launch
