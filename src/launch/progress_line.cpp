/// @file The line on standard error.
#include "launch/progress_line.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/number_text.hpp"
#include "base/units.hpp"

namespace auspex::launch {

ProgressPlace standard_error() {
    return {std::cerr, isatty(STDERR_FILENO) == 1, [] { return std::chrono::steady_clock::now(); }};
}

ProgressLine::ProgressLine(std::string what, ProgressPlace place)
    : what_(std::move(what)), place_(std::move(place)), begin_(place_.now()), shown_at_(begin_) {}

ProgressLine::~ProgressLine() {
    if (shown_ && place_.is_terminal) {
        place_.out << "\n";
    }
}

void ProgressLine::show(std::size_t done, std::size_t all) {
    if (place_.is_terminal) {
        write_over(done, all, place_.now());
    } else {
        write_line(done, all, place_.now());
    }
}

void ProgressLine::write_over(std::size_t done, std::size_t all, Time now) {
    constexpr std::chrono::seconds kSilent{2};
    constexpr std::chrono::milliseconds kBetween{100};
    const bool is_news = !shown_ || (done != shown_done_ && (now - shown_at_ >= kBetween || done == all));
    if (now - begin_ > kSilent && is_news) {
        place_.out << "\r" << what_ << ": " << done << " of " << all << std::flush;
        shown_ = true, shown_done_ = done, shown_at_ = now;
    }
}

void ProgressLine::write_line(std::size_t done, std::size_t all, Time now) {
    constexpr std::chrono::seconds kBetween{30};
    if (now - shown_at_ >= kBetween) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
        place_.out << what_ << ": " << thousands(static_cast<double>(done)) << " of "
                   << thousands(static_cast<double>(all)) << " after "
                   << format_quantity(static_cast<double>(seconds), Dimension::kSeconds) << std::endl;
        shown_at_ = now;
    }
}

}  // namespace auspex::launch
