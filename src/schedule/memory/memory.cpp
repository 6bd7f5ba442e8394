/// @file Peaks over a step: what is there all the time, and what the passes of a role add in their order.
#include "schedule/memory/memory.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "schedule/memory/memory_fixed.hpp"
#include "schedule/memory/memory_routing.hpp"
#include "schedule/memory/memory_step.hpp"
#include "schedule/memory/reserved_memory.hpp"
#include "schedule/program/sharding.hpp"

namespace auspex::schedule {
namespace {

/// The rows of the experts of the layers of a pass, from a record.
RowsOf rows_of(const RoleWalk& role, const models::RoutingRecord& record, const models::Workload& workload,
               const models::Plan& plan, const models::GridCoordinates& coordinates, int step) {
    return [&, coordinates, step](const Block& block, int micro_batch) {
        const LayerRange layers = role.chunks[static_cast<std::size_t>(block.chunk)].layers;
        return recorded_rows(record, workload, plan, coordinates, layers, step, micro_batch);
    };
}

std::string name_of(const Program& program, const BlockUse& use, std::uint32_t operation) {
    const Block& block = program.blocks[use.block];
    const Operation& op = program.operations_of(block)[operation];
    std::string name = to_string(block.kind);
    name += use.micro_batch >= 0 ? " of micro-batch " + std::to_string(use.micro_batch) : "";
    name += ", " + operation_name(operation_name_index(op.kind, op.phase));
    return name + (op.layer >= 0 ? " of layer " + std::to_string(op.layer) : "");
}

/// The rank's part of `size` parameters that the groups of a kind shard; all of them where `shards` is 1.
std::uint64_t shard_of_rank(const models::Layout& layout, models::GroupKind kind, int stage, int rank, double size,
                            int shards) {
    const auto whole = static_cast<std::uint64_t>(std::llround(size));
    if (shards == 1) {
        return whole;
    }
    for (const std::vector<int>& group : groups_of(layout, kind, stage)) {
        const auto found = std::find(group.begin(), group.end(), rank);
        if (found != group.end()) {
            const auto index = static_cast<std::uint64_t>(found - group.begin());
            return models::shard_begin(whole, index + 1, group.size()) -
                   models::shard_begin(whole, index, group.size());
        }
    }
    check_failed("shard_of_rank", "every rank of a stage is in a group of the kind", __FILE__, __LINE__);
}

/// Bytes by label that are there all the time, and more at the peak and at each label's own.
template <typename Fixed>
StageMemory stage_memory_of(int stage, std::string operation, const Fixed& fixed, const BytesByLabel& more_at_peak,
                            const BytesByLabel& most, double host_bytes, const models::Stack& stack,
                            const models::Machine& machine) {
    StageMemory memory;
    memory.stage = stage;
    memory.host_bytes = host_bytes;
    memory.peak_operation = std::move(operation);
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        const char* name = to_string(static_cast<MemoryLabel>(i));
        const auto always = static_cast<double>(fixed[i]);
        memory.by_label.emplace_back(name, always + static_cast<double>(more_at_peak[i]));
        memory.peak_by_label.emplace_back(name, always + static_cast<double>(most[i]));
    }
    for (const auto& label : {std::pair<std::string, double>("runtime", machine.tile.reserved_bytes),
                              {"fragments", fragment_bytes(stack, more_at_peak)}}) {
        memory.by_label.push_back(label);
        memory.peak_by_label.push_back(label);
    }
    for (const auto& [label, bytes] : memory.by_label) {
        memory.peak_bytes += bytes;
    }
    return memory;
}

/// Where the allocator is played `fragments` has what it reserves beyond the labels.
StageMemory with_reserve(StageMemory memory, const std::optional<ReservedMemory>& played,
                         const models::Machine& machine) {
    if (!played) {
        return memory;
    }
    memory.reserved_bytes = played->reserved;
    memory.allocated_bytes = played->allocated;
    const double peak = std::max(memory.peak_bytes, played->reserved + machine.tile.reserved_bytes);
    const double more = peak - memory.peak_bytes;
    memory.peak_bytes = peak;
    memory.by_label.back().second += more;
    memory.peak_by_label.back().second += more;
    return memory;
}

BytesByLabel less(const LabelBytes& bytes, const LabelBytes& fixed) {
    BytesByLabel more{};
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        more[i] = static_cast<std::int64_t>(bytes[i] - fixed[i]);
    }
    return more;
}

