#pragma once
/// @file The kinds of communication an operation can be.
#include <cstdint>

namespace auspex::schedule {

/// `bytes` of a communication, per rank: all-reduce and broadcast: the buffer; reduce-scatter: the input; all-gather:
/// the output; all-to-all: everything sent, the part to itself included; send: the message; barrier: 0.
enum class CommKind : std::uint8_t {
    kNone,
    kAllReduce,
    kReduceScatter,
    kAllGather,
    kAllToAll,
    kBroadcast,
    kBarrier,
    kSend,
    kReceive
};
[[nodiscard]] const char* to_string(CommKind kind);

}  // namespace auspex::schedule
