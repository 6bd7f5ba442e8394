#pragma once
/// @file Messages between ranks on CPU cores, from the first send or receive until they are received.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"

namespace auspex::cpu {

inline constexpr std::uint32_t kNoMessage = std::numeric_limits<std::uint32_t>::max();

struct CpuMessage {
    int from = 0, to = 0, tag = 0;
    double bytes = 0;
    double memory_bytes = 0;                            ///< RankAction::memory_bytes
    bool is_inter_node = false, is_rendezvous = false;  ///< rendezvous: beyond eager_bytes
    bool sender_blocks = false;               ///< until the message is received; of an eager one, until it is polled
    bool sent = false, is_posted = false;     ///< by its sender; by its receiver
    bool has_ready_to_send = false;           ///< between nodes, rendezvous: its receiver knows of it
    bool arrived = false, is_polled = false;  ///< polled: its receiver has polled since it arrived
    Picoseconds sent_at = 0;
};

/// Sends and receives of two ranks match by tag, in order.
class Mailbox {
 public:
    explicit Mailbox(int ranks)
        : ranks_(ranks), unmatched_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {}

    CpuMessage& operator[](std::uint32_t message) { return messages_[message]; }
    /// The message that the other side has sent or posted already, or a new one.
    std::uint32_t send(int from, int to, int tag) { return match(from, to, tag, true); }
    std::uint32_t receive(int from, int to, int tag) { return match(from, to, tag, false); }
    void release(std::uint32_t message) { free_.push_back(message); }

 private:
    std::uint32_t match(int from, int to, int tag, bool sends) {
        std::vector<std::uint32_t>& open =
            unmatched_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                       static_cast<std::size_t>(to)];
        for (auto known = open.begin(); known != open.end(); ++known) {
            CpuMessage& message = messages_[*known];
            if (message.tag == tag && !(sends ? message.sent : message.is_posted)) {
                const std::uint32_t index = *known;
                (sends ? message.sent : message.is_posted) = true;
                open.erase(known);
                return index;
            }
        }
        const std::uint32_t index = allocate();
        CpuMessage& message = messages_[index];
        message.from = from, message.to = to, message.tag = tag;
        (sends ? message.sent : message.is_posted) = true;
        open.push_back(index);
        return index;
    }
    std::uint32_t allocate() {
        if (free_.empty()) {
            messages_.emplace_back();
            return static_cast<std::uint32_t>(messages_.size() - 1);
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        messages_[index] = {};
        return index;
    }

    int ranks_;
    std::vector<CpuMessage> messages_;
    std::vector<std::uint32_t> free_;
    std::vector<std::vector<std::uint32_t>> unmatched_;  ///< by (from, to)
};

}  // namespace auspex::cpu
