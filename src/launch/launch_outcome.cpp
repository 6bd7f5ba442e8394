/// @file Lines by their heads.
#include "launch/launch_outcome.hpp"

#include <iostream>
#include <regex>
#include <string_view>

#include "launch/messages.hpp"

namespace auspex::launch {

void take_line(LaunchOutcome& outcome, std::string line) {
    constexpr std::size_t kKept = 20;
    static const std::regex kKilled("process rank (\\d+) with PID .* exited on signal (\\d+)");
    std::erase(line, '\r');
    const auto behind = [&line](std::string_view head) { return line.substr(head.size()); };
    if (line.starts_with(kErrorHead)) {
        outcome.error = outcome.error.empty() ? behind(kErrorHead) : outcome.error;
    } else if (line.starts_with(kFailureHead)) {
        outcome.failure = outcome.failure.empty() ? behind(kFailureHead) : outcome.failure;
    } else if (line.starts_with("auspex: ")) {
        std::cerr << line << std::endl;
    } else {
        if (std::smatch match; std::regex_search(line, match, kKilled)) {
            outcome.killed_rank = std::stoi(match[1]);
            outcome.kill_signal = std::stoi(match[2]);
        }
        outcome.other_lines.push_back(line);
        if (outcome.other_lines.size() > kKept) {
            outcome.other_lines.erase(outcome.other_lines.begin());
        }
    }
}

}  // namespace auspex::launch
