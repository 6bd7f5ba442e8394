#pragma once
/// @file How long the operations of a step take, by their names.
#include <vector>

namespace auspex::schedule {

/// Times by operation kind, one step, mean over roles: filled while costing, waiting excluded.
struct OperationTimes {
    std::vector<double> seconds;  ///< by operation_name_index
    std::vector<double> count;    ///< the mean over roles
};

}  // namespace auspex::schedule