/// With what the runtime and the allocator hold behind the labels.
template <typename Bytes>
std::vector<double> live_bytes(const Bytes& fixed, const BytesByLabel& more, const models::Stack& stack,
                               const models::Machine& machine) {
    std::vector<double> bytes;
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        bytes.push_back(static_cast<double>(fixed[i]) + static_cast<double>(more[i]));
    }
    bytes.push_back(machine.tile.reserved_bytes);
    bytes.push_back(fragment_bytes(stack, more));
    return bytes;
}

/// Goes through the step of `rows` once more: for each pass what is live, and of what the activations at the peak are.
template <typename Bytes>
StageCourse course_of(StageMemory memory, const RoleWalk& role, const RowsOf& rows, const Bytes& fixed,
                      const StepPeaks& peaks, const models::Stack& stack, const models::Machine& machine) {
    StageCourse course;
    course.memory = std::move(memory);
    StepPeaks of_step;
    StepTally tally(of_step);
    walk_step(role, rows, {}, [&](const BlockUse& use, const BlockMemory& effect) {
        const Block& block = role.program.blocks[use.block];
        PassBytes& pass = course.passes.emplace_back();
        pass.kind = block.kind, pass.chunk = block.chunk, pass.micro_batch = use.micro_batch;
        pass.at_peak = live_bytes(fixed, tally.live_with(effect.at_peak), stack, machine);
        tally.play(use, effect);
        pass.behind = live_bytes(fixed, tally.live_with({}), stack, machine);
    });
    for (std::size_t kind = 0; kind < kKeptKindCount; ++kind) {
        const std::int64_t bytes = activations_at(role, rows, peaks, static_cast<KeptKind>(kind));
        course.kept.emplace_back(to_string(static_cast<KeptKind>(kind)), static_cast<double>(bytes));
    }
    return course;
}

/// The rank of the stage that holds most, as recorded.
int fullest_rank(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                 const models::Layout& layout, const Program& program, int stage, const models::RoutingRecord& record) {
    int fullest = layout.rank(stage, 0);
    std::uint64_t most = 0;
    for (int n = 0; n < layout.stage_ranks; ++n) {
        const int rank = layout.rank(stage, n);
        const RankMemory memory = rank_memory(workload, plan, stack, layout, program, rank, &record);
        fullest = memory.peak_bytes > most ? rank : fullest;
        most = std::max(most, memory.peak_bytes);
    }
    return fullest;
}

StepPeaks recorded_peaks(const RoleWalk& role, const models::RoutingRecord& record, const models::Workload& workload,
                         const models::Plan& plan, const models::GridCoordinates& coordinates) {
    StepPeaks peaks;
    for (int step = record.first_step; step < record.first_step + record.steps; ++step) {
        const std::int64_t before = peaks.peak;
        add_step(role, rows_of(role, record, workload, plan, coordinates, step), peaks);
        peaks.step = peaks.peak > before ? step : peaks.step;
    }
    return peaks;
}

}  // namespace

StageMemory stage_memory(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Machine& machine, const models::Layout& layout, const Program& program,
                         int stage, const models::RoutingLoad& load) {
    const RoleWalk role(workload, plan, stack, program, stage, load);
    StepPeaks peaks;
    add_step(role, {}, peaks);
    return with_reserve(stage_memory_of(stage, name_of(program, peaks.use, peaks.operation),
                                        even_fixed_bytes(workload, plan, stack, layout, stage), peaks.at_peak,
                                        peaks.label_peaks, static_cast<double>(peaks.host_peak), stack, machine),
                        reserved_memory(workload, plan, stack, machine, layout, program, stage, load), machine);
}

StageCourse stage_course(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Machine& machine, const models::Layout& layout, const Program& program,
                         int stage, const models::RoutingLoad& load) {
    const RoleWalk role(workload, plan, stack, program, stage, load);
    StepPeaks peaks;
    add_step(role, {}, peaks);
    const auto fixed = even_fixed_bytes(workload, plan, stack, layout, stage);
    StageMemory memory =
        with_reserve(stage_memory_of(stage, name_of(program, peaks.use, peaks.operation), fixed, peaks.at_peak,
                                     peaks.label_peaks, static_cast<double>(peaks.host_peak), stack, machine),
                     reserved_memory(workload, plan, stack, machine, layout, program, stage, load), machine);
    return course_of(std::move(memory), role, {}, fixed, peaks, stack, machine);
}

