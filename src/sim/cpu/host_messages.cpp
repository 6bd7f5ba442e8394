/// @file The transport's algorithms, as src/exec/mpi does them.
#include "sim/cpu/host_messages.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "models/layout.hpp"

namespace auspex {
namespace {

std::uint64_t segment_begin(const HostData& data, const HostGroup& group, std::size_t place) {
    return shard_begin(data.elements / data.together, place, group.ranks.size()) * data.together;
}
std::uint64_t segment(const HostData& data, const HostGroup& group, std::size_t place) {
    return segment_begin(data, group, place + 1) - segment_begin(data, group, place);
}
double segment_bytes(const HostData& data, const HostGroup& group, std::size_t place) {
    return static_cast<double>(segment(data, group, place)) * data.element_bytes;
}

void message(HostRow& row, HostAction::Type type, int peer, int tag, double bytes) {
    row.actions.push_back({.type = type, .peer = peer, .tag = tag, .bytes = bytes, .work = {}});
}
void message_if_any(HostRow& row, HostAction::Type type, int peer, int tag, double bytes) {
    if (bytes > 0) {
        message(row, type, peer, tag, bytes);
    }
}
void wait(HostRow& row) { row.actions.push_back({.type = HostAction::Type::kWait, .work = {}}); }

/// Receives from every other member, then sends to each, beginning with the next one.
template <class Incoming, class Outgoing>
void exchange_with_all(HostRow& row, const HostGroup& group, int tag, Incoming incoming, Outgoing outgoing) {
    const std::size_t n = group.ranks.size();
    for (std::size_t i = 0; i < n; ++i) {
        if (i != group.place) {
            message_if_any(row, HostAction::Type::kReceive, group.ranks[i], tag, incoming(i));
        }
    }
    for (std::size_t step = 1; step < n; ++step) {
        const std::size_t to = (group.place + step) % n;
        message_if_any(row, HostAction::Type::kSend, group.ranks[to], tag, outgoing(to));
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

void HostCollectives::reduce_scatter(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    if (group.ranks.size() > 1) {
        const double own = segment_bytes(data, group, group.place);
        exchange_with_all(
            row, group, tag, [&](std::size_t) { return own; },
            [&](std::size_t to) { return segment_bytes(data, group, to); });
        add_parts(row, group, data, segment(data, group, group.place));
    }
}

void HostCollectives::all_reduce(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    const double bytes = static_cast<double>(data.elements) * data.element_bytes;
    if (group.ranks.size() == 1) {
        return;
    }
    if (bytes <= stack_.gathered_all_reduce_bytes) {
        const auto all = [&](std::size_t) { return bytes; };
        exchange_with_all(row, group, tag, all, all);
        add_parts(row, group, data, data.elements);
        return;
    }
    reduce_scatter(row, group, tag, data);
    exchange_with_all(
        row, group, tag, [&](std::size_t from) { return segment_bytes(data, group, from); },
        [&](std::size_t) { return segment_bytes(data, group, group.place); });
}

void HostCollectives::all_gather(HostRow& row, const HostGroup& group, int tag, const HostData& data) const {
    const std::size_t n = group.ranks.size();
    const int next = group.ranks[(group.place + 1) % n], previous = group.ranks[(group.place + n - 1) % n];
    for (std::size_t round = 1; round < n; ++round) {
        const std::size_t sent = (group.place + n + 1 - round) % n, received = (group.place + n - round) % n;
        message_if_any(row, HostAction::Type::kReceive, previous, tag, segment_bytes(data, group, received));
        message_if_any(row, HostAction::Type::kSend, next, tag, segment_bytes(data, group, sent));
        wait(row);
    }
}

void HostCollectives::all_to_all(HostRow& row, const HostGroup& group, int tag, double bytes,
                                 CpuPrecision precision) const {
    const auto part = [&](std::size_t) { return bytes; };
    const CpuCall copy{.kernel = CpuKernel::kCopy, .columns = bytes};
    exchange_with_all(row, group, tag, part, part);
    row.actions.insert(row.actions.end() - 1, {.work = work_of(machine_, copy, precision, {})});
}

void HostCollectives::barrier(HostRow& row, const HostGroup& group, int tag) const {
    const std::size_t n = group.ranks.size();
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        message(row, HostAction::Type::kReceive, group.ranks[(group.place + n - distance) % n], tag, 0);
        message(row, HostAction::Type::kSend, group.ranks[(group.place + distance) % n], tag, 0);
        wait(row);
    }
}

}  // namespace auspex
