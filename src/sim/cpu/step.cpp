/// @file Inputs to a step on CPUs.
#include "sim/cpu/step.hpp"

#include <algorithm>
#include <deque>

#include "base/error.hpp"
#include "sim/cpu/collectives.hpp"
#include "sim/cpu/player.hpp"
#include "sim/cpu/program_actions.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {
namespace {

WaitPolicy wait_policy_of(const models::Stack& stack) { return {stack.waits_by_yielding, stack.binds_ranks}; }

schedule::Timeline rank_timeline(int ranks) {
    schedule::Timeline timeline;
    for (int rank = 0; rank < ranks; ++rank) {
        for (std::size_t stream = 0; stream < schedule::kStreamCount; ++stream) {
            timeline.tracks.push_back(
                {"rank " + std::to_string(rank), to_string(static_cast<schedule::Stream>(stream))});
        }
    }
    for (std::size_t i = 0; i < schedule::kOperationNames; ++i) {
        timeline.names.push_back(schedule::operation_name(i));
    }
    return timeline;
}

/// Adds up what the operations of a step took.
class Recorder {
 public:
    Recorder(const schedule::StepProgram& step, CpuStep& out)
        : program_(step.program),
          ranks_(step.layout.tiles),
          begun_(static_cast<std::size_t>(step.layout.tiles)),
          out_(out) {
        out_.operation_times.seconds.assign(schedule::kOperationNames, 0);
        out_.operation_times.count.assign(schedule::kOperationNames, 0);
    }

    void ended(int rank, const OperationActions& operation, Picoseconds start, Picoseconds end) {
        if (operation.operation_index == ProgramActions::kNoOperation) {
            return;
        }
        std::deque<Picoseconds>& begun = begun_[static_cast<std::size_t>(rank)];
        if (operation.part == OperationActions::Part::kBegin) {
            begun.push_back(start);
            return;
        }
        if (operation.part == OperationActions::Part::kEnd) {
            start = begun.front();
            begun.pop_front();
        }
        const schedule::Operation& op = program_.operations[operation.operation_index];
        const std::size_t name = operation_name_index(op.kind, op.phase);
        out_.operation_times.seconds[name] += to_seconds(end - start) / ranks_;
        out_.operation_times.count[name] += 1.0 / ranks_;
        if (op.phase != schedule::Phase::kOptimizer) {
            out_.forward_backward = std::max(out_.forward_backward, end);
        }
        if (out_.timeline) {
            const auto track = static_cast<std::uint32_t>(static_cast<std::size_t>(rank) * schedule::kStreamCount +
                                                          static_cast<std::size_t>(op.stream));
            out_.timeline->spans.push_back(
                {track, static_cast<std::uint32_t>(name), start, end, operation.micro_batch, op.layer});
        }
    }

 private:
    const schedule::Program& program_;
    int ranks_;
    std::vector<std::deque<Picoseconds>> begun_;  ///< by rank: starts of what runs beside others
    CpuStep& out_;
};

/// Calls of one collective by all ranks, one after another.
class CollectiveCalls {
 public:
    CollectiveCalls(const models::Machine& machine, const models::Stack& stack, schedule::CommKind comm, int ranks,
                    double bytes, int calls)
        : collectives_(machine, stack), comm_(comm), bytes_(bytes), left_(static_cast<std::size_t>(ranks), calls) {
        for (int rank = 0; rank < ranks; ++rank) {
            group_.ranks.push_back(rank);
        }
    }

    bool next(int rank, OperationActions& operation) {
        const auto group_rank = static_cast<std::size_t>(rank);
        if (left_[group_rank] == 0) {
            return false;
        }
        --left_[group_rank];
        group_.group_rank = group_rank;
        CollectiveBuffer data;
        data.elements = static_cast<std::uint64_t>(bytes_ / data.element_bytes);
        switch (comm_) {
            case schedule::CommKind::kAllReduce: collectives_.all_reduce(operation, group_, 0, data); break;
            case schedule::CommKind::kReduceScatter: collectives_.reduce_scatter(operation, group_, 0, data); break;
            case schedule::CommKind::kAllGather: collectives_.all_gather(operation, group_, 0, data); break;
            case schedule::CommKind::kAllToAll:
                collectives_.all_to_all(operation, group_, 0, bytes_ / static_cast<double>(group_.ranks.size()),
                                        models::CpuPrecision::kFp32);
                break;
            case schedule::CommKind::kBarrier: collectives_.barrier(operation, group_, 0); break;
            default:
                throw InputError("collective", std::string("found ") + to_string(comm_) +
                                                   "; expected all_reduce, reduce_scatter, all_gather, all_to_all or "
                                                   "barrier: the trainer's transport has no other of its own");
        }
        return true;
    }

 private:
    CpuCollectives collectives_;
    schedule::CommKind comm_;
    double bytes_;
    GroupMember group_;
    std::vector<int> left_;  ///< calls of each rank
};

/// Ranks on the nodes of a machine in order.
models::Layout in_order(const models::Machine& machine, int ranks) {
    models::Layout layout;
    layout.tiles = ranks;
    layout.tiles_per_node = machine.node.tiles;
    layout.nodes = (ranks + machine.node.tiles - 1) / machine.node.tiles;
    for (int node = 0; node < layout.nodes; ++node) {
        layout.node_of_job_node.push_back(node);
    }
    return layout;
}

}  // namespace

CpuStep play_on_cpus(const models::Inputs& inputs, const schedule::StepProgram& step, bool timeline,
                     const std::vector<int>& background) {
    AUSPEX_CHECK(inputs.machine.cpu.cores > 0, "the machine has a host section");
    CpuStep out;
    if (timeline) {
        out.timeline = rank_timeline(step.layout.tiles);
    }
    ProgramActions rows(inputs, step);
    Recorder recorder(step, out);
    const CpuProgram program{[&](int rank, OperationActions& operation) { return rows.next(rank, operation); },
                             [&](int rank, const OperationActions& operation, Picoseconds start, Picoseconds end) {
                                 recorder.ended(rank, operation, start, end);
                             }};
    RankLocations locations = rank_locations(inputs.machine, step.layout);
    add_background_processes(locations, background);
    const CpuPlayResult played = play_cpu_program(inputs.machine, locations, wait_policy_of(inputs.stack), program);
    out.step = played.step;
    out.events = played.events;
    out.losses = schedule::mean_losses(played.losses, played.step);
    return out;
}

double cpu_collective_s(const models::Machine& machine, const models::Stack& stack, schedule::CommKind comm, int ranks,
                        double bytes) {
    constexpr int kFirst = 2, kMore = 8;
    require_transport_collectives(stack, machine);
    const RankLocations locations = rank_locations(machine, in_order(machine, ranks));
    const auto row_s = [&](int calls) {
        CollectiveCalls collective(machine, stack, comm, ranks, bytes, calls);
        const CpuProgram program{
            [&](int rank, OperationActions& operation) { return collective.next(rank, operation); },
            [](int, const OperationActions&, Picoseconds, Picoseconds) {}};
        return to_seconds(play_cpu_program(machine, locations, wait_policy_of(stack), program).step);
    };
    return (row_s(kFirst + kMore) - row_s(kFirst)) / kMore;
}

}  // namespace auspex::cpu