StageMemory recorded_stage_memory(const models::Workload& workload, const models::Plan& plan,
                                  const models::Stack& stack, const models::Machine& machine,
                                  const models::Layout& layout, const Program& program, int stage,
                                  const models::RoutingRecord& record) {
    const int rank = fullest_rank(workload, plan, stack, layout, program, stage, record);
    const RankMemory fullest = rank_memory(workload, plan, stack, layout, program, rank, &record);
    return stage_memory_of(stage, name_of(program, fullest.use, fullest.operation), fullest.fixed,
                           less(fullest.at_peak, fullest.fixed), less(fullest.peaks, fullest.fixed),
                           static_cast<double>(fullest.host_bytes), stack, machine);
}

StageCourse recorded_stage_course(const models::Workload& workload, const models::Plan& plan,
                                  const models::Stack& stack, const models::Machine& machine,
                                  const models::Layout& layout, const Program& program, int stage,
                                  const models::RoutingRecord& record) {
    const int rank = fullest_rank(workload, plan, stack, layout, program, stage, record);
    const RankMemory fullest = rank_memory(workload, plan, stack, layout, program, rank, &record);
    const models::GridCoordinates coordinates = grid_coordinates(layout, rank);
    const RoleWalk role(workload, plan, stack, program, stage, {});
    const StepPeaks peaks = recorded_peaks(role, record, workload, plan, coordinates);
    return course_of(stage_memory_of(stage, name_of(program, fullest.use, fullest.operation), fullest.fixed,
                                     less(fullest.at_peak, fullest.fixed), less(fullest.peaks, fullest.fixed),
                                     static_cast<double>(fullest.host_bytes), stack, machine),
                     role, rows_of(role, record, workload, plan, coordinates, peaks.step), fullest.fixed, peaks, stack,
                     machine);
}

RankMemory rank_memory(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                       const models::Layout& layout, const Program& program, int rank,
                       const models::RoutingRecord* routing) {
    const models::GridCoordinates coordinates = grid_coordinates(layout, rank);
    const RoleWalk role(workload, plan, stack, program, coordinates.stage, {});
    StepPeaks peaks;
    if (routing != nullptr) {
        check_record(*routing, workload, layout);
        peaks = recorded_peaks(role, *routing, workload, plan, coordinates);
    } else {
        add_step(role, {}, peaks);
    }
    const StageParameters p = stage_parameters(workload, plan, coordinates.stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const models::GroupKind dense = shard_groups(plan, false).shard, experts = shard_groups(plan, true).shard;
    double states = 0;
    for (const StageParameters& part : updated_parts(workload, plan, stack, coordinates.stage)) {
        states +=
            static_cast<double>(shard_of_rank(layout, dense, coordinates.stage, rank, part.dense, shards.dense) +
                                shard_of_rank(layout, experts, coordinates.stage, rank, part.experts, shards.experts));
    }
    FixedBytes fixed = fixed_bytes(plan, stack, layout,
                                   {std::round(p.dense) + std::round(p.experts), states,
                                    waiting_gradients(workload, plan, stack, layout, coordinates.stage)});
    fixed[static_cast<std::size_t>(MemoryLabel::kWeights)] += bytes_beside_weights(workload, plan, coordinates.stage);
    RankMemory memory;
    memory.use = peaks.use;
    memory.operation = peaks.operation;
    memory.host_bytes = static_cast<std::uint64_t>(peaks.host_peak);
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        memory.fixed[i] = static_cast<std::uint64_t>(std::llround(fixed[i]));
        memory.peaks[i] = memory.fixed[i] + static_cast<std::uint64_t>(peaks.label_peaks[i]);
        memory.at_peak[i] = memory.fixed[i] + static_cast<std::uint64_t>(peaks.at_peak[i]);
        memory.peak_bytes += memory.at_peak[i];
    }
    return memory;
}

}  // namespace auspex::schedule
