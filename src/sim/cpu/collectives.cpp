/// @file The transport's rounds (schedule/rounds) as actions.
#include "sim/cpu/collectives.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace auspex::cpu {
namespace {

void message(OperationActions& operation, RankAction::Type type, int peer, int tag, double bytes) {
    operation.actions.push_back({.type = type, .peer = peer, .tag = tag, .bytes = bytes, .work = {}});
}
void message_if_any(OperationActions& operation, RankAction::Type type, int peer, int tag, double bytes) {
    if (bytes > 0) {
        message(operation, type, peer, tag, bytes);
    }
}
void wait(OperationActions& operation) { operation.actions.push_back({.type = RankAction::Type::kWait, .work = {}}); }

/// Messages of a round, and the wait for them; bytes_of(part) of each.
template <class BytesOf>
void append_round(OperationActions& operation, const GroupMember& group, int tag, const schedule::Round& round,
                  BytesOf bytes_of) {
    for (const schedule::RoundMessage& one : round.receives) {
        message_if_any(operation, RankAction::Type::kReceive, group.ranks[one.peer], tag, bytes_of(one.part));
    }
    for (const schedule::RoundMessage& one : round.sends) {
        message_if_any(operation, RankAction::Type::kSend, group.ranks[one.peer], tag, bytes_of(one.part));
    }
    wait(operation);
}

void require_rules(const models::Stack& stack, const models::Machine& machine,
                   const std::vector<models::AlgorithmRule>& rules, const char* collective,
                   models::CollectiveAlgorithm wanted) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].algorithm != wanted || rules[i].levels != 1) {
            throw InputError(stack.file + ": $.collectives." + collective + "[" + std::to_string(i) + "]",
                             std::string("found ") + to_string(rules[i].algorithm) + " over " +
                                 std::to_string(rules[i].levels) + " levels; expected " + to_string(wanted) +
                                 " over 1 level: ranks of machine " + machine.name +
                                 " are processes on cores, and the trainer's transport has no other");
        }
    }
}

}  // namespace

CpuWork work_of(const models::Machine& machine, const models::CpuCall& call, models::CpuPrecision precision,
                const models::WorkingSet& set) {
    const models::CpuModel& cpu = machine.cpu;
    if (!cpu.kernel_costs[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)].known) {
        const std::string kernel(to_string(call.kernel)), in(to_string(precision));
        throw InputError(machine.file + ": $.host.kernels." + in + "." + kernel,
                         "found no law; expected one: a step of this plan calls the kernel in " + in +
                             " (auspex calibrate measures both precisions, --set plan.precision changes the plan's)");
    }
    const models::CpuKernelCost& cost =
        cpu.kernel_costs[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)];
    const double miss_bytes = call.cold_bytes > 0 ? call.cold_bytes * miss_ratio(cpu, cost, set) : 0;
    return {(cpu_seconds(cpu, call, precision) + miss_bytes * miss_byte_s(cpu, cost)) * call.repeat,
            cpu_bytes(call, precision) * call.repeat, miss_bytes * call.repeat,
            std::max(0.0, cpu_bytes(call, precision) - call.cold_bytes) * call.repeat};
}

void require_transport_collectives(const models::Stack& stack, const models::Machine& machine) {
    if (!stack.has_processes) {
        throw InputError(stack.file + ": $.processes", "found none; expected this section: ranks of machine " +
                                                           machine.name + " are processes on CPU cores");
    }
    require_rules(stack, machine, stack.all_reduce, "all_reduce", models::CollectiveAlgorithm::kDirect);
    require_rules(stack, machine, stack.reduce_scatter, "reduce_scatter", models::CollectiveAlgorithm::kDirect);
    require_rules(stack, machine, stack.all_gather, "all_gather", models::CollectiveAlgorithm::kRing);
    require_rules(stack, machine, stack.all_to_all, "all_to_all", models::CollectiveAlgorithm::kDirect);
}

void CpuCollectives::add_parts(OperationActions& operation, const GroupMember& group, const CollectiveBuffer& data,
                               std::uint64_t elements) const {
    if (elements > 0) {
        const models::CpuCall call{.kernel = data.sum,
                                   .columns = static_cast<double>(elements),
                                   .depth = static_cast<double>(group.ranks.size())};
        operation.actions.push_back({.work = work_of(machine_, call, data.precision, {})});
    }
}

void CpuCollectives::append(OperationActions& operation, const GroupMember& group, int tag,
                            const CollectiveBuffer& data, const schedule::Rounds& rounds) const {
    const std::vector<std::size_t> offsets =
        schedule::even_parts(data.elements, group.ranks.size(), data.elements_per_item);
    const auto elements_of = [&](std::size_t part) {
        return part == schedule::kAllParts ? data.elements : offsets[part + 1] - offsets[part];
    };
    for (const schedule::Round& round : rounds) {
        append_round(operation, group, tag, round,
                     [&](std::size_t part) { return static_cast<double>(elements_of(part)) * data.element_bytes; });
        if (round.adds) {
            add_parts(operation, group, data, elements_of(round.sum));
        }
    }
}

void CpuCollectives::reduce_scatter(OperationActions& operation, const GroupMember& group, int tag,
                                    const CollectiveBuffer& data) const {
    append(operation, group, tag, data, schedule::reduce_scatter_rounds(group.ranks.size(), group.group_rank));
}

void CpuCollectives::all_reduce(OperationActions& operation, const GroupMember& group, int tag,
                                const CollectiveBuffer& data) const {
    const double bytes = static_cast<double>(data.elements) * data.element_bytes;
    append(operation, group, tag, data,
           schedule::all_reduce_rounds(group.ranks.size(), group.group_rank, bytes, stack_.gathered_all_reduce_bytes));
}

void CpuCollectives::all_gather(OperationActions& operation, const GroupMember& group, int tag,
                                const CollectiveBuffer& data) const {
    append(operation, group, tag, data, schedule::all_gather_rounds(group.ranks.size(), group.group_rank));
}

void CpuCollectives::all_to_all(OperationActions& operation, const GroupMember& group, int tag, double bytes,
                                models::CpuPrecision precision) const {
    const models::CpuCall copy{.kernel = models::CpuKernel::kCopy, .columns = bytes};
    for (const schedule::Round& round : schedule::all_to_all_rounds(group.ranks.size(), group.group_rank)) {
        append_round(operation, group, tag, round, [bytes](std::size_t) { return bytes; });
        if (round.copies_own_part) {
            operation.actions.insert(operation.actions.end() - 1, {.work = work_of(machine_, copy, precision, {})});
        }
    }
}

void CpuCollectives::shift(OperationActions& operation, const GroupMember& group, int tag, double bytes) const {
    for (const schedule::Round& round : schedule::shift_rounds(group.ranks.size(), group.group_rank)) {
        append_round(operation, group, tag, round, [bytes](std::size_t) { return bytes; });
    }
}

void CpuCollectives::barrier(OperationActions& operation, const GroupMember& group, int tag) const {
    for (const schedule::Round& round : schedule::barrier_rounds(group.ranks.size(), group.group_rank)) {
        message(operation, RankAction::Type::kReceive, group.ranks[round.receives.front().peer], tag, 0);
        message(operation, RankAction::Type::kSend, group.ranks[round.sends.front().peer], tag, 0);
        wait(operation);
    }
}

}  // namespace auspex::cpu
