#pragma once
/// @file What a calibration finds: a machine file, and how well each law meets its rows.
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "base/statistics/interval.hpp"
#include "compare/fit/cost_models/cache_size.hpp"
#include "models/measurement.hpp"

namespace auspex::fit {

/// One group of measurements and how well its law describes them: a kernel in a precision, a path of messages, what
/// cores share (kind "sharing": copies, busy cores, passes and turns on a core), a collective (not fitted: predicted
/// from the message costs, as a check).
struct FitQuality {
    std::string kind, name, precision;
    struct Term : Estimate {  ///< seconds per unit
        std::string name;
    };
    std::vector<Term> terms;
    std::vector<models::Measurement> points;
    std::vector<double> predicted;              ///< of each point, seconds
    double typical_error = 0, worst_error = 0;  ///< the worst of points that are no outliers
    int outliers = 0;
    bool is_poor = false;
    std::string verdict;        ///< "good", or what is poor and by how much, where
    double farthest_error = 0;  ///< of all points, outliers too
};

/// Verdicts of calibrate_from beside "good" and "poor": a law of a single row meets it whatever it is, and of a
/// constant whose interval reaches 0 rows do not say how large it is.
inline constexpr const char* kOneRow = "one row, not checked";
inline constexpr const char* kNotDetermined = "not determined: its interval reaches 0";

/// A constant beside what rows of another machine say of it.
struct ConstantChange {
    Constant before, now;  ///< paths as --set takes them: "machine.tile.gemm_ceiling"
    Interval interval;     ///< of `now`: about 95 %, or the smallest and largest of a few; SI
    std::string rows;      ///< "4 rows of gemm shape"
    std::string verdict;   ///< of the law that it comes from
};

struct Calibration {
    std::string machine_json;  ///< the machine file, every constant with value, source, kind "measured" or "fitted",
                               ///< and uncertainty from its interval
    std::vector<FitQuality> fits;
    std::vector<ConstantChange> changes;   ///< calibrate_from: constants of the machine that rows have replaced
    std::vector<ConstantChange> advice;    ///< the same for constants of the stack, whose file stays as it is
    std::vector<std::string> warnings;     ///< disturbed measurements, poor fits
    CacheSizes caches;                     ///< calibrate_cpu: told and measured
    double probe_s = 0, probe_spread = 0;  ///< the probe (probe.hpp) during calibration
};

}  // namespace auspex::fit
