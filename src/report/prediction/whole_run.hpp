#pragma once
/// @file A whole run of a predicted step, by closed form: a section of its page.
#include <string>
#include <vector>

#include "campaign/finish/expected_finish.hpp"
#include "campaign/setting.hpp"

namespace auspex::report {

struct WholeRun {
    double tokens = 0;
    campaign::Setting setting;  ///< with its interval of checkpoints
    campaign::ExpectedFinish finish;
    std::string command;             ///< that plays it
    std::vector<std::string> notes;  ///< of its starts
};

/// "1.00 T tokens are 39,737 steps, 3.9 d without failures, …; with them the run is over after 4.2 d in the mean".
[[nodiscard]] std::string whole_run_sentence(const WholeRun& run);
/// Sentence, cards, the command that plays it, and what to know.
[[nodiscard]] std::string whole_run_section(const WholeRun& run);

}  // namespace auspex::report
