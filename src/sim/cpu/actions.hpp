#pragma once
/// @file What a rank on a host does, one action after another: work, sends, receives, waits.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "schedule/losses.hpp"

namespace auspex::cpu {

/// Work of one core. What it takes from last-level cache and memory is spread evenly over its time.
struct CpuWork {
    double seconds = 0;  ///< with nothing shared
    double cache_bytes = 0, memory_bytes = 0;
    double warm_bytes = 0;  ///< of cache_bytes, those that are not far (CpuCall::far_bytes)
};

struct RankAction {
    enum class Type : std::uint8_t {
        kWork,
        kSend,     ///< takes the sender's core for the message's cost
        kReceive,  ///< says where a message may go: free
        kWait      ///< until all that was sent and received since the last wait has ended
    };
    Type type = Type::kWork;
    bool is_waited_for = true;  ///< of a send: false if no wait of the row asks for its end
    std::int32_t peer = -1;
    std::int32_t tag = 0;  ///< messages between two ranks match by tag, in order
    double bytes = 0;
    double memory_bytes = 0;  ///< of a send: that its receiver takes from memory and puts there
    CpuWork work;
};

/// The actions of one operation.
struct OperationActions {
    std::vector<RankAction> actions;
    schedule::Loss loss = schedule::Loss::kUsefulCompute;  ///< what its time counts as, waits for messages included
    bool waits_for_sender = false;      ///< what it waits before its message is sent counts as bubble
    std::uint32_t operation_index = 0;  ///< of the program; who made the row knows what it means
    std::int32_t micro_batch = -1;
};

/// What all ranks do, row by row, made as it is asked for.
struct CpuProgram {
    std::function<bool(int rank, OperationActions& row)> next;  ///< fills the (cleared) row; false: the rank has ended
    std::function<void(int rank, const OperationActions& row, Picoseconds start, Picoseconds end)> ended;
};

}  // namespace auspex::cpu
