#pragma once
/// @file Numbers of a machine file on their way from fits to text, each with its interval and provenance.
#include <optional>
#include <string>
#include <vector>

#include "base/constant.hpp"
#include "compare/calibration.hpp"
#include "models/host.hpp"

namespace auspex {

/// A number in SI with its interval of about 95 %; `how` says what it was made from.
struct FittedNumber {
    double value = 0, low = 0, high = 0;
    ConstantKind kind = ConstantKind::kFitted;
    std::string how;
};

/// One standard deviation over the value, as a machine file gives it: at least 0.5 %, at most 10; 1 for a zero.
[[nodiscard]] double relative_uncertainty(const FittedNumber& number);

/// The costs of host.hpp's MessagePath.
struct FittedPath {
    FittedNumber send_s, receive_s, send_byte_s, receive_byte_s, eager_bytes, rendezvous_s, latency_s;
    std::optional<FittedNumber> at_once_bytes, burst_bytes;
};

/// The law of one kernel in one precision; `terms` in the order of cpu_terms.
struct FittedLaw {
    CpuKernel kernel = CpuKernel::kCopy;
    CpuPrecision precision = CpuPrecision::kFp32;
    std::vector<FittedNumber> terms;
    std::optional<FittedNumber> far_byte_s, reach_bytes;
    double relative_error = 0;
};

/// Everything that a calibrated machine file says.
struct FittedHost {
    std::string machine;   ///< name in the file
    std::string computer;  ///< "AMD EPYC …, 2026-11-21": behind "auspex calibrate on" in every source
    int cores = 1;
    int nodes = 1, nodes_per_computer = 1, ranks_per_node = 1;
    double memory_bytes = 0;        ///< of one node
    double stated_cache_bytes = 0;  ///< of the last-level cache, as the system describes it
    FittedNumber core_slice_s, switch_s, poll_s, core_reach_bytes, refill_byte_s, busy_speed, cache_bytes,
        cache_bytes_per_s, memory_bytes_per_s, core_memory_bytes_per_s, probe_s;
    FittedPath near;
    std::optional<FittedPath> far;
    FittedNumber nic_bytes_per_s;  ///< of one node; where there is no far path: what near messages reach
    std::vector<FittedLaw> laws;
};

/// The numbers alone: what predictions lean on.
[[nodiscard]] Host host_of(const FittedHost& fitted);

/// Fills errors, outliers (points further off than 30 % and five times the typical error) and the verdict from points
/// and predicted: "good" for a typical error of at most 5 % and a worst of at most 20 %, else which is worse, and
/// where.
void judge(FitQuality& quality);

/// Rows of a kind and name, in their order.
[[nodiscard]] std::vector<Measurement> rows_of(const std::vector<Measurement>& rows, std::string_view kind,
                                               std::string_view name);

}  // namespace auspex
