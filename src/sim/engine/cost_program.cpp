/// @file Merging of costed operations into tasks.
#include "sim/engine/cost_program.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "models/kernel_cost.hpp"
#include "schedule/inspection/operation_loss.hpp"
#include "schedule/step_length.hpp"
#include "sim/network/use/expected_noise.hpp"

namespace auspex::engine {
namespace {

/// The groups of a kind as the actors of any stage see them: all stages have the same layout.
ActorGroups actor_groups_in(const models::Layout& layout, models::GroupKind kind) {
    std::unordered_map<int, std::uint32_t> index_of_rank;
    for (int n = 0; n < layout.stage_ranks; ++n) {
        index_of_rank.emplace(layout.rank(0, n), static_cast<std::uint32_t>(n));
    }
    ActorGroups groups;
    groups.group_of.resize(static_cast<std::size_t>(layout.stage_ranks));
    for (const std::vector<int>& group : groups_of(layout, kind, 0)) {
        for (const int rank : group) {
            const std::uint32_t index = index_of_rank.at(rank);
            groups.group_of[index] = static_cast<std::uint32_t>(groups.groups());
            groups.actors.push_back(index);
        }
        groups.begin.push_back(static_cast<std::uint32_t>(groups.actors.size()));
    }
    return groups;
}

class Coster {
 public:
    Coster(const schedule::Program& program, const models::Machine& machine, const models::Stack& stack,
           const models::Layout& layout, OperationCosts costs, const CostOptions& options)
        : program_(program),
          machine_(machine),
          stack_(stack),
          layout_(layout),
          options_(options),
          by_rank_(options.grain == Grain::kRanks),
          costs_(std::move(costs)) {}

    CostedProgram run() {
        out_.program = &program_;
        out_.collective_compute_share = models::collective_compute_share(machine_, stack_);
        out_.host_copy_compute_share = machine_.tile.host_copy_compute_share;
        out_.blocks.resize(program_.blocks.size());
        out_.serial = costs_.serial;
        out_.ep = static_cast<std::uint32_t>(layout_.ep), out_.etp = static_cast<std::uint32_t>(layout_.etp);
        out_.actors_per_stage = by_rank_ ? static_cast<std::uint32_t>(layout_.stage_ranks) : 1;
        merge_operations_ = options_.merge_operations;
        for_each_block(program_, [&](std::uint32_t block, int stage) {
            cost_block(program_.blocks[block], out_.blocks[block], stage);
        });
        out_.transfers = std::move(costs_.transfers);
        out_.shared_links = std::move(costs_.shared_links);
        return std::move(out_);
    }

 private:
    void cost_block(const schedule::Block& block, CostedBlock& costed, int stage) {
        costed.kind = block.kind;
        costed.task_begin = static_cast<std::uint32_t>(out_.tasks.size());
        const auto ops = program_.operations_of(block);
        task_of_op_.assign(ops.size(), 0);
        compute_since_sync_s_ = 0;
        note_starts_beside(ops);
        bool open = false;
        for (std::uint32_t i = 0; i < ops.size(); ++i) {
            Task task = task_for(ops[i], i, stage);
            require_simulable(task, ops[i], stage);
            const bool simple = merge_operations_ && can_merge(task);
            if (open && simple && follows(ops, i)) {
                append(out_.tasks.back(), task, ops[i]);
                if (out_.tasks.back().duration >= kLongestTime) {
                    schedule::refuse_long_step("compute of stage " + std::to_string(stage));
                }
            } else {
                if (simple) {
                    as_compute(task, ops[i]);
                }
                add_dependencies(task, ops[i], costed.task_begin);
                out_.tasks.push_back(task);
                open = simple;
            }
            task_of_op_[i] = static_cast<std::uint32_t>(out_.tasks.size()) - 1 - costed.task_begin;
        }
        costed.task_end = static_cast<std::uint32_t>(out_.tasks.size());
        chain_streams(costed);
    }

    static void require_simulable(const Task& task, const schedule::Operation& op, int stage) {
        if (task.duration >= kLongestTime || task.jitter >= kLongestTime) {
            schedule::refuse_long_step(schedule::operation_name(operation_name_index(op.kind, op.phase)) +
                                       " of stage " + std::to_string(stage));
        }
    }

    /// Compute, and folded a transfer that has its links to itself; unfolded, a communication synchronises its group
    /// first.
    [[nodiscard]] bool can_merge(const Task& task) const {
        return task.type == Task::Type::kCompute || (out_.serial && !by_rank_ && task.type == Task::Type::kTransfer &&
                                                     !member_of(task).shares_links && task.message < 0);
    }

