#pragma once
/// @file What the full speed of a core is, and which measurements were taken below it.
#include <string>
#include <vector>

#include "models/measurement.hpp"

namespace auspex::models {

/// Probes (exec/run/core_probe.hpp) up to this many times the fastest ones are those of a core at its full speed: above
/// what its clock does by itself (5 %), below what a neighbour costs.
inline constexpr double kUndisturbedProbe = 1.1;

/// True if a core that took probe_s is as fast as one that took reference_s at its full speed: neither slower nor
/// faster by more than kUndisturbedProbe, for cost models of a calibration do not hold for cores that are faster than
/// they were then, either.
[[nodiscard]] inline bool has_full_speed(double probe_s, double reference_s) {
    return probe_s <= kUndisturbedProbe * reference_s && reference_s <= kUndisturbedProbe * probe_s;
}

/// Source of what is measured on this computer: "this machine", and with a probe beside it, of the slowest core that
/// took part, "this machine (probe 150.526 us)". probe_s 0: none was taken.
[[nodiscard]] std::string own_source(double probe_s = 0);
/// True for what own_source gives, and for "this machine (slowed)", as older files have it.
[[nodiscard]] bool is_own_source(const std::string& source);
/// The probe beside a row of this computer; 0 where there was none. To a nanosecond.
[[nodiscard]] double probe_beside_s(const Measurement& row);

/// The least of all rows "host,probe", which a calibration takes before, between and after its parts: a core's full
/// speed. 0 where there is none.
[[nodiscard]] double full_speed_probe_s(const std::vector<Measurement>& rows);
/// True if the row's probe took more than kUndisturbedProbe times `full_speed_s` (not 0), or an older file says so
/// without a probe. Full speed may be learnt later than a row was taken: it is no property of the row.
[[nodiscard]] bool is_slowed(const Measurement& row, double full_speed_s);

}  // namespace auspex::models
