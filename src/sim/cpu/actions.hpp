#pragma once
/// @file What a rank on CPU cores does, one action after another: work, sends, receives, waits.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "schedule/losses.hpp"

namespace auspex::cpu {

/// Work of one core. What it takes from last-level cache and memory is spread evenly over its time.
struct CpuWork {
    double seconds = 0;  ///< on a core alone, with nothing shared
    double cache_bytes = 0, memory_bytes = 0;
    double warm_bytes = 0;  ///< of cache_bytes, those not in CpuCall::cold_bytes
};

struct RankAction {
    enum class Type : std::uint8_t {
        kWork,
        kSend,     ///< takes the sender's core for the message's cost
        kReceive,  ///< says where a message may go: free
        kWait      ///< until all that was sent and received since the last wait has ended
    };
    Type type = Type::kWork;
    bool is_waited_for = true;  ///< of a send: false if no wait of the operation asks for its end
    std::int32_t peer = -1;
    std::int32_t tag = 0;  ///< messages between two ranks match by tag, in order
    double bytes = 0;
    double memory_bytes = 0;  ///< of a send: bytes that its receiver reads from and writes to memory
    CpuWork work;
};

/// The actions of one operation, or, of one that runs beside others, those that begin it and those that end it.
struct OperationActions {
    enum class Part : std::uint8_t { kWhole, kBegin, kEnd };
    std::vector<RankAction> actions;
    schedule::Loss loss = schedule::Loss::kUsefulCompute;  ///< what its time counts as, waits for messages included
    bool waits_for_sender = false;      ///< what it waits before its message is sent counts as bubble
    std::uint32_t operation_index = 0;  ///< of the program; its meaning is up to who made the actions
    std::int32_t micro_batch = -1;
    Part part = Part::kWhole;  ///< those that were begun end in the order in which they were
};

/// What all ranks do, operation by operation, made as it is asked for.
struct CpuProgram {
    /// Fills the (cleared) operation; false: the rank has ended.
    std::function<bool(int rank, OperationActions& operation)> next;
    std::function<void(int rank, const OperationActions& operation, Picoseconds start, Picoseconds end)> ended;
};

}  // namespace auspex::cpu
