/// @file Probes in the sources of rows.
#include "models/core_speed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/json.hpp"

namespace auspex::models {
namespace {

constexpr std::string_view kOwn = "this machine", kHead = "this machine (probe ", kTail = " us)";
/// Of files that did not keep probes.
constexpr std::string_view kOwnSlowed = "this machine (slowed)";
constexpr double kMicro = 1e-6, kNano = 1e-9, kNanoInMicro = 1e3;

/// 0: there is none, or no number.
double probe_in(std::string_view source) {
    if (!source.starts_with(kHead) || !source.ends_with(kTail)) {
        return 0;
    }
    const std::string_view number = source.substr(kHead.size(), source.size() - kHead.size() - kTail.size());
    double microseconds = 0;
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), microseconds);
    const bool is_probe = status == std::errc() && end == number.data() + number.size() && microseconds > 0;
    return is_probe && std::isfinite(microseconds) ? microseconds * kMicro : 0;
}

}  // namespace

std::string own_source(double probe_s) {
    if (probe_s <= 0) {
        return std::string(kOwn);
    }
    const double nanoseconds = std::max(1.0, std::round(probe_s / kNano));
    return std::string(kHead) + json_number(nanoseconds / kNanoInMicro) + std::string(kTail);
}

bool is_own_source(const std::string& source) { return source == kOwn || source == kOwnSlowed || probe_in(source) > 0; }

double probe_beside_s(const Measurement& row) { return probe_in(row.source); }

double full_speed_probe_s(const std::vector<Measurement>& rows) {
    double fastest_s = 0;
    for (const Measurement& row : rows) {
        if (row.kind == "host" && row.name == "probe" && row.seconds > 0) {
            fastest_s = fastest_s > 0 ? std::min(fastest_s, row.seconds) : row.seconds;
        }
    }
    return fastest_s;
}

bool is_slowed(const Measurement& row, double full_speed_s) {
    return row.source == kOwnSlowed || (full_speed_s > 0 && probe_beside_s(row) > kUndisturbedProbe * full_speed_s);
}

}  // namespace auspex::models
