/// @file Peaks over a step: what is there all the time, and what the passes of a role add in their order.
#include "schedule/memory/memory.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "schedule/memory/memory_routing.hpp"
#include "schedule/memory/memory_walk.hpp"

namespace auspex::schedule {
namespace {

/// Peaks of what comes and goes.
struct StepPeaks {
    BytesByLabel label_peaks{}, at_peak{};
    std::int64_t peak = 0;
    BlockUse use;
    std::uint32_t operation = 0;
};

/// Adds up the effects of passes.
class StepTally {
 public:
    explicit StepTally(StepPeaks& peaks) : peaks_(peaks) {}
    void play(const BlockUse& use, const BlockMemory& effect) {
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
        for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
            live_[i] += effect.change[i];
            live_sum_ += effect.change[i];
        }
    }
    void finish() const { AUSPEX_CHECK(live_ == BytesByLabel{}, "a step releases what it has made"); }

 private:
    StepPeaks& peaks_;
    BytesByLabel live_{};
    std::int64_t live_sum_ = 0;
};

/// What the passes of one role need.
struct RoleWalk {
    const Program& program;
    const Role& role;
    MemorySizes sizes;
    std::vector<ChunkSizes> chunks;

    RoleWalk(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
             const Program& whole, int stage)
        : program(whole),
          role(whole.roles[static_cast<std::size_t>(stage)]),
          sizes(memory_sizes(workload, plan, stack)) {
        for (int chunk = 0; chunk < plan.virtual_stages; ++chunk) {
            chunks.push_back(chunk_sizes(workload, plan, stack, stage, chunk));
        }
    }
    [[nodiscard]] BlockMemory walk(const Block& block, std::span<const std::uint64_t> rows, PassMemory& pass) const {
        return BlockWalk(sizes, chunks[static_cast<std::size_t>(block.chunk)], rows, pass).run(program, block);
    }
};

/// All uses of a block do the same: each is walked once.
StepPeaks uniform_peaks(const RoleWalk& role) {
    StepPeaks peaks;
    StepTally tally(peaks);
    std::vector<PassMemory> after_forward(role.chunks.size());
    std::vector<std::optional<BlockMemory>> effects(role.program.blocks.size());
    for (const BlockUse& use : role.role.order) {
        std::optional<BlockMemory>& effect = effects[use.block];
        if (!effect) {
            const Block& block = role.program.blocks[use.block];
            PassMemory& pass = after_forward[static_cast<std::size_t>(block.chunk)];
            PassMemory copy = pass;
            effect = role.walk(block, {}, block.kind == BlockKind::kForward ? pass : copy);
        }
        tally.play(use, *effect);
    }
    tally.finish();
    return peaks;
}

/// Every use has rows of its own.
void add_recorded_step(const RoleWalk& role, const models::RoutingRecord& record, const models::Workload& workload,
                       const models::Plan& plan, const models::GridCoordinates& coordinates, int step,
                       StepPeaks& peaks) {
    StepTally tally(peaks);
    std::vector<PassMemory> passes(role.chunks.size() * static_cast<std::size_t>(plan.micro_batches));
    PassMemory none;
    for (const BlockUse& use : role.role.order) {
        const Block& block = role.program.blocks[use.block];
        if (block.kind == BlockKind::kOptimizer) {
            tally.play(use, role.walk(block, {}, none));
            continue;
        }
        const auto chunk = static_cast<std::size_t>(block.chunk);
        const std::vector<std::uint64_t> rows =
            recorded_rows(record, workload, plan, coordinates, role.chunks[chunk].layers, step, use.micro_batch);
        const std::size_t pass =
            chunk * static_cast<std::size_t>(plan.micro_batches) + static_cast<std::size_t>(use.micro_batch);
        tally.play(use, role.walk(block, rows, passes[pass]));
    }
    tally.finish();
}

std::string name_of(const Program& program, const BlockUse& use, std::uint32_t operation) {
    const Block& block = program.blocks[use.block];
    const Operation& op = program.operations_of(block)[operation];
    std::string name = to_string(block.kind);
    name += use.micro_batch >= 0 ? " of micro-batch " + std::to_string(use.micro_batch) : "";
    name += ", " + operation_name(operation_name_index(op.kind, op.phase));
    return name + (op.layer >= 0 ? " of layer " + std::to_string(op.layer) : "");
}

/// Bytes of the units that fsdp has gathered at a time: two of a stage's largest layer, embedding or LM head, and
/// their gradients.
double gathered_units(const models::Workload& workload, const models::Plan& plan, int stage) {
    if (plan.optimizer != models::OptimizerSharding::kFsdp) {
        return 0;
    }
    double largest = 0;
    for (const StageParameters& unit : stage_units(workload, plan, stage)) {
        largest = std::max(largest, unit.dense + unit.experts);
    }
    return 2 * largest * (plan.weight_bytes + plan.gradient_bytes);
}

/// Bytes by label of `held` parameters and `states` optimizer states.
std::array<double, kMemoryLabelCount> fixed_bytes(const models::Plan& plan, double held, double states, double units) {
    std::array<double, kMemoryLabelCount> bytes{};
    const auto set = [&](MemoryLabel label, double amount) { bytes[static_cast<std::size_t>(label)] = amount; };
    set(MemoryLabel::kWeights, held * plan.weight_bytes);
    set(MemoryLabel::kGradients, held * plan.gradient_bytes);
    set(MemoryLabel::kMasterWeights, plan.weight_bytes < 4 ? states * 4 : 0);
    set(MemoryLabel::kMoments, states * 8);
    set(MemoryLabel::kCommunication, units);
    return bytes;
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

/// `at_peak` and `largest` by label, and the machine's reserve.
template <typename Bytes>
StageMemory with_runtime(int stage, std::string operation, const Bytes& at_peak, const Bytes& largest,
                         const models::Machine& machine) {
    StageMemory memory;
    memory.stage = stage;
    memory.peak_operation = std::move(operation);
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        const char* name = to_string(static_cast<MemoryLabel>(i));
        memory.by_label.emplace_back(name, static_cast<double>(at_peak[i]));
        memory.peak_by_label.emplace_back(name, static_cast<double>(largest[i]));
    }
    memory.by_label.emplace_back("runtime", machine.tile.reserved_bytes);
    memory.peak_by_label.emplace_back("runtime", machine.tile.reserved_bytes);
    for (const auto& [label, bytes] : memory.by_label) {
        memory.peak_bytes += bytes;
    }
    return memory;
}

}  // namespace

