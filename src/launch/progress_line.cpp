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
    constexpr double kSilentSeconds = 2;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    if (elapsed.count() > kSilentSeconds && isatty(STDERR_FILENO) == 1) {
        std::cerr << "\r" << what_ << ": " << done << " of " << all << std::flush;
        shown_ = true;
    }
}

}  // namespace auspex::launch
