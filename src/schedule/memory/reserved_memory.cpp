/// @file Steps of a rank, allocation by allocation.
#include "schedule/memory/reserved_memory.hpp"

#include <algorithm>
#include <vector>

#include "schedule/memory/memory_step.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

constexpr int kMostSteps = 4;

/// The passes of a step that are played: with p stages 2 p are in flight or just over when a stage has its rhythm, and
/// those behind do as the one before them, up to the last.
std::vector<BlockUse> played_passes(const RoleWalk& role, const models::Plan& plan) {
    std::vector<BlockUse> uses;
    const int first_alike =
        plan.schedule == models::ScheduleKind::kGpipe ? role.program.micro_batches : 2 * plan.pp + 1;
    for (const BlockUse& use : role.role.order) {
        const bool is_alike = use.micro_batch >= first_alike && use.micro_batch < role.program.micro_batches - 1;
        if (!is_alike) {
            uses.push_back(use);
        }
    }
    return uses;
}

void play_step(const RoleWalk& role, const std::vector<BlockUse>& uses, const Playback& playback) {
    const auto micro_batches = static_cast<std::size_t>(role.program.micro_batches);
    std::vector<PassMemory> passes(role.chunks.size() * micro_batches);
    PassMemory none;
    for (const BlockUse& use : uses) {
        const Block& block = role.program.blocks[use.block];
        const auto chunk = static_cast<std::size_t>(block.chunk);
        const bool is_update = block.kind == BlockKind::kOptimizer;
        const bool even = role.rows.empty() || is_update;
        PassMemory& pass = is_update ? none : passes[chunk * micro_batches + static_cast<std::size_t>(use.micro_batch)];
        static_cast<void>(role.walk(block, even ? std::span<const LayerRows>() : role.rows[chunk], pass, {}, playback));
    }
}

}  // namespace

bool plays_allocator(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack) {
    return stack.allocator != models::Allocator::kNone && shards_weights(plan) && plan.reshard_ranks == 0 &&
           tiles_of(plan) / plan.pp > 1 && !splits_backward(plan.schedule) && !has_stages_twice(plan.schedule) &&
           plan.virtual_stages == 1 && workload.mtp_layers == 0 && plan.offload_layers == 0 && plan.cp == 1 &&
           workload.objective == models::Objective::kNextToken;
}

std::optional<ReservedMemory> reserved_memory(const models::Workload& workload, const models::Plan& plan,
                                              const models::Stack& stack, const models::Machine& machine,
                                              const models::Layout& layout, const Program& program, int stage,
                                              const models::RoutingLoad& load) {
    if (!plays_allocator(workload, plan, stack)) {
        return std::nullopt;
    }
    const RoleWalk role(workload, plan, stack, program, stage, load);
    const double capacity = std::max(0.0, machine.tile.hbm_bytes - machine.tile.reserved_bytes);
    CachingAllocator allocator(stack.allocator == models::Allocator::kExpandable, static_cast<std::uint64_t>(capacity));
    std::vector<WeightUnits> chunks;
    for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
        const int v = virtual_stage_of(plan, chunk, stage);
        WeightUnits units = weight_units(workload, plan, layout, v);
        chunks.push_back(stack.root_has_ends ? with_ends_in_root(std::move(units), layers_of(workload, plan, v))
                                             : std::move(units));
    }
    ShardedUnits units(allocator, plan, std::move(chunks),
                       {keeps_last_unit(workload, plan, stack), stack.root_has_ends});
    const std::vector<BlockUse> uses = played_passes(role, plan);
    double before = 0;
    for (int step = 0; step < kMostSteps; ++step) {
        allocator.reset_peaks();
        play_step(role, uses, {&allocator, &units});
        const auto reserved = static_cast<double>(allocator.peak_reserved());
        if (step > 0 && reserved <= before) {
            break;
        }
        before = reserved;
    }
    return ReservedMemory{static_cast<double>(allocator.peak_reserved()),
                          static_cast<double>(allocator.peak_allocated())};
}

}  // namespace auspex::schedule