    [[nodiscard]] const CostedTransfer::Member& member_of(const Task& task) const {
        return costs_.transfers[task.transfer].members.front();
    }

    /// Where communication runs beside compute: which computations of the block one of another stream starts after.
    void note_starts_beside(std::span<const schedule::Operation> ops) {
        starts_beside_.assign(ops.size(), false);
        for (const schedule::Operation& op : ops) {
            std::uint32_t last = kNone;
            for (const std::uint32_t dep : program_.dependencies_of(op)) {
                if (is_compute(ops[dep]) && (last == kNone || dep > last)) {
                    last = dep;
                }
            }
            if (!is_compute(op) && last != kNone) {
                starts_beside_[last] = true;
            }
        }
    }

    [[nodiscard]] static bool is_compute(const schedule::Operation& op) {
        return op.stream == schedule::Stream::kCompute;
    }

    /// True if operation i cannot start before, and starts as soon as, operation i - 1 has ended, and nothing else
    /// starts then.
    bool follows(std::span<const schedule::Operation> ops, std::uint32_t i) const {
        if (ops[i].joins != 0) {
            return false;
        }
        const auto deps = program_.dependencies_of(ops[i]);
        const bool both_compute = is_compute(ops[i]) && is_compute(ops[i - 1]);
        if (!out_.serial) {
            return both_compute && !starts_beside_[i - 1] &&
                   std::all_of(deps.begin(), deps.end(), [&](std::uint32_t dep) { return is_compute(ops[dep]); });
        }
        return both_compute || std::find(deps.begin(), deps.end(), i - 1) != deps.end();
    }

    /// Makes a transfer that has its links to itself a task of the compute stream, its time booked by loss.
    void as_compute(Task& task, const schedule::Operation& op) const {
        if (task.type == Task::Type::kTransfer) {
            const CostedTransfer::Member& member = member_of(task);
            task.type = Task::Type::kCompute;
            task.duration = member.solo_time + task.jitter;
            task.time_by_loss[static_cast<std::size_t>(schedule::Loss::kJitter)] += task.jitter;
            task.time_by_loss[static_cast<std::size_t>(schedule::Loss::kImbalance)] += member.imbalance;
            task.time_by_loss[static_cast<std::size_t>(task.loss)] += member.solo_time - member.imbalance;
            task.joins = static_cast<std::uint8_t>(task.joins | (1U << static_cast<unsigned>(op.stream)));
            task.stream = schedule::Stream::kCompute;
        }
    }

    void append(Task& merged, Task task, const schedule::Operation& op) {
        as_compute(task, op);
        merged.duration += task.duration;
        for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
            merged.time_by_loss[loss] += task.time_by_loss[loss];
            merged.rate_bound_s[loss] += task.rate_bound_s[loss];
        }
        if (task.uneven != kNone) {
            if (merged.uneven == kNone) {
                merged.uneven = task.uneven;
            } else {
                for (std::uint32_t index = 0; index < out_.ep; ++index) {
                    out_.uneven_s[merged.uneven + index] += out_.uneven_s[task.uneven + index];
                }
            }
        }
        merged.op_end = task.op_end;
    }

    void add_dependencies(Task& task, const schedule::Operation& op, std::uint32_t task_begin) {
        task.dep_begin = static_cast<std::uint32_t>(out_.dependencies.size());
        for (const std::uint32_t dep : program_.dependencies_of(op)) {
            if (out_.tasks[task_begin + task_of_op_[dep]].stream != task.stream) {
                out_.dependencies.push_back(task_of_op_[dep]);
            }
        }
        task.dep_end = static_cast<std::uint32_t>(out_.dependencies.size());
    }

    void chain_streams(CostedBlock& costed) {
        costed.first.fill(kNone);
        for (std::uint32_t i = costed.task_end; i-- > costed.task_begin;) {
            std::uint32_t& first = costed.first[static_cast<std::size_t>(out_.tasks[i].stream)];
            out_.tasks[i].next = first;
            first = i - costed.task_begin;
        }
    }

    Task task_for(const schedule::Operation& op, std::uint32_t index, int stage) {
        Task task;
        task.stream = op.stream;
        task.joins = op.joins;
        task.op_begin = index;
        task.op_end = index + 1;
        task.message = op.message;
        task.second = op.second;
        task.backward_message =
            op.kind == schedule::OpKind::kSendBackward || op.kind == schedule::OpKind::kReceiveBackward;
        if (op.comm == schedule::CommKind::kReceive) {
            task.type = Task::Type::kReceive;
        } else if (op.comm == schedule::CommKind::kNone) {
            cost_compute(task, op, stage);
        } else {
            cost_communication(task, op);
        }
        return task;
    }

