#pragma once
/// @file Who chooses the experts of a token: the router, a fixed pattern, or a record; and the record being made.
#include <cstdint>
#include <span>

#include "models/routing_record.hpp"

namespace auspex::exec {

enum class RoutingMode : std::uint8_t {
    kLearned,  ///< the top_k largest probabilities, ties to the lower number
    kUniform,  ///< choice j of token g of the step's batch: (g * top_k + j) mod num_experts
    kReplayed
};

struct RoutingSource {
    RoutingMode mode = RoutingMode::kLearned;
    const models::RoutingRecord* replay = nullptr;  ///< kReplayed
    models::RoutingRecord* record = nullptr;  ///< where choices are written down, or null; has room for all tokens
};

/// Choices of these tokens of the batch in a MoE layer (counted from the first MoE layer): fills choices [tokens,
/// top_k] unless the mode is kLearned, where it leaves them alone. Throws InputError
/// where the record to replay is of other steps or another model.
void forced_choices(const RoutingSource& source, int step, int moe_layer, std::span<const std::int64_t> tokens,
                    int num_experts, int top_k, std::span<std::int64_t> choices);
/// Writes choices [tokens, top_k] down, if there is a record.
void record_choices(const RoutingSource& source, int step, int moe_layer, std::span<const std::int64_t> tokens,
                    int top_k, std::span<const std::int64_t> choices);

}  // namespace auspex::exec
