#pragma once
/// @file A job that is to start.
#include <optional>

#include "campaign/start/load_time.hpp"

namespace auspex::campaign {

/// A job, and what it leaves out of what makes starts short.
struct StartJob {
    int nodes = 1, ranks = 1;
    double queue_wait_s = 0;
    bool stages_environment = true;  ///< an archive goes to every node; false: every rank imports from the shared one
    double index_sequences = 0;      ///< of a new index; 0: it is there already
    bool indexes_in_parallel = true;
    std::optional<LoadSize> load;  ///< none: nothing is loaded
    double first_step_s = 0;       ///< 0: not known
};

}  // namespace auspex::campaign
