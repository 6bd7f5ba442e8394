#pragma once
/// @file What the player of graphs keeps: ranks, transfers under way, groups and messages that are waited for.
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/mix64.hpp"
#include "sim/graph/graph_player.hpp"

namespace auspex::graph {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Nodes of a program, the first one on top.
using ReadyNodes = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;

struct Event {
    Picoseconds time;
    std::uint64_t sequence;
    enum class Type : std::uint8_t { kComputeEnd, kHostEnd, kTransferStep } type;
    std::uint32_t subject = 0;                               ///< rank, or index of the transfer
    std::uint32_t generation = 0;                            ///< of what is expected: an event of an older one is void
    friend bool operator<(const Event& a, const Event& b) {  // std heaps keep the largest on top
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
};

struct RankState {
    std::vector<std::uint32_t> pending;  ///< by node: dependencies that have not ended
    std::uint64_t left = 0;              ///< nodes that have not ended
    ReadyNodes compute, host, communications;
    std::uint32_t computing = kNone, hosting = kNone;  ///< nodes
    int transfers = 0, collectives = 0;                ///< under way
    int issued = 0;                                    ///< sends and collectives that have begun or wait for others
    bool is_touched = false;                           ///< something may be able to begin
    double work_left = 0;                              ///< ticks of the node that is computing
    Picoseconds work_since = 0, compute_began = 0, host_began = 0;
    std::uint32_t generation = 0;
    double compute_since_sync_s = 0;
    Picoseconds accounted = 0;
    RankTimes times;
};

/// The members of a group come to one of its collectives.
struct GroupSync {
    std::uint32_t arrived = 0;
    double compute_since_sync_s = 0;  ///< of whoever has computed most
};

/// A collective or a message under way.
struct ActiveTransfer {
    const GraphTransfer* transfer = nullptr;
    std::uint32_t group = kNone, number = 0;  ///< of a collective
    std::uint32_t rank = 0, node = 0;         ///< of a message: who sends; of a collective: any member
    std::uint32_t phase = 0;
    bool is_delayed = false, flowing = false;
    double bytes_left = 0, rate = 0;
    Picoseconds began = 0, since = 0;
    std::uint32_t generation = 0, flow = 0;
};

struct MessageKey {
    int from = 0, to = 0;
    std::int64_t tag = 0;
    bool operator==(const MessageKey&) const = default;
};
struct MessageHash {
    std::size_t operator()(const MessageKey& key) const {
        const auto ends = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.from)) << 32U |
                          static_cast<std::uint32_t>(key.to);
        return mix64(mix64(ends) ^ static_cast<std::uint64_t>(key.tag));
    }
};
/// Messages that are there, and receives that wait: one of the two is always empty.
struct MessageQueue {
    std::uint32_t arrived = 0;
    std::vector<std::uint32_t> waiting;  ///< nodes of the receiver
    std::size_t served = 0;              ///< of `waiting`, from the first on
    [[nodiscard]] bool has_waiting() const { return served < waiting.size(); }
};

}  // namespace auspex::graph
