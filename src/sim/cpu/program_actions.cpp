/// @file Operations to actions: kernel calls, collectives, messages of the pipeline.
#include "sim/cpu/program_actions.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "schedule/bindings/beside.hpp"
#include "schedule/bindings/bindings.hpp"
#include "schedule/inspection/operation_loss.hpp"
#include "schedule/kernel_calls/program_calls.hpp"
#include "schedule/program/sharding.hpp"
#include "sim/cpu/collectives.hpp"
#include "sim/cpu/working_sets.hpp"

namespace auspex::cpu {
namespace {

constexpr std::size_t kGroups = static_cast<std::size_t>(models::GroupKind::kWorld) + 1;

void require_runnable(const models::Inputs& inputs, const schedule::StepProgram& step) {
    require_transport_collectives(inputs.stack, inputs.machine);
    const std::vector<std::string> unbound = unbound_operations(inputs.workload, step.plan, inputs.stack, step.program);
    if (!unbound.empty()) {
        const std::size_t more = unbound.size() - 1;
        throw InputError(inputs.plan.file, "found what the trainer does not run: " + unbound.front() +
                                               (more > 0 ? ", and " + std::to_string(more) + " more" : std::string()) +
                                               "; expected a plan that processes on the cores of machine " +
                                               inputs.machine.name +
                                               " run (auspex program --check-executor lists all)");
    }
}

struct OperationWork {
    std::vector<CpuWork> before, after;
};

struct Member {
    int stage = 0;
    int next = 0, previous = 0, mirror = 0;  ///< counterparts in the neighbouring stages, and in stage pp - 1 - s
    [[nodiscard]] int counterpart(models::GroupKind pair) const {
        return pair == models::GroupKind::kNextStage       ? next
               : pair == models::GroupKind::kPreviousStage ? previous
                                                           : mirror;
    }
    std::array<GroupMember, kGroups> groups;
};

struct Cursor {
    bool has_begun = false;
    bool in_block = false;
    std::size_t use = 0;
    std::uint32_t op = 0;  ///< within the block
    schedule::BesideQueue beside;
    std::deque<OperationActions> ends;  ///< of what runs beside, as in the queue
    int begun = 0;                      ///< of those, so far
};

/// The first messages of a communication leave now. Returns the rest.
OperationActions take_end(OperationActions& operation) {
    const auto first_wait = std::ranges::find(operation.actions, RankAction::Type::kWait, &RankAction::type);
    OperationActions end = operation;
    end.part = OperationActions::Part::kEnd;
    end.actions.clear();
    std::vector<RankAction> begin;
    for (auto action = operation.actions.begin(); action != operation.actions.end(); ++action) {
        const bool is_later = action >= first_wait || action->type == RankAction::Type::kReceive;
        (is_later ? end.actions : begin).push_back(*action);
        if (!is_later) {
            begin.back().is_waited_for = false;
        }
    }
    operation.actions = std::move(begin);
    operation.part = OperationActions::Part::kBegin;
    return end;
}

}  // namespace

struct ProgramActions::Impl {
    Impl(const models::Inputs& in, const schedule::StepProgram& simulated)
        : inputs(in),
          step(simulated),
          precision(schedule::cpu_precision(simulated.plan)),
          sets(working_sets(in, simulated)),
          collectives(in.machine, in.stack),
          members(static_cast<std::size_t>(simulated.layout.tiles)),
          cursors(members.size()),
          work(simulated.program.operations.size()) {
        place_members();
    }

    void place_members() {
        const models::Layout& layout = step.layout;
        for (int stage = 0; stage < layout.pp; ++stage) {
            for (int n = 0; n < layout.stage_ranks; ++n) {
                Member& member = members[static_cast<std::size_t>(layout.rank(stage, n))];
                member.stage = stage;
                member.next = layout.rank(layout.next_stage(stage), n);
                member.previous = layout.rank(layout.previous_stage(stage), n);
                member.mirror = layout.rank(layout.other_stage(models::GroupKind::kMirrorStage, stage), n);
            }
            for (std::size_t kind = 0; kind < kGroups; ++kind) {
                for (const std::vector<int>& ranks : groups_of(layout, static_cast<models::GroupKind>(kind), stage)) {
                    for (std::size_t group_rank = 0; group_rank < ranks.size(); ++group_rank) {
                        members[static_cast<std::size_t>(ranks[group_rank])].groups[kind] = {ranks, group_rank};
                    }
                }
            }
        }
    }

