/// @file The transport's rounds (schedule/rounds) as actions.
#include "sim/cpu/host_messages.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace auspex {
namespace {

void message(HostRow& row, HostAction::Type type, int peer, int tag, double bytes) {
    row.actions.push_back({.type = type, .peer = peer, .tag = tag, .bytes = bytes, .work = {}});
}
void message_if_any(HostRow& row, HostAction::Type type, int peer, int tag, double bytes) {
    if (bytes > 0) {
        message(row, type, peer, tag, bytes);
    }
}
void wait(HostRow& row) { row.actions.push_back({.type = HostAction::Type::kWait, .work = {}}); }

/// Messages of a round, and the wait for them; bytes_of(part) of each.
template <class BytesOf>
void append_round(HostRow& row, const HostGroup& group, int tag, const Round& round, BytesOf bytes_of) {
    for (const RoundMessage& one : round.receives) {
        message_if_any(row, HostAction::Type::kReceive, group.ranks[one.peer], tag, bytes_of(one.part));
    }
    for (const RoundMessage& one : round.sends) {
        message_if_any(row, HostAction::Type::kSend, group.ranks[one.peer], tag, bytes_of(one.part));
    }
    wait(row);
}

void require_rules(const Stack& stack, const Machine& machine, const std::vector<AlgorithmRule>& rules,
                   const char* collective, CollectiveAlgorithm wanted) {
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

HostWork work_of(const Machine& machine, const CpuCall& call, CpuPrecision precision, const WorkingSet& set) {
    const Host& host = machine.host;
    if (!host.laws[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)].known) {
        const std::string kernel(to_string(call.kernel)), in(to_string(precision));
        throw InputError(machine.file + ": $.host.kernels." + in + "." + kernel,
                         "found no law; expected one: a step of this plan calls the kernel in " + in +
                             " (auspex calibrate measures both precisions, --set plan.precision changes the plan's)");
    }
    const CpuLaw& law = host.laws[static_cast<std::size_t>(precision)][static_cast<std::size_t>(call.kernel)];
    const double far = call.far_bytes > 0 ? call.far_bytes * missing_share(host, law, set) : 0;
    return {(cpu_seconds(host, call, precision) + far * far_byte_s(host, law)) * call.repeat,
            cpu_bytes(call, precision) * call.repeat, far * call.repeat,
            std::max(0.0, cpu_bytes(call, precision) - call.far_bytes) * call.repeat};
}

void require_host_collectives(const Stack& stack, const Machine& machine) {
    if (!stack.has_processes) {
        throw InputError(stack.file + ": $.processes", "found none; expected this section: ranks of machine " +
                                                           machine.name + " are processes on CPU cores");
    }
    require_rules(stack, machine, stack.all_reduce, "all_reduce", CollectiveAlgorithm::kDirect);
    require_rules(stack, machine, stack.reduce_scatter, "reduce_scatter", CollectiveAlgorithm::kDirect);
    require_rules(stack, machine, stack.all_gather, "all_gather", CollectiveAlgorithm::kRing);
    require_rules(stack, machine, stack.all_to_all, "all_to_all", CollectiveAlgorithm::kDirect);
}

void HostCollectives::add_parts(HostRow& row, const HostGroup& group, const HostData& data,
                                std::uint64_t elements) const {
    if (elements > 0) {
        const CpuCall call{.kernel = data.sum,
                           .columns = static_cast<double>(elements),
                           .depth = static_cast<double>(group.ranks.size())};
        row.actions.push_back({.work = work_of(machine_, call, data.precision, {})});
    }
}

void HostCollectives::append(HostRow& row, const HostGroup& group, int tag, const HostData& data,
                             const Rounds& rounds) const {
    const std::vector<std::size_t> offsets = even_parts(data.elements, group.ranks.size(), data.together);
    const auto elements_of = [&](std::size_t part) {
        return part == kAllParts ? data.elements : offsets[part + 1] - offsets[part];
    };
    for (const Round& round : rounds) {
        append_round(row, group, tag, round,
                     [&](std::size_t part) { return static_cast<double>(elements_of(part)) * data.element_bytes; });
        if (round.adds) {
            add_parts(row, group, data, elements_of(round.sum));
        }
    }
}

void HostCollectives::reduce_scatter(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    append(row, group, tag, data, reduce_scatter_rounds(group.ranks.size(), group.place));
}

void HostCollectives::all_reduce(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    const double bytes = static_cast<double>(data.elements) * data.element_bytes;
    append(row, group, tag, data,
           all_reduce_rounds(group.ranks.size(), group.place, bytes, stack_.gathered_all_reduce_bytes));
}

void HostCollectives::all_gather(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    append(row, group, tag, data, all_gather_rounds(group.ranks.size(), group.place));
}

void HostCollectives::all_to_all(HostRow& row, const HostGroup& group, int tag, double bytes,
                                 CpuPrecision precision) const {
    const CpuCall copy{.kernel = CpuKernel::kCopy, .columns = bytes};
    for (const Round& round : all_to_all_rounds(group.ranks.size(), group.place)) {
        append_round(row, group, tag, round, [bytes](std::size_t) { return bytes; });
        if (round.copies_own_part) {
            row.actions.insert(row.actions.end() - 1, {.work = work_of(machine_, copy, precision, {})});
        }
    }
}

void HostCollectives::barrier(HostRow& row, const HostGroup& group, int tag) const {
    for (const Round& round : barrier_rounds(group.ranks.size(), group.place)) {
        message(row, HostAction::Type::kReceive, group.ranks[round.receives.front().peer], tag, 0);
        message(row, HostAction::Type::kSend, group.ranks[round.sends.front().peer], tag, 0);
        wait(row);
    }
}

}  // namespace auspex
