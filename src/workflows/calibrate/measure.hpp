#pragma once
/// @file The launches of `auspex calibrate`: kernels alone, then what ranks share and send, watched for disturbances.
#include <string>
#include <vector>

#include "models/measurement.hpp"
#include "models/stack.hpp"
#include "workflows/calibrate/request.hpp"

namespace auspex::workflows {

struct CalibrationRows {
    std::vector<models::Measurement> rows;
    std::vector<std::string> warnings;  ///< of parts that were disturbed twice
};

/// Measures what the file of rows does not have yet and appends it there row by row; a run that is broken off goes on
/// where it was. Between parts a probe checks whether something else uses the cores; a part during which something else
/// ran is measured again, once and as long as time allows. Full speed is that of the fastest session of the file.
/// Throws InputError where the file is of another computer, or of other conditions: number of cores, stack, hosts,
/// flags of mpirun, settings of netlab, and, if something is left to be measured, build of auspex-mpi; where another
/// calibration measures into it; and where inputs cannot be used, before it changes the file. Requires: SignalsCaught,
/// for what is left behind else; throws std::runtime_error that says where the measurements are if one was noted.
[[nodiscard]] CalibrationRows measure_machine(const CalibrateRequest& request, const models::Stack& stack);

/// The same error, if a signal was noted.
void require_no_signal(const CalibrateRequest& request);

}  // namespace auspex::workflows