    [[nodiscard]] std::vector<CpuWork> works(const std::vector<models::CpuCall>& calls,
                                             const models::WorkingSet& set) const {
        std::vector<CpuWork> list;
        for (const models::CpuCall& call : calls) {
            list.push_back(work_of(inputs.machine, call, precision, set));
        }
        return list;
    }

    [[nodiscard]] const models::WorkingSet& set_of(const schedule::Operation& op, int stage) const {
        const WorkingSets& own = sets[static_cast<std::size_t>(stage)];
        return op.phase == schedule::Phase::kOptimizer ? own.in_optimizer : own.in_passes;
    }

    const OperationWork& work_of_operation(std::uint32_t index, int stage) {
        std::optional<OperationWork>& known = work[index];
        if (!known) {
            const schedule::Operation& op = step.program.operations[index];
            const schedule::OperationCalls calls =
                kernel_calls(inputs.workload, step.plan, inputs.stack, step.layout, stage, op);
            const models::WorkingSet& set = set_of(op, stage);
            known = {works(calls.before, set), works(calls.after, set)};
        }
        return *known;
    }

    static void append(OperationActions& operation, const std::vector<CpuWork>& list) {
        for (const CpuWork& one : list) {
            operation.actions.push_back({.work = one});
        }
    }

    /// Of an exchange: what comes for what is sent. From the mirror stage come gradients of what this one updates, or
    /// parameters that it does not.
    [[nodiscard]] double bytes_coming(const Member& member, const schedule::Operation& op) const {
        const bool gradients = op.kind == schedule::OpKind::kMirrorGradientExchange;
        if (!gradients && op.kind != schedule::OpKind::kMirrorParameterExchange) {
            return op.bytes;
        }
        return schedule::mirrored_elements(inputs.workload, step.plan, inputs.stack, step.layout, member.stage,
                                           gradients ? 0 : 1) *
               (gradients ? step.plan.gradient_bytes : step.plan.weight_bytes);
    }

    void append_message(OperationActions& operation, const Member& member, const schedule::Operation& op,
                        int micro_batch) const {
        const bool sends = op.comm == schedule::CommKind::kSend;
        const bool backward =
            op.kind == schedule::OpKind::kSendBackward || op.kind == schedule::OpKind::kReceiveBackward;
        const int tag = (op.message * step.program.micro_batches + micro_batch) * 2 + (backward ? 1 : 0);
        const auto append = [&](RankAction::Type type, double bytes) {
            operation.actions.push_back({.type = type,
                                         .is_waited_for = false,
                                         .peer = member.counterpart(op.group),
                                         .tag = tag,
                                         .bytes = bytes,
                                         .work = {}});
        };
        const bool exchanges = is_exchange(op);
        append(sends ? RankAction::Type::kSend : RankAction::Type::kReceive, op.bytes);
        if (exchanges) {
            append(RankAction::Type::kReceive, bytes_coming(member, op));
        }
        if (!sends || exchanges) {
            operation.actions.push_back({.type = RankAction::Type::kWait, .work = {}});
            operation.waits_for_sender = true;
        }
    }

    /// Sums of gradients and of softmax parts have functions of their own.
    [[nodiscard]] CollectiveBuffer collective_buffer(const schedule::Operation& op,
                                                     const schedule::Buffer& buffer) const {
        CollectiveBuffer data;
        data.elements = static_cast<std::uint64_t>(std::llround(buffer.elements));
        data.element_bytes = element_bytes(step.plan, buffer.type);
        data.elements_per_item = static_cast<std::uint64_t>(buffer.per_item);
        data.precision =
            data.element_bytes == sizeof(float) ? models::CpuPrecision::kFp32 : models::CpuPrecision::kBf16;
        if (buffer.type == schedule::ElementType::kGradient) {
            data.sum = models::CpuKernel::kReducePartsGradients;
        } else if (op.carries == schedule::Carries::kSoftmaxParts) {
            data.sum = models::CpuKernel::kReduceSoftmaxParts;
            data.precision = precision;
        }
        return data;
    }

