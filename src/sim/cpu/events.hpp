#pragma once
/// @file What will happen on a host, in order of (time, sequence).
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
        kDispatch,     ///< a rank begins its turn; index: rank
        kPoll,         ///< a rank that spins looks for what has come; index: rank
        kQuantumEnd,   ///< a core's slice ends; index: core
        kFlowEnd,      ///< index: lane of the wires
        kReadyToSend,  ///< a long message is heard of by its receiver; index: message
        kClearToSend,  ///< its sender hears that it may go; index: message
        kArrival       ///< index: message
    };
    Picoseconds time = 0;
    std::uint64_t sequence = 0;
    Kind kind = Kind::kArrival;
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  ///< an event whose owner has moved on has an older one

    [[nodiscard]] bool operator>(const CpuEvent& other) const {
        return std::tie(time, sequence) > std::tie(other.time, other.sequence);
    }
};

class CpuEventQueue {
 public:
    void add(Picoseconds time, CpuEvent::Kind kind, std::uint32_t index, std::uint32_t stamp = 0) {
        queue_.push({time, sequence_++, kind, index, stamp});
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
