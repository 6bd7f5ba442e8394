#pragma once
/// @file How a run under mpirun has ended, and what mpirun's lines say of that.
#include <optional>
#include <string>
#include <vector>

namespace auspex::launch {

struct LaunchOutcome {
    int exit_code = 0;            ///< of mpirun; 128 + signal where that ended it
    int interrupted_by = 0;       ///< the signal that this process got and passed on, or 0
    bool is_output_lost = false;  ///< what the ranks printed could not all be printed
    bool hung = false;
    std::optional<int> hung_rank{};    ///< if it can be told
    std::optional<int> killed_rank{};  ///< a rank that a signal ended
    int kill_signal = 0;
    std::string error{}, failure{};          ///< behind "auspex: error: " and "auspex: failed: ", or empty
    std::vector<std::string> other_lines{};  ///< of mpirun, the last ones
};

/// A line that mpirun or a rank has written to its errors. Notes of ranks go on to stderr.
void parse_output_line(LaunchOutcome& outcome, std::string line);

}  // namespace auspex::launch
