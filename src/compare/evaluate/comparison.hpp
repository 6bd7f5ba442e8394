#pragma once
/// @file Measured beside predicted: cases, errors, rankings.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/evaluate/compared_cases.hpp"

namespace auspex::evaluate {

/// How much steps follow the cores' speed: slope of ln(1 / step) over ln(speed), both against the median of their
/// case, over all runs, from 0 (steps do not care) to 2 (a neighbour on the other thread of a core costs steps more
/// than it costs the probe); 1 where speeds within cases differ by less than 2 % (root mean square), for then it cannot
/// be told. From measurements only.
[[nodiscard]] double speed_slope(const std::vector<ComparedCase>& cases);
/// S: the median speed of the runs that count, of all cases together; 1 where none of any case does.
[[nodiscard]] double usual_speed(const std::vector<ComparedCase>& cases);
/// The speed to predict each case with, that of the calibration being 1. Of a case with a run that counts: 1, for what
/// counts ran at full speed, and so did the calibration. Of one without:
///   (s / S)^speed_slope()     s: the median speed of its runs, S: usual_speed(), both by the same probe
/// from 0.3 to 1.2; 1 where that is within 2 % of 1, or speeds are not known.
[[nodiscard]] std::vector<double> speeds_to_predict(const std::vector<ComparedCase>& cases);

/// Fills everything in `comparison` that follows from its cases; of a case it reads names, runs, prediction, interval,
/// memory, operations and `disturbed`. A case whose noise is above 5 times the noise floor (and above 2 %) is disturbed
/// too; the upper end of a disturbed case's interval is multiplied by its slowdown. Of a case of which no run counts
/// cores may have been as fast as the quartiles of its speeds say: the lower end is multiplied by (median / 75th
/// percentile)^speed_slope(), the upper one by (median / 25th percentile)^speed_slope(). Rankings are within a
/// workload: pairs of cases of different workloads are not compared. A warning of disturbed cases comes first, one of
/// changing speeds follows. Requires a case, and a run of each.
void summarise(Comparison& comparison);

/// The cases' errors where each is predicted to take steps_s instead. Requires summarise(), and a step of each case.
[[nodiscard]] WithoutMechanism without_mechanism(const Comparison& comparison, std::string name, std::string probe,
                                                 const std::vector<double>& steps_s);

/// A goal and whether it is reached: "median error 3.1 %, at most 5 %".
struct Verdict {
    std::string text;
    std::optional<bool> holds;  ///< none: there is nothing to judge it by, and the text says what is missing
};
/// Median error (5 %, or the noise floor), 90th percentile (12 %, or twice the noise floor), mean signed error (2 %),
/// tau (0.9, or that of measuring twice where that is known and less), regret (3 % and the noise floor), intervals (85
/// % hold, at a median width of +-15 %). Requires summarise().
[[nodiscard]] std::vector<Verdict> verdicts_of(const Comparison& comparison);

}  // namespace auspex::evaluate
