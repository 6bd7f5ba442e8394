#pragma once
/// @file Events of ranks on CPU cores, in order of (time, sequence).
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/time.hpp"

namespace auspex::cpu {

struct CpuEvent {
    enum class Kind : std::uint8_t {
        kWorkEnd,      ///< index: rank
        kDispatch,     ///< a rank starts on its core; index: rank
        kPoll,         ///< a rank that spins polls for messages; index: rank
        kQuantumEnd,   ///< a core's time slice ends; index: core
        kFlowEnd,      ///< index: pair of NICs (from * nics + to)
        kReadyToSend,  ///< a long message's receiver learns of it; index: message
        kClearToSend,  ///< its sender learns that it may flow; index: message
        kArrival       ///< index: message
    };
    Picoseconds time = 0;
    std::uint64_t sequence = 0;
    Kind kind = Kind::kArrival;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  ///< older than its owner's: the event is out of date

    [[nodiscard]] bool operator>(const CpuEvent& other) const {
        return std::tie(time, sequence) > std::tie(other.time, other.sequence);
    }
};

class CpuEventQueue {
 public:
    void add(Picoseconds time, CpuEvent::Kind kind, std::uint32_t index, std::uint32_t generation = 0) {
        queue_.push({time, sequence_++, kind, index, generation});
    }
    [[nodiscard]] bool empty() const { return queue_.empty(); }
    [[nodiscard]] Picoseconds next_time() const { return queue_.top().time; }
    CpuEvent take() {
        const CpuEvent event = queue_.top();
        queue_.pop();
        return event;
    }
    [[nodiscard]] std::uint64_t added() const { return sequence_; }

 private:
    std::priority_queue<CpuEvent, std::vector<CpuEvent>, std::greater<>> queue_;
    std::uint64_t sequence_ = 0;
};

}  // namespace auspex::cpu