    void cost_compute(Task& task, const schedule::Operation& op, int stage) {
        const ComputeTime& time = costs_.compute[program_.index_of(op)];
        const double straggler_s = time.straggler_s(options_.slowdown[static_cast<std::size_t>(stage)]);
        compute_since_sync_s_ += time.nominal_s + time.imbalance_s + straggler_s;
        task.loss = loss_of(op);
        task.time_by_loss[static_cast<std::size_t>(task.loss)] = to_picoseconds(time.nominal_s);
        if (by_rank_) {
            task.rate_bound_s[static_cast<std::size_t>(task.loss)] = time.rate_bound_s;
            add_uneven_time(task, op);
        } else {
            task.time_by_loss[static_cast<std::size_t>(schedule::Loss::kImbalance)] = to_picoseconds(time.imbalance_s);
            task.time_by_loss[static_cast<std::size_t>(schedule::Loss::kJitter)] = to_picoseconds(straggler_s);
        }
        for (const Picoseconds part : task.time_by_loss) {
            task.duration += part;
        }
    }

    /// Seconds that each index of an ep group computes longer, or shorter, than with the mean load.
    void add_uneven_time(Task& task, const schedule::Operation& op) {
        const auto kernels = program_.kernels_of(op);
        if (options_.load.is_even() ||
            std::none_of(kernels.begin(), kernels.end(), [](const models::Kernel& k) { return k.routed; })) {
            return;
        }
        const std::vector<double>& loads = options_.load.by_rank_of(op.layer);
        const double usual = std::min(1.0, options_.load.heaviest_rank_of(op.layer));
        AUSPEX_CHECK(loads.size() == out_.ep, "a load for every place of an ep group");
        task.uneven = static_cast<std::uint32_t>(out_.uneven_s.size());
        for (const double load : loads) {
            double seconds = 0;
            for (const models::Kernel& kernel : kernels) {
                seconds += kernel.routed ? kernel_time(kernel, machine_, stack_, load).rate_bound_s -
                                               kernel_time(kernel, machine_, stack_, usual).rate_bound_s
                                         : 0;
            }
            out_.uneven_s.push_back(seconds);
        }
    }

    void cost_communication(Task& task, const schedule::Operation& op) {
        task.type = is_world(op) ? Task::Type::kWorld : Task::Type::kTransfer;
        task.loss = loss_of(op);
        task.transfer = costs_.transfer[program_.index_of(op)];
        if (!by_rank_ && is_host_copy(op.comm)) {
            task.jitter = 0;  // nobody else waits for it
        } else if (!by_rank_) {
            task.jitter = to_picoseconds(noise_s(op, member_of(task)));
        } else if (!is_world(op) && op.comm != schedule::CommKind::kSend) {
            task.actor_groups = actor_groups_of(op.group, op.stream);
        }
    }

    std::uint32_t actor_groups_of(models::GroupKind group, schedule::Stream stream) {
        const auto [found, is_new] =
            actor_groups_.try_emplace({group, stream}, static_cast<std::uint32_t>(out_.actor_groups.size()));
        if (is_new) {
            out_.actor_groups.push_back(actor_groups_in(layout_, group));
        }
        return found->second;
    }

    double noise_s(const schedule::Operation& op, const CostedTransfer::Member& member) {
        const double ranks = op.comm == schedule::CommKind::kSend ? 1 : group_size(layout_, op.group);
        return network::expected_noise_s(machine_.noise, ranks, std::exchange(compute_since_sync_s_, 0),
                                         to_seconds(member.solo_time), member.jitter);
    }

    const schedule::Program& program_;
    const models::Machine& machine_;
    const models::Stack& stack_;
    const models::Layout& layout_;
    const CostOptions& options_;
    bool by_rank_, merge_operations_ = false;
    OperationCosts costs_;
    CostedProgram out_;
    double compute_since_sync_s_ = 0;
    std::vector<std::uint32_t> task_of_op_;
    std::vector<bool> starts_beside_;  ///< by operation of the block
    std::map<std::pair<models::GroupKind, schedule::Stream>, std::uint32_t> actor_groups_;
};

}  // namespace

CostedProgram cost_program(const schedule::Program& program, const models::Machine& machine, const models::Stack& stack,
                           const models::Layout& layout, OperationCosts costs, const CostOptions& options) {
    AUSPEX_CHECK(options.slowdown.size() == program.roles.size(), "one slowdown a stage");
    return Coster(program, machine, stack, layout, std::move(costs), options).run();
}

}  // namespace auspex::engine