StageMemory stage_memory(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                         const models::Machine& machine, const models::Layout& layout, const Program& program,
                         int stage, double heaviest_rank) {
    RoleWalk role(workload, plan, stack, program, stage);
    role.sizes.rows = static_cast<std::uint64_t>(std::ceil(static_cast<double>(role.sizes.rows) * heaviest_rank));
    const StepPeaks peaks = uniform_peaks(role);
    const StageParameters p = stage_parameters(workload, plan, stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const double states = p.dense / shards.dense + p.experts / shards.experts;
    const double held = plan.optimizer == models::OptimizerSharding::kFsdp ? states : p.dense + p.experts;
    const auto fixed = fixed_bytes(plan, held, states, gathered_units(workload, plan, stage));
    std::array<double, kMemoryLabelCount> at_peak{}, largest{};
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        at_peak[i] = fixed[i] + static_cast<double>(peaks.at_peak[i]);
        largest[i] = fixed[i] + static_cast<double>(peaks.label_peaks[i]);
    }
    return with_runtime(stage, name_of(program, peaks.use, peaks.operation), at_peak, largest, machine);
}

StageMemory recorded_stage_memory(const models::Workload& workload, const models::Plan& plan,
                                  const models::Stack& stack, const models::Machine& machine,
                                  const models::Layout& layout, const Program& program, int stage,
                                  const models::RoutingRecord& record) {
    RankMemory fullest;
    for (int n = 0; n < layout.stage_ranks; ++n) {
        const RankMemory memory = rank_memory(workload, plan, stack, layout, program, layout.rank(stage, n), &record);
        fullest = memory.peak_bytes > fullest.peak_bytes ? memory : fullest;
    }
    return with_runtime(stage, name_of(program, fullest.use, fullest.operation), fullest.at_peak, fullest.peaks,
                        machine);
}

RankMemory rank_memory(const models::Workload& workload, const models::Plan& plan, const models::Stack& stack,
                       const models::Layout& layout, const Program& program, int rank,
                       const models::RoutingRecord* routing) {
    const models::GridCoordinates coordinates = grid_coordinates(layout, rank);
    const RoleWalk role(workload, plan, stack, program, coordinates.stage);
    StepPeaks peaks;
    if (routing != nullptr) {
        check_record(*routing, workload, plan, layout);
        for (int step = routing->first_step; step < routing->first_step + routing->steps; ++step) {
            add_recorded_step(role, *routing, workload, plan, coordinates, step, peaks);
        }
    } else {
        peaks = uniform_peaks(role);
    }
    const StageParameters p = stage_parameters(workload, plan, coordinates.stage);
    const OptimizerShards shards = optimizer_shards(plan, layout);
    const models::GroupKind dense = plan.optimizer == models::OptimizerSharding::kSharded
                                        ? models::GroupKind::kDenseDpOuter
                                        : models::GroupKind::kDenseDp;
    const auto states = static_cast<double>(
        shard_of_rank(layout, dense, coordinates.stage, rank, p.dense, shards.dense) +
        shard_of_rank(layout, models::GroupKind::kExpertDp, coordinates.stage, rank, p.experts, shards.experts));
    const bool fsdp = plan.optimizer == models::OptimizerSharding::kFsdp;
    const double held = fsdp ? states : std::round(p.dense) + std::round(p.experts);
    const auto fixed = fixed_bytes(plan, held, states, gathered_units(workload, plan, coordinates.stage));
    RankMemory memory;
    memory.use = peaks.use;
    memory.operation = peaks.operation;
    for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
        memory.fixed[i] = static_cast<std::uint64_t>(std::llround(fixed[i]));
        memory.peaks[i] = memory.fixed[i] + static_cast<std::uint64_t>(peaks.label_peaks[i]);
        memory.at_peak[i] = memory.fixed[i] + static_cast<std::uint64_t>(peaks.at_peak[i]);
        memory.peak_bytes += memory.at_peak[i];
    }
    return memory;
}

}  // namespace auspex::schedule
