#pragma once
/// @file What time goes to in a campaign, and how one went.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "campaign/quantities.hpp"

namespace auspex::campaign {

/// Every nanosecond from the begin to the last checkpoint has one of these. kWork is goodput, all else badput.
enum class Spent : std::uint8_t {
    kWork,            ///< steps that were not done before, at their own pace
    kReplay,          ///< steps that were done before, and parts of steps that were cut off
    kCheckpoint,      ///< stalls, and waits for the write before
    kDetection,       ///< from a failure to the begin of recovery
    kHang,            ///< from a silent hang to its watchdog
    kQueue,           ///< in the batch system's queue
    kNodeWait,        ///< for nodes to come back, and for outages to end
    kSwap,            ///< nodes against spare ones
    kRestart,         ///< of processes, after an interruption
    kInitialisation,  ///< after an interruption
    kLoad,            ///< after an interruption
    kStart,           ///< all three of them at the begin of a block that no interruption caused
    kSlowNodes,       ///< what steps took longer on slow nodes
    kMaintenance,     ///< of the machine
    kFailedStart,     ///< environment, restart and initialisation of starts that failed
};
inline constexpr std::size_t kSpentCount = 15;

/// "replay", "node_wait": keys of the JSON.
[[nodiscard]] const char* key_of(Spent spent);
/// "lost steps", "waits for nodes": for people.
[[nodiscard]] const char* words_of(Spent spent);

/// A stretch of one campaign.
struct Period {
    Nanoseconds begin = 0, end = 0;
    Spent spent = Spent::kWork;
};
/// A failure of one campaign: when, and of which source.
struct Strike {
    Nanoseconds at = 0;
    std::size_t source = 0;
};

/// How one sample went.
struct Outcome {
    bool is_finished = false;  ///< false: given up; what follows is until then
    Nanoseconds elapsed = 0;   ///< from the begin to the last checkpoint
    Nanoseconds held = 0;      ///< of it, with nodes allocated
    Nanoseconds exposed = 0;   ///< of it, in which failures could strike
    std::array<Nanoseconds, kSpentCount> spent{};
    std::vector<std::int64_t> interruptions;  ///< by source
    std::vector<Nanoseconds> lost_to;         ///< by source: detection, recovery and replay that it caused
    std::int64_t lost_steps = 0, replayed_steps = 0;
    std::int64_t checkpoints = 0, blocks = 1;  ///< checkpoints that were written to the end
    bool ends_corrupt = false;          ///< is_finished, with wrong numbers in the model that nobody has found yet
    std::int64_t requeues = 0;          ///< interruptions after which the job went to the queue
    std::vector<std::int64_t> windows;  ///< nodes that failed in each whole window in which spares have to do
    std::vector<Period> periods;        ///< only where asked for
    std::vector<Strike> strikes;        ///< only where asked for
};

}  // namespace auspex::campaign
