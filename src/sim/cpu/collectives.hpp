#pragma once
/// @file The trainer's collectives as sends, receives, waits and sums of each member.
#include <cstdint>
#include <vector>

#include "models/cpu/cpu_model.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"
#include "schedule/program/communication.hpp"
#include "schedule/rounds/rounds.hpp"
#include "sim/cpu/actions.hpp"

namespace auspex::cpu {

/// One member's view of a group.
struct GroupMember {
    std::vector<int> ranks;
    std::size_t group_rank = 0;  ///< of the member among them
};

/// What a collective moves: numbers, cut between members by shard_begin. `sum` is the kernel that adds parts up.
struct CollectiveBuffer {
    std::uint64_t elements = 0;
    double element_bytes = 4;
    std::uint64_t elements_per_item = 1;  ///< elements that stay in one part
    models::CpuKernel sum = models::CpuKernel::kReduceParts;
    models::CpuPrecision precision = models::CpuPrecision::kFp32;  ///< of the sum
};

/// A call's work on a core, all repeats: seconds by the machine's cost model of the kernel, bytes from the last-level
/// cache, and those of its cold bytes that miss the caches with this working set, whose miss_byte_s is added to the
/// seconds. Throws InputError where the machine has no cost model of the kernel.
[[nodiscard]] CpuWork work_of(const models::Machine& machine, const models::CpuCall& call,
                              models::CpuPrecision precision, const models::WorkingSet& set);

/// Throws InputError, naming the rule, unless the stack's collectives are those of the trainer's transport: all-reduce,
/// reduce-scatter and all-to-all direct, all-gather ring, each over one level.
void require_transport_collectives(const models::Stack& stack, const models::Machine& machine);

/// Appends the rounds of schedule/rounds, which the trainer's transports run, to an operation.
class CpuCollectives {
 public:
    CpuCollectives(const models::Machine& machine, const models::Stack& stack) : machine_(machine), stack_(stack) {}

    void reduce_scatter(OperationActions& operation, const GroupMember& group, int tag,
                        const CollectiveBuffer& data) const;
    void all_reduce(OperationActions& operation, const GroupMember& group, int tag, const CollectiveBuffer& data) const;
    void all_gather(OperationActions& operation, const GroupMember& group, int tag, const CollectiveBuffer& data) const;
    /// `bytes` to every other member; the member's own part is copied.
    void all_to_all(OperationActions& operation, const GroupMember& group, int tag, double bytes,
                    models::CpuPrecision precision) const;
    /// `bytes` to the next member.
    void shift(OperationActions& operation, const GroupMember& group, int tag, double bytes) const;
    /// Empty messages; stands in for the MPI library's own barrier.
    void barrier(OperationActions& operation, const GroupMember& group, int tag) const;

 private:
    void append(OperationActions& operation, const GroupMember& group, int tag, const CollectiveBuffer& data,
                const schedule::Rounds& rounds) const;
    void add_parts(OperationActions& operation, const GroupMember& group, const CollectiveBuffer& data,
                   std::uint64_t elements) const;

    const models::Machine& machine_;
    const models::Stack& stack_;
};

}  // namespace auspex::cpu
