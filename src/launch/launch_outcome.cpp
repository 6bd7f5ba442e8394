/// @file Lines by their heads.
#include "launch/launch_outcome.hpp"

#include <iostream>
#include <regex>
#include <string_view>

#include "launch/messages.hpp"

namespace auspex::launch {

void parse_output_line(LaunchOutcome& outcome, std::string line) {
    constexpr std::size_t kKept = 20;
    static const std::regex kKilled("process rank (\\d+) with PID .* exited on signal (\\d+)");
    std::erase(line, '\r');
    const auto behind = [&line](std::string_view prefix) { return line.substr(prefix.size()); };
    if (line.starts_with(kErrorPrefix)) {
        outcome.error = outcome.error.empty() ? behind(kErrorPrefix) : outcome.error;
    } else if (line.starts_with(kFailurePrefix)) {
        outcome.failure = outcome.failure.empty() ? behind(kFailurePrefix) : outcome.failure;
    } else if (line.starts_with(kMessagePrefix)) {
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