    /// Where gradients are summed in buckets, parameters are gathered bucket by bucket.
    [[nodiscard]] std::vector<schedule::Buffer> buffers_of(const Member& member, const schedule::Operation& op) const {
        const std::span<const schedule::Buffer> whole = step.program.buffers_of(op);
        const bool experts = op.kind == schedule::OpKind::kParameterGatherExperts;
        const bool in_pass = op.unit >= 0;  // those of a unit
        if (in_pass || (!experts && op.kind != schedule::OpKind::kParameterGatherDense)) {
            return {whole.begin(), whole.end()};
        }
        std::vector<schedule::Buffer> buffers;
        const std::vector<schedule::StageParameters> parts =
            op.chunk >= 0 ? schedule::sharded_parts_of(inputs.workload, step.plan, inputs.stack, member.stage, op.chunk)
                          : schedule::sharded_parts(inputs.workload, step.plan, inputs.stack, member.stage);
        for (const schedule::StageParameters& part : parts) {
            schedule::Buffer& buffer = buffers.emplace_back(whole.front());
            buffer.elements = experts ? part.experts : part.dense;
        }
        return buffers;
    }

    void append_collective(OperationActions& operation, const Member& member, const schedule::Operation& op,
                           int tag) const {
        const GroupMember& group = member.groups[static_cast<std::size_t>(op.group)];
        if (op.comm == schedule::CommKind::kBarrier) {
            collectives.barrier(operation, group, tag);
        }
        for (const schedule::Buffer& buffer : buffers_of(member, op)) {
            const CollectiveBuffer data = collective_buffer(op, buffer);
            if (op.comm == schedule::CommKind::kAllToAll) {
                const double bytes = buffer.elements * data.element_bytes;
                collectives.all_to_all(operation, group, tag, bytes / static_cast<double>(group.ranks.size()),
                                       precision);
            } else if (op.comm == schedule::CommKind::kShift) {
                collectives.shift(operation, group, tag, buffer.elements * data.element_bytes);
            } else if (op.comm == schedule::CommKind::kAllReduce) {
                collectives.all_reduce(operation, group, tag, data);
            } else if (op.comm == schedule::CommKind::kReduceScatter) {
                collectives.reduce_scatter(operation, group, tag, data);
            } else {
                collectives.all_gather(operation, group, tag, data);
            }
        }
    }

    /// Parts of a ring are passed on between the kernels of what attends to them: behind each one but the last.
    void append_ring(OperationActions& operation, const Member& member, std::uint32_t index,
                     const std::vector<CpuWork>& kernels) const {
        const schedule::Operation& ring = step.program.operations[index - 1];
        AUSPEX_CHECK(ring.kind == schedule::OpKind::kKeyValueRing, "a ring begins in front of attention to its parts");
        const auto shifts = static_cast<std::size_t>(ring.repeat);
        const int tag = -1 - static_cast<int>(ring.group);
        append_collective(operation, member, ring, tag);
        for (std::size_t i = 1; i < shifts; ++i) {
            const std::size_t each = kernels.size() / (shifts - 1);
            append(operation, {kernels.begin() + static_cast<std::ptrdiff_t>((i - 1) * each),
                               kernels.begin() + static_cast<std::ptrdiff_t>(i * each)});
            append_collective(operation, member, ring, tag);
        }
    }

    /// Groups have their tags, and so has each communication that runs beside others.
    void fill(OperationActions& operation, const Member& member, std::uint32_t index, int micro_batch, int tag) {
        const schedule::Operation& op = step.program.operations[index];
        const OperationWork& own = work_of_operation(index, member.stage);
        operation.loss = loss_of(op);
        operation.operation_index = index;
        operation.micro_batch = micro_batch;
        append(operation, own.before);
        if (op.comm == schedule::CommKind::kSend || op.comm == schedule::CommKind::kReceive) {
            append_message(operation, member, op, micro_batch);
        } else if (op.kind == schedule::OpKind::kAttentionOfOthers) {
            append_ring(operation, member, index, own.after);
            add_memory_bytes(operation, op, member.stage);
            return;
        } else if (op.comm != schedule::CommKind::kNone && !is_host_copy(op.comm) &&
                   !(op.kind == schedule::OpKind::kKeyValueRing && op.beside)) {
            for (std::int32_t i = 0; i < op.repeat; ++i) {
                append_collective(operation, member, op, tag);
            }
        }
        append(operation, own.after);
        add_memory_bytes(operation, op, member.stage);
    }

