#pragma once
/// @file A program with a time on everything: what the engine plays. Plain data.
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"
#include "schedule/losses.hpp"
#include "schedule/program/program.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex::engine {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What the engine starts and ends at once: one operation of a block, or several merged ones that follow one another
/// without a gap and use no link that another actor uses, so that no event can fall inside.
struct Task {
    enum class Type : std::uint8_t { kCompute, kTransfer, kReceive, kWorld };
    Type type = Type::kCompute;
    schedule::Stream stream = schedule::Stream::kCompute;
    std::uint8_t joins = 0;                                ///< bit s: every earlier task of stream s must have ended
    schedule::Loss loss = schedule::Loss::kUsefulCompute;  ///< what the time counts as; for transfers: what it counts
                                                           ///< as when compute waits for it
    std::uint32_t op_begin = 0, op_end = 0;                ///< operations of the block, for names and traces
    std::uint32_t dep_begin = 0, dep_end = 0;  ///< into CostedProgram::dependencies: tasks of the same block
    std::uint32_t next = kNone;                ///< next task of the same stream in the block
    std::int32_t message = -1;
    bool backward_message = false;
    bool second = false;       ///< of a block of two passes: of the backward one
    Picoseconds duration = 0;  ///< of kCompute: on a tile of speed 1 with the mean load, as folded: the stragglers' too
    Picoseconds jitter = 0;    ///< folded: what noise adds to a transfer, at its start
    std::uint32_t transfer = kNone;      ///< kTransfer, kWorld: index into CostedProgram::transfers
    std::uint32_t actor_groups = kNone;  ///< kTransfer: index into CostedProgram::actor_groups; kNone: an actor alone
    schedule::LossTimes time_by_loss{};  ///< of `duration` by loss (for kCompute)
    /// Of kCompute, unfolded: the seconds that a tile of speed v takes 1/v times as long for, by loss.
    std::array<double, schedule::kLossCount> rate_bound_s{};
    std::uint32_t uneven = kNone;  ///< into CostedProgram::uneven_s: seconds more (or less) by index in the ep group
};

struct CostedBlock {
    schedule::BlockKind kind = schedule::BlockKind::kForward;
    std::uint32_t task_begin = 0, task_end = 0;
    std::array<std::uint32_t, schedule::kStreamCount> first{};  ///< task of each stream within the block; kNone: none
};

/// A communication of one stage, by its groups: folded one entry for all siblings.
struct CostedTransfer {
    struct Member {
        std::uint32_t phase_begin = 0, phase_end = 0;
        Picoseconds solo_time = 0;        ///< with no other transfer beside it
        Picoseconds imbalance = 0;        ///< the part of it that uneven routing adds
        double jitter = 0;                ///< unfolded: relative standard deviation
        bool shares_links = false;        ///< others may use its links at the same time
        Picoseconds slow_link_time = 0;   ///< unfolded: the part of solo_time that links slow by request add
        std::uint32_t slow_link = kNone;  ///< the one that adds most
    };
    std::vector<Member> members;
    std::vector<network::TransferPhase> phases;  ///< repeats of the operation applied
};

/// The groups in which the actors of a stage synchronise for one kind of communication. Actors of a stage are 0 ..
/// actors_per_stage - 1.
struct ActorGroups {
    std::vector<std::uint32_t> group_of;  ///< by actor
    std::vector<std::uint32_t> begin{0};  ///< members of group g: actors[begin[g] .. begin[g + 1])
    std::vector<std::uint32_t> actors;
    [[nodiscard]] std::size_t groups() const { return begin.size() - 1; }
};

/// A program with a time on everything.
struct CostedProgram {
    const schedule::Program* program = nullptr;
    std::vector<Task> tasks;
    std::vector<std::uint32_t> dependencies;  ///< on tasks of other streams: those of a stream run in order anyway
    std::vector<CostedBlock> blocks;          ///< as Program::blocks
    std::vector<CostedTransfer> transfers;
    double collective_compute_share = 0, host_copy_compute_share = 0;
    bool serial = false;     ///< of an actor, nothing but pipeline messages runs beside compute or another collective
    bool runs_ahead = true;  ///< compute goes ahead of the events where it can; false: to test that it changes nothing
    // unfolded
    std::uint32_t actors_per_stage = 1;  ///< actors of a stage: 1 folded, else its ranks
    std::vector<ActorGroups> actor_groups;
    std::vector<std::uint32_t> shared_links;  ///< rising: those on which communications can slow one another
    std::uint32_t ep = 1, etp = 1;            ///< index of actor n in its ep group: n / etp % ep
    std::vector<double> uneven_s;
};

}  // namespace auspex::engine
