#pragma once
/// @file A machine file on its way from fits to text, and the rows that it is fitted to.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/fit/cost_models/fitted_number.hpp"
#include "models/cpu/cpu_model.hpp"
#include "models/measurement.hpp"

namespace auspex::fit {

/// The costs of models::MessageCosts.
struct FittedMessageCosts {
    FittedNumber send_s, receive_s, send_byte_s, receive_byte_s, eager_bytes, rendezvous_s, latency_s;
    std::optional<FittedNumber> buffered_bytes, burst_bytes;
};

/// The law of one kernel in one precision; `terms` in the order of cpu_terms.
struct FittedKernelCost {
    models::CpuKernel kernel = models::CpuKernel::kCopy;
    models::CpuPrecision precision = models::CpuPrecision::kFp32;
    std::vector<FittedNumber> terms;
    std::optional<FittedNumber> miss_byte_s, capacity_bytes;
    double relative_error = 0;
};

/// Everything that a calibrated machine file says.
struct FittedCpu {
    std::string machine;   ///< name in the file
    std::string computer;  ///< "AMD EPYC …, 2026-11-21": behind "auspex calibrate on" in every source
    int cores = 1;
    int nodes = 1, nodes_per_computer = 1, ranks_per_node = 1;
    double memory_bytes = 0;     ///< of one node
    double max_cache_bytes = 0;  ///< that the last-level cache may have for us
    FittedNumber quantum_s, context_switch_s, poll_s, core_capacity_bytes, reload_byte_s, busy_speed, cache_bytes,
        cache_bytes_per_s, memory_bytes_per_s, core_memory_bytes_per_s, probe_s, background_load;
    FittedMessageCosts intra_node;
    std::optional<FittedMessageCosts> inter_node;
    FittedNumber nic_bytes_per_s;  ///< of one node; where there is no far path: what near messages reach
    std::vector<FittedKernelCost> kernel_costs;
};

/// The numbers alone: what predictions lean on.
[[nodiscard]] models::CpuModel cpu_model_of(const FittedCpu& fitted);

/// Rows of a kind and name, in their order.
[[nodiscard]] std::vector<models::Measurement> rows_of(const std::vector<models::Measurement>& rows,
                                                       std::string_view kind, std::string_view name);
/// Rows of kind "host" and a name that have a time: the kind's others have bytes only.
[[nodiscard]] std::vector<models::Measurement> timed_cpu_rows(const std::vector<models::Measurement>& rows,
                                                              std::string_view name);
/// The most that `bytes` of a row is; there is one row at least.
[[nodiscard]] double largest_bytes(const std::vector<models::Measurement>& rows);

}  // namespace auspex::fit
