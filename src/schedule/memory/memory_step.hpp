#pragma once
/// @file What the passes of a role add to memory, one after the other: for memory.cpp.
#include <functional>
#include <vector>

#include "models/routing.hpp"
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {

/// Peaks of what comes and goes.
struct StepPeaks {
    BytesByLabel label_peaks{}, at_peak{};
    std::int64_t peak = 0;
    std::int64_t host_peak = 0;  ///< of host memory
    BlockUse use;
    std::uint32_t operation = 0;
    int step = 0;  ///< of those recorded, that has the peak
};

/// Adds up the effects of passes.
class StepTally {
 public:
    explicit StepTally(StepPeaks& peaks) : peaks_(peaks) {}
    void play(const BlockUse& use, const BlockMemory& effect);
    /// What is live between passes, and what a pass has made at some time.
    [[nodiscard]] BytesByLabel live_with(const BytesByLabel& of_pass) const;
    void finish() const;

 private:
    StepPeaks& peaks_;
    BytesByLabel live_{};
    std::int64_t live_sum_ = 0, host_ = 0;
};

/// What the passes of one role need.
struct RoleWalk {
    const Program& program;
    const Role& role;
    MemorySizes sizes;
    std::vector<ChunkSizes> chunks;

    /// Rows of each chunk's layers, of the rank whose rows in all layers of the stage are most, as the load has it;
    /// empty: those of `sizes` in all.
    std::vector<std::vector<LayerRows>> rows;

    RoleWalk(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
             const Program& whole, int stage, const models::RoutingLoad& load);
    [[nodiscard]] BlockMemory walk(const Block& block, std::span<const LayerRows> rows, PassMemory& pass,
                                   const MemoryProbe& probe, const Playback& playback = {}) const;
};

/// Rows of the experts of each layer of a pass.
using RowsOf = std::function<std::vector<LayerRows>(const Block& block, int micro_batch)>;
using Visit = std::function<void(const BlockUse& use, const BlockMemory& effect)>;

/// The passes of a step in order. Without rows, which are uniform then, all uses of a block do the same, and each is
/// walked once.
void walk_step(const RoleWalk& role, const RowsOf& rows, const MemoryProbe& probe, const Visit& visit);
/// Raises the peaks to those of a step.
void add_step(const RoleWalk& role, const RowsOf& rows, StepPeaks& peaks);
/// Bytes of activations of one kind while the operation runs that has the peak.
[[nodiscard]] std::int64_t activations_at(const RoleWalk& role, const RowsOf& rows, const StepPeaks& peaks,
                                          KeptKind kind);

}  // namespace auspex::schedule
