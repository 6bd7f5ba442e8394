#pragma once
/// @file The kinds of communication an operation can be, and what they move.
#include <cstdint>

#include "models/plan.hpp"

namespace auspex::schedule {

/// `bytes` of a communication, per rank: all-reduce and broadcast: the buffer; reduce-scatter: the input; all-gather:
/// the output; all-to-all: everything sent, the part to itself included; send and shift: the message; barrier: 0; to
/// and from the host: what is copied; rows to nodes and from nodes: of a token one row for every rank that holds some
/// of its experts, itself included.
enum class CommKind : std::uint8_t {
    kNone,
    kAllReduce,
    kReduceScatter,
    kAllGather,
    kAllToAll,
    kBroadcast,
    kBarrier,
    kSend,
    kReceive,
    kRowsToNodes,    ///< an all-to-all in which a row goes once to each node that needs it, from there to its ranks
    kRowsFromNodes,  ///< the way back: the rows of a token are added up in each node, and then at home
    kShift,          ///< everything to the next rank of the group, the last's to the first
    kToHost,         ///< every rank by itself, from its tile to its host's memory
    kFromHost
};
/// Between a tile and its host: no rank waits for another.
[[nodiscard]] constexpr bool is_host_copy(CommKind comm) {
    return comm == CommKind::kToHost || comm == CommKind::kFromHost;
}
[[nodiscard]] const char* to_string(CommKind kind);

/// Activations and weights, and gradients, have the plan's precision; fp32 and 64-bit integers are so whatever it is.
enum class ElementType : std::uint8_t { kValue, kGradient, kFp32, kInt64 };
[[nodiscard]] constexpr double element_bytes(const models::Plan& plan, ElementType type) {
    constexpr double kFp32Bytes = 4, kInt64Bytes = 8;
    switch (type) {
        case ElementType::kValue: return plan.weight_bytes;
        case ElementType::kGradient: return plan.gradient_bytes;
        case ElementType::kFp32: return kFp32Bytes;
        case ElementType::kInt64: break;
    }
    return kInt64Bytes;
}

/// Numbers of one type that a communication moves by themselves.
struct Buffer {
    double elements = 0;  ///< per rank, counted as `bytes` of the kind are
    ElementType type = ElementType::kValue;
    int per_item = 1;  ///< numbers that stay together when ranks share the buffer out
};

}  // namespace auspex::schedule
