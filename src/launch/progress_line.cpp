/// @file The line on standard error.
#include "launch/progress_line.hpp"

#include <unistd.h>

#include <algorithm>
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
    if (!shown_.empty()) {
        place_.out << "\n";
    }
}

void ProgressLine::show(std::size_t done, std::size_t all, const std::string& note) {
    const Time now = place_.now();
    const std::string behind = note.empty() ? "" : ", " + note;
    const std::string line =
        what_ + ": " + thousands(static_cast<double>(done)) + " of " + thousands(static_cast<double>(all));
    if (place_.is_terminal) {
        write_over(line + behind, done == all, now);
    } else {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
        write_line(line + " after " + format_quantity(static_cast<double>(seconds), Dimension::kSeconds) + behind, now);
    }
}

void ProgressLine::write_over(const std::string& line, bool is_last, Time now) {
    constexpr std::chrono::seconds kSilent{2};
    constexpr std::chrono::milliseconds kBetween{100};
    const bool is_news = shown_.empty() || (line != shown_ && (now - shown_at_ >= kBetween || is_last));
    if (now - begin_ > kSilent && is_news) {
        const std::size_t longer = shown_.size() - std::min(shown_.size(), line.size());
        place_.out << "\r" << line << std::string(longer, ' ') << std::flush;
        shown_ = line, shown_at_ = now;
    }
}

void ProgressLine::write_line(const std::string& line, Time now) {
    constexpr std::chrono::seconds kBetween{30};
    if (now - shown_at_ >= kBetween) {
        place_.out << line << std::endl;
        shown_at_ = now;
    }
}

}  // namespace auspex::launch
