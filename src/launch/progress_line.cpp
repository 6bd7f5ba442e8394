/// @file The line on standard error.
#include "launch/progress_line.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>

namespace auspex::launch {

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)) {}

ProgressLine::~ProgressLine() {
    if (shown_) {
        std::cerr << "\n";
    }
}

void ProgressLine::show(std::size_t done, std::size_t all) {
    constexpr std::chrono::seconds kSilent{2};
    constexpr std::chrono::milliseconds kBetween{100};
    const auto now = std::chrono::steady_clock::now();
    const bool is_news = !shown_ || (done != shown_done_ && (now - shown_at_ >= kBetween || done == all));
    if (now - begin_ > kSilent && is_news && isatty(STDERR_FILENO) == 1) {
        std::cerr << "\r" << what_ << ": " << done << " of " << all << std::flush;
        shown_ = true, shown_done_ = done, shown_at_ = now;
    }
}

}  // namespace auspex::launch
