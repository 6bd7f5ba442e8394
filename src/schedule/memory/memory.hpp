#pragma once
/// @file Memory of a tile over the step, by label: a walk over the program by the rules of docs/memory.md.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/machine.hpp"
#include "models/routing.hpp"
#include "models/routing_record.hpp"
#include "schedule/memory/memory_label.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

struct StageMemory {
    int stage = 0;
    double peak_bytes = 0;       ///< `by_label` together
    double reserved_bytes = 0;   ///< of the peak, what the allocator reserves; 0 where it is not played
    double allocated_bytes = 0;  ///< of that, what it hands out, the most
    std::string peak_operation;  ///< where in the step the peak occurs
    std::vector<std::pair<std::string, double>> by_label;       ///< at the peak
    std::vector<std::pair<std::string, double>> peak_by_label;  ///< of each label by itself, in the same order
    double host_bytes = 0;                                      ///< of a tile's activations in host memory, the most
};

/// Bytes of a stage's ranks, for predictions: the labels of MemoryLabel, `runtime`, the machine's reserved_bytes, and
/// `fragments`, what the allocator holds beside them. Shards of optimizer states are even, in fractions of a parameter;
/// every MoE layer computes the rows that `load` gives the rank with most of them over all layers of the stage, rounded
/// up. With fsdp, weights, gradients and states are sharded the same way, and `communication` has two gathered units
/// and their gradients, of the size of the largest of the stage's layers, embedding and LM head, all the time. Requires
/// a resolved plan and its program. Ignores: buffers inside libraries beyond reserved_bytes.
[[nodiscard]] StageMemory stage_memory(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Machine& machine,
                                       const models::Layout& layout, const Program& program, int stage,
                                       const models::RoutingLoad& load);

/// Live bytes of a stage's ranks in one pass, by label in the order of StageMemory::by_label.
struct PassBytes {
    BlockKind kind = BlockKind::kForward;
    int chunk = 0, micro_batch = -1;  ///< micro_batch: -1 of the optimizer's block
    std::vector<double> at_peak;      ///< when the pass has most
    std::vector<double> behind;       ///< when it has ended
};
/// How the live bytes of a stage's ranks come and go over the step.
struct StageCourse {
    StageMemory memory;
    /// Of `activations` at the peak, by KeptKind: what recomputing it would make again.
    std::vector<std::pair<std::string, double>> kept;
    std::vector<PassBytes> passes;  ///< in order
};
/// `memory` is that of stage_memory with the same arguments.
[[nodiscard]] StageCourse stage_course(const models::Workload& workload, const models::Plan& plan,
                                       const models::Stack& stack, const models::Machine& machine,
                                       const models::Layout& layout, const Program& program, int stage,
                                       const models::RoutingLoad& load);

/// Live bytes of one rank, exactly.
struct RankMemory {
    LabelBytes fixed{};            ///< all the time: weights, gradients, optimizer states
    LabelBytes peaks{};            ///< of each label by itself, the most at any time
    std::uint64_t peak_bytes = 0;  ///< of the sum over labels
    LabelBytes at_peak{};          ///< by label when the sum has its peak
    BlockUse use;                  ///< the pass in which it has it
    std::uint32_t operation = 0;   ///< of the block, that reaches it
    std::uint64_t host_bytes = 0;  ///< of activations in host memory, the most
};

/// What the trainer's arena has to show for a step. The rank's shard of optimizer states is elements
/// [size * p / n, size * (p + 1) / n) of each flat array, p its index in the group of n that shards it. `routing`: of
/// recorded steps (the peaks are those over all of them); null: uniform. Requires a resolved plan and its program.
/// Throws InputError for a record of another model or batch, or with etp != tp or cp > 1, which no run records.
[[nodiscard]] RankMemory rank_memory(const models::Workload& workload, const models::Plan& plan,
                                     const models::Stack& stack, const models::Layout& layout, const Program& program,
                                     int rank, const models::RoutingRecord* routing);

/// Of the rank of the stage that holds most at its peak, from recorded routing, and the machine's `runtime`. Throws as
/// rank_memory does.
[[nodiscard]] StageMemory recorded_stage_memory(const models::Workload& workload, const models::Plan& plan,
                                                const models::Stack& stack, const models::Machine& machine,
                                                const models::Layout& layout, const Program& program, int stage,
                                                const models::RoutingRecord& record);
/// Of that rank, in the recorded step that has the peak. `memory` is that of recorded_stage_memory.
[[nodiscard]] StageCourse recorded_stage_course(const models::Workload& workload, const models::Plan& plan,
                                                const models::Stack& stack, const models::Machine& machine,
                                                const models::Layout& layout, const Program& program, int stage,
                                                const models::RoutingRecord& record);

}  // namespace auspex::schedule
