/// @file The one message about steps that are too long.
#include "schedule/step_length.hpp"

#include "base/error.hpp"

namespace auspex::schedule {

void refuse_long_step(const std::string& what) {
    throw InputError("the simulated step", "found " + what +
                                               " to take 30 days or more; expected less, with higher rates, smaller "
                                               "latencies or less work in machine, stack, workload and plan");
}

}  // namespace auspex::schedule
