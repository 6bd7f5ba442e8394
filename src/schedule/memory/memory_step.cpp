/// @file Passes of a role in their order, each walked, or remembered.
#include "schedule/memory/memory_step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"

namespace auspex::schedule {

void StepTally::play(const BlockUse& use, const BlockMemory& effect) {
    const bool higher = live_sum_ + effect.peak > peaks_.peak;
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        peaks_.label_peaks[i] = std::max(peaks_.label_peaks[i], live_[i] + effect.label_peaks[i]);
        peaks_.at_peak[i] = higher ? live_[i] + effect.at_peak[i] : peaks_.at_peak[i];
    }
    if (higher) {
        peaks_.peak = live_sum_ + effect.peak;
        peaks_.use = use;
        peaks_.operation = effect.operation;
    }
    peaks_.host_peak = std::max(peaks_.host_peak, host_ + effect.host_peak);
    host_ += effect.host_change;
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        live_[i] += effect.change[i];
        live_sum_ += effect.change[i];
    }
}

BytesByLabel StepTally::live_with(const BytesByLabel& of_pass) const {
    BytesByLabel sum = live_;
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        sum[i] += of_pass[i];
    }
    return sum;
}

void StepTally::finish() const {
    AUSPEX_CHECK(live_ == BytesByLabel{} && host_ == 0, "a step releases what it has made");
}

namespace {

/// Rows of the layers with experts of all chunks, over those of even routing, for each index in an ep group.
std::vector<double> loads_of_stage(const std::vector<ChunkSizes>& chunks, const models::RoutingLoad& load) {
    std::vector<double> sums(load.by_rank.size(), 0.0);
    for (const ChunkSizes& chunk : chunks) {
        for (int layer = chunk.layers.first + chunk.dense_layers; layer < chunk.layers.last; ++layer) {
            const std::vector<double>& by_rank = load.by_rank_of(layer);
            for (std::size_t rank = 0; rank < sums.size(); ++rank) {
                sums[rank] += by_rank[rank];
            }
        }
    }
    return sums;
}

/// Of the rank, in the layers of a chunk; what leaves it is the same in all.
std::vector<LayerRows> rows_of_chunk(const ChunkSizes& chunk, const models::RoutingLoad& load, std::size_t rank,
                                     const MemorySizes& sizes) {
    std::vector<LayerRows> rows;
    for (int layer = chunk.layers.first; layer < chunk.layers.last; ++layer) {
        const bool has_experts = layer >= chunk.layers.first + chunk.dense_layers;
        const double times = has_experts ? load.by_rank_of(layer)[rank] : 0;
        rows.push_back(
            {static_cast<std::uint64_t>(std::ceil(static_cast<double>(sizes.rows) * times)), sizes.sent_rows});
    }
    return rows;
}

}  // namespace

RoleWalk::RoleWalk(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                   const Program& whole, int stage, const models::RoutingLoad& load)
    : program(whole), role(whole.roles[static_cast<std::size_t>(stage)]), sizes(memory_sizes(workload, plan, stack)) {
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        chunks.push_back(chunk_sizes(workload, plan, stack, stage, chunk));
    }
    if (load.is_even()) {
        return;
    }
    const std::vector<double> loads = loads_of_stage(chunks, load);
    const auto fullest = static_cast<std::size_t>(std::ranges::max_element(loads) - loads.begin());
    const double sent = static_cast<double>(sizes.sent_rows) * load.kept_of_even();
    sizes.sent_rows = static_cast<std::uint64_t>(std::ceil(sent - kRounding));
    for (const ChunkSizes& chunk : chunks) {
        rows.push_back(rows_of_chunk(chunk, load, fullest, sizes));
    }
}

BlockMemory RoleWalk::walk(const Block& block, std::span<const LayerRows> of_layers, PassMemory& pass,
                           const MemoryProbe& probe, const Playback& playback) const {
    return BlockWalk(sizes, chunks[static_cast<std::size_t>(block.chunk)], of_layers, pass, playback)
        .run(program, block, probe);
}

namespace {

void walk_uniform(const RoleWalk& role, const MemoryProbe& probe, const Visit& visit) {
    std::vector<PassMemory> left(2 * role.chunks.size());  // by chunk: after forward, after gradients of inputs
    std::vector<std::optional<BlockMemory>> effects(role.program.blocks.size());
    for (const BlockUse& use : role.role.order) {
        std::optional<BlockMemory>& effect = effects[use.block];
        if (!effect) {
            const Block& block = role.program.blocks[use.block];
            PassMemory& after_forward = left[static_cast<std::size_t>(2 * block.chunk)];
            PassMemory& after_inputs = left[static_cast<std::size_t>(2 * block.chunk + 1)];
            PassMemory pass = block.kind == BlockKind::kBackwardWeight ? after_inputs : after_forward;
            const bool even = role.rows.empty() || block.kind == BlockKind::kOptimizer;
            effect =
                role.walk(block, even ? std::span<const LayerRows>() : role.rows[static_cast<std::size_t>(block.chunk)],
                          pass, probe);
            if (block.kind == BlockKind::kForward) {
                after_forward = std::move(pass);
            } else if (block.kind == BlockKind::kBackwardInput) {
                after_inputs = std::move(pass);
            }
        }
        visit(use, *effect);
    }
}

/// Every use has rows of its own.
void walk_recorded(const RoleWalk& role, const RowsOf& rows, const MemoryProbe& probe, const Visit& visit) {
    const auto micro_batches = static_cast<std::size_t>(role.program.micro_batches);
    std::vector<PassMemory> passes(role.chunks.size() * micro_batches);
    PassMemory none;
    for (const BlockUse& use : role.role.order) {
        const Block& block = role.program.blocks[use.block];
        if (block.kind == BlockKind::kOptimizer) {
            visit(use, role.walk(block, {}, none, probe));
            continue;
        }
        const std::size_t pass =
            static_cast<std::size_t>(block.chunk) * micro_batches + static_cast<std::size_t>(use.micro_batch);
        visit(use, role.walk(block, rows(block, use.micro_batch), passes[pass], probe));
    }
}

}  // namespace

void walk_step(const RoleWalk& role, const RowsOf& rows, const MemoryProbe& probe, const Visit& visit) {
    if (rows) {
        walk_recorded(role, rows, probe, visit);
    } else {
        walk_uniform(role, probe, visit);
    }
}

void add_step(const RoleWalk& role, const RowsOf& rows, StepPeaks& peaks) {
    StepTally tally(peaks);
    walk_step(role, rows, {}, [&](const BlockUse& use, const BlockMemory& effect) { tally.play(use, effect); });
    tally.finish();
}

std::int64_t activations_at(const RoleWalk& role, const RowsOf& rows, const StepPeaks& peaks, KeptKind kind) {
    constexpr auto kActivations = static_cast<std::size_t>(MemoryLabel::kActivations);
    std::int64_t live = 0, found = 0;
    walk_step(role, rows, {peaks.operation, kind}, [&](const BlockUse& use, const BlockMemory& effect) {
        if (use.block == peaks.use.block && use.micro_batch == peaks.use.micro_batch) {
            found = live + effect.at_probe[kActivations];
        }
        live += effect.change[kActivations];
    });
    return found;
}

}  // namespace auspex::schedule
