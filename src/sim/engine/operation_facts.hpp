#pragma once
/// @file What is known of an operation beside its time: what traces say of it.
#include <array>
#include <string>
#include <vector>

#include "sim/engine/operation_costs.hpp"
#include "sim/network/node/link_kind.hpp"

namespace auspex::engine {

/// Bytes and seconds of a communication are of one rank, all its repeats together.
struct OperationFacts {
    double seconds = 0;       ///< alone, on the stage's tiles with the expected load; of a receive 0
    double flop = 0;          ///< of kernels, as the model counts them
    double memory_bytes = 0;  ///< of kernels, to and from the tile's memory
    double bytes = 0;         ///< of a communication, as schedule/program/communication.hpp counts them
    int group_ranks = 0;      ///< of a communication
    bool is_shard = false;    ///< of gradients or parameters that are sharded over ranks: stack.shard_efficiency
    std::string algorithm;    ///< of a collective: "ring over 2 levels"
    /// What takes most of it: "arithmetic", "memory", "launches" (with waits of the host), "host" (that issues a pass's
    /// kernels); of communications "latency", "reduction" or the kind of link that bounds the rate.
    std::string bound_by;
    std::array<double, network::kLinkKinds> link_bytes{};  ///< of all sibling groups, on all links of each kind
};

/// By index into Program::operations. `costs` are those of Grain::kStages with the same options; `network` the one they
/// were made with. Operations of blocks that no role runs keep zeros.
[[nodiscard]] std::vector<OperationFacts> operation_facts(const schedule::Program& program, const OperationCosts& costs,
                                                          const models::Machine& machine, const models::Stack& stack,
                                                          const models::Layout& layout, network::Network& network,
                                                          const CostOptions& options);

/// What takes most of the time of all operations of a name over a step, by operation_name_index: the bound_by with most
/// seconds; "" where nothing takes any.
[[nodiscard]] std::vector<std::string> bounds_by_name(const schedule::Program& program,
                                                      const std::vector<OperationFacts>& facts);

}  // namespace auspex::engine