    /// The operation at the cursor; or first, one after another, the ends of what it waits for.
    void next_of_block(OperationActions& operation, const Member& member, Cursor& cursor, std::uint32_t index,
                       int micro_batch) {
        const schedule::Operation& op = step.program.operations[index];
        if (cursor.beside.ahead_of(step.program, op) > 0) {
            operation = std::move(cursor.ends.front());
            cursor.ends.pop_front();
            cursor.beside.pop();
            return;
        }
        ++cursor.op;
        if (!schedule::runs_beside(step.program, op)) {
            fill(operation, member, index, micro_batch, -1 - static_cast<int>(op.group));
            return;
        }
        fill(operation, member, index, micro_batch, -1 - static_cast<int>(kGroups) - cursor.begun++);
        cursor.ends.push_back(take_end(operation));
        cursor.beside.push(step.program, op);
    }

    /// Received bytes go to memory that was last touched long ago; gradients and parameters come from there, too.
    void add_memory_bytes(OperationActions& operation, const schedule::Operation& op, int stage) const {
        const models::CpuKernelCost& copy =
            inputs.machine.cpu.kernel_costs.front()[static_cast<std::size_t>(models::CpuKernel::kCopy)];
        const double ends = op.phase == schedule::Phase::kOptimizer ? 2 : 1;
        const double missing = miss_ratio(inputs.machine.cpu, copy, set_of(op, stage));
        for (RankAction& action : operation.actions) {
            action.memory_bytes = action.type == RankAction::Type::kSend ? ends * missing * action.bytes : 0;
        }
    }

    const models::Inputs& inputs;
    const schedule::StepProgram& step;
    models::CpuPrecision precision;
    std::vector<WorkingSets> sets;  ///< by stage
    CpuCollectives collectives;
    std::vector<Member> members;
    std::vector<Cursor> cursors;
    std::vector<std::optional<OperationWork>> work;  ///< by operation of the program
};

ProgramActions::ProgramActions(const models::Inputs& inputs, const schedule::StepProgram& step) {
    require_runnable(inputs, step);
    parts_ = std::make_unique<Impl>(inputs, step);
}
ProgramActions::~ProgramActions() = default;

bool ProgramActions::next(int rank, OperationActions& operation) {
    Impl& p = *parts_;
    const Member& member = p.members[static_cast<std::size_t>(rank)];
    Cursor& cursor = p.cursors[static_cast<std::size_t>(rank)];
    if (!cursor.has_begun) {
        cursor.has_begun = true;
        operation.loss = schedule::Loss::kOptimizer;
        operation.operation_index = kNoOperation;
        Impl::append(operation,
                     p.works(schedule::step_start_calls(p.inputs.workload, p.step.plan, p.step.layout, member.stage),
                             p.sets[static_cast<std::size_t>(member.stage)].in_optimizer));
        return true;
    }
    const auto& order = p.step.program.roles[static_cast<std::size_t>(member.stage)].order;
    while (cursor.use < order.size()) {
        const schedule::Block& block = p.step.program.blocks[order[cursor.use].block];
        if (!cursor.in_block) {
            cursor.in_block = true;
            cursor.beside.begin_block(block);
        }
        if (block.op_begin + cursor.op < block.op_end) {
            p.next_of_block(operation, member, cursor, block.op_begin + cursor.op, order[cursor.use].micro_batch);
            return true;
        }
        ++cursor.use;
        cursor.op = 0;
        cursor.in_block = false;
    }
    return false;
}

std::array<double, models::kCpuKernels> cpu_kernel_seconds(const models::Inputs& inputs,
                                                           const schedule::StepProgram& step) {
    std::array<double, models::kCpuKernels> seconds{};
    const models::CpuPrecision precision = schedule::cpu_precision(step.plan);
    for_each_call(inputs, step.plan, step.layout, step.program, [&](const models::CpuCall& call, double times) {
        seconds[static_cast<std::size_t>(call.kernel)] +=
            work_of(inputs.machine, call, precision, {}).seconds * times * step.layout.stage_ranks;
    });
    return seconds;
}

}  // namespace auspex::cpu
