#pragma once
/// @file The discrete-event engine: plays a costed program in virtual time, transfers sharing links max-min fairly.
#include <array>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "schedule/program.hpp"
#include "schedule/timeline.hpp"
#include "sim/network.hpp"
#include "sim/prediction.hpp"

namespace auspex {

using LossTimes = std::array<Picoseconds, kLossCount>;

/// A piece of a block that the engine starts and ends at once: one operation, or a stretch of operations that follow
/// one another without a gap and touch no link that anyone else uses, so that nothing can happen inside.
struct Piece {
    enum class Type : std::uint8_t { kCompute, kTransfer, kReceive, kWorld };
    Type type = Type::kCompute;
    Stream stream = Stream::kCompute;
    std::uint8_t joins = 0;  ///< bit s: every earlier piece of stream s must have ended
    Loss loss =
        Loss::kUsefulCompute;  ///< what the time counts as; for transfers: what it counts as when compute waits for it
    std::uint32_t op_begin = 0, op_end = 0;    ///< operations of the block, for names and traces
    std::uint32_t dep_begin = 0, dep_end = 0;  ///< into CostedProgram::dependencies: pieces of the same block
    std::int32_t message = -1;
    bool backward_message = false;
    Picoseconds duration =
        0;  ///< of kCompute and kWorld, and of a transfer alone; one that shares links may take longer
    Picoseconds imbalance = 0;   ///< of a transfer: the part of it that the busiest rank adds over the mean
    Picoseconds jitter = 0;      ///< of a transfer or world piece: the part of it that noise adds, at its start
    std::uint32_t transfer = 0;  ///< kTransfer that may share links: index into CostedProgram::transfers
    bool shares = false;
    LossTimes parts{};  ///< of `duration` by loss (for kCompute)
};

struct CostedBlock {
    BlockKind kind = BlockKind::kForward;
    std::uint32_t piece_begin = 0, piece_end = 0;
};

/// A program with a time on everything.
struct CostedProgram {
    const Program* program = nullptr;
    std::vector<Piece> pieces;
    std::vector<std::uint32_t> dependencies;
    std::vector<CostedBlock> blocks;  ///< as Program::blocks
    std::vector<Transfer> transfers;  ///< of pieces that share links; durations with repeat and jitter applied
    double collective_compute_share = 0;
};

struct PlayResult {
    Picoseconds step = 0;
    Picoseconds forward_backward = 0;  ///< end of the last backward piece of any role
    std::vector<LossTimes> losses;     ///< by role; each sums to `step`
    /// By operation_name_index, sum over roles: how much longer transfers that shared links took than they would have
    /// alone.
    std::vector<Picoseconds> shared_link_excess;
    std::uint64_t events = 0;
};

/// Plays the program. Deterministic: events are ordered by (time, sequence). Aborts (invariant) if a role cannot
/// finish.
[[nodiscard]] PlayResult play(const CostedProgram& costed, Network& network, Timeline* timeline);

}  // namespace auspex
