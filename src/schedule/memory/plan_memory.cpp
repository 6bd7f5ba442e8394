/// @file The program of one stage and one micro-batch, walked once; its passes added up in the order of a plan.
#include "schedule/memory/plan_memory.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/memory/memory_step.hpp"

namespace auspex::schedule {
namespace {

std::int64_t sum_of(const BytesByLabel& bytes) { return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}); }

/// Calls visit(effect) for each pass of the stage in order, then for the optimizer.
template <class Visit>
void for_each_pass(const PassEffects& effects, const models::Plan& plan, int stage, const Visit& visit) {
    const PassOrder order(plan, stage);
    std::vector<int> left;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        left.push_back(micro_batches_of(plan, chunk).count());
    }
    for (int i = 0; i < order.size(); ++i) {
        const Pass pass = order[i];
        const auto chunk = static_cast<std::size_t>(pass.chunk), kind = static_cast<std::size_t>(pass.kind);
        const bool completes = pass.kind == PassKind::kBackward || pass.kind == PassKind::kBackwardWeight;
        const bool last = completes && --left[chunk] == 0;
        visit((last ? effects.last_passes : effects.passes)[chunk][kind]);
    }
    visit(effects.optimizer);
}

}  // namespace

PassEffects pass_effects(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Layout& layout, int stage, const models::RoutingLoad& load) {
    const Program program = build_stage_blocks(workload, plan, stack, layout, stage);
    const RoleWalk role(workload, plan, stack, program, stage, load);
    PassEffects effects;
    effects.passes.resize(role.chunks.size());
    effects.last_passes.resize(role.chunks.size());
    walk_step(role, {}, {}, [&](const BlockUse& use, const BlockMemory& effect) {
        const Block& block = program.blocks[use.block];
        if (block.kind == BlockKind::kOptimizer) {
            effects.optimizer = effect;
            return;
        }
        const auto chunk = static_cast<std::size_t>(block.chunk), kind = static_cast<std::size_t>(pass_of(block.kind));
        effects.last_passes[chunk][kind] = effect;
        if (!block.last_micro_batch) {
            effects.passes[chunk][kind] = effect;
        }
    });
    return effects;
}

std::int64_t kept_bytes(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                        const Program& program, int stage, const models::RoutingLoad& load) {
    const RoleWalk role(workload, plan, stack, program, stage, load);
    PassMemory between;
    const Block& block = program.blocks[role.role.order.front().block];
    const std::span<const LayerRows> rows =
        load.is_even() ? std::span<const LayerRows>() : role.rows[static_cast<std::size_t>(block.chunk)];
    return sum_of(role.walk(block, rows, between, {}).change);
}

double stage_peak_bytes(const PassEffects& effects, const FixedBytes& fixed, const models::Plan& plan,
                        const models::Stack& stack, const models::Machine& machine, int stage) {
    std::int64_t live = 0, peak = 0;
    int at = 0, peak_at = -1;
    for_each_pass(effects, plan, stage, [&](const BlockMemory& effect) {
        if (live + effect.peak > peak) {
            peak = live + effect.peak;
            peak_at = at;
        }
        live += sum_of(effect.change);
        ++at;
    });
    BytesByLabel labels{};
    at = 0;
    for_each_pass(effects, plan, stage, [&](const BlockMemory& effect) {
        for (std::size_t label = 0; label < kMemoryLabelCount && at <= peak_at; ++label) {
            labels[label] += at == peak_at ? effect.at_peak[label] : effect.change[label];
        }
        ++at;
    });
    double bytes = 0;
    for (std::size_t label = 0; label < kMemoryLabelCount; ++label) {
        bytes += fixed[label] + static_cast<double>(labels[label]);
    }
    return bytes + machine.tile.reserved_bytes + fragment_bytes(stack, labels);
}

}  // namespace auspex::schedule
