#pragma once
/// @file A trace of routing: what share of the routed tokens each expert gets.
#include <memory>
#include <string>
#include <vector>

#include "models/routing_record.hpp"

namespace auspex::models {

/// Shares sum to 1.
struct Trace {
    std::vector<double> shares;                     ///< of each expert, the mean over the layers
    std::vector<std::vector<double>> layer_shares;  ///< of each MoE layer, if the file tells
    std::shared_ptr<const RoutingRecord> record;    ///< every choice, if the file has them
};

/// "shares" of the file is a list of numbers, or a list of such lists. Throws InputError naming the place.
[[nodiscard]] Trace read_trace(const std::string& file);

}  // namespace auspex::models
