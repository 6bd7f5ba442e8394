/// @file Times compared.
#include "launch/patience.hpp"

#include <csignal>

namespace auspex::launch {

bool HangDetector::takes_progress(std::size_t progress, Time now) {
    if (progress == progress_) {
        return false;
    }
    progress_ = progress;
    last_progress_ = now;
    return true;
}

bool HangDetector::finds_hang(Time now) {
    const std::chrono::duration<double> silence = now - last_progress_;
    if (hang_timeout_s_ <= 0 || silence.count() <= hang_timeout_s_ || has_hung_) {
        return false;
    }
    has_hung_ = true;
    return true;
}

bool TerminationGrace::should_forward_signal(int signal, Time now) {
    if (signal == 0 || has_told_) {
        return false;
    }
    first_ = first_.value_or(now);
    has_told_ = signal != SIGINT || now - *first_ > kOfItself;
    return has_told_;
}

}  // namespace auspex::launch
