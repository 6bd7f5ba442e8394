/// @file Facts of kernels from their parts, of communications from their phases.
#include "sim/engine/operation_facts.hpp"

#include <algorithm>
#include <map>

#include "sim/network/collective/collective_run.hpp"
#include "sim/network/use/link_use.hpp"

namespace auspex::engine {
namespace {

/// Arithmetic, memory, launches, or the host that issues a pass: of kernels what each is bound by counts as that.
std::string compute_bound(const schedule::Program& program, const schedule::Operation& op,
                          const models::Machine& machine, const models::Stack& stack) {
    if (op.kind == schedule::OpKind::kHostIssue) {
        return "host";
    }
    double arithmetic_s = 0, memory_s = 0, launches_s = op.host_s;
    for (const models::Kernel& kernel : program.kernels_of(op)) {
        models::Kernel without_memory = kernel;
        without_memory.bytes = 0;
        const models::KernelTime time = kernel_time(kernel, machine, stack);
        const bool by_flop =
            time.rate_bound_s > 0 && kernel_time(without_memory, machine, stack).rate_bound_s == time.rate_bound_s;
        (by_flop ? arithmetic_s : memory_s) += time.rate_bound_s;
        launches_s += time.overhead_s;
    }
    const double most_s = std::max({arithmetic_s, memory_s, launches_s});
    return most_s == 0 ? "" : most_s == arithmetic_s ? "arithmetic" : most_s == memory_s ? "memory" : "launches";
}

std::string algorithm_text(network::AlgorithmChoice choice) {
    return std::string(to_string(choice.algorithm)) +
           (choice.levels > 1 ? " over " + std::to_string(choice.levels) + " levels" : "");
}

class FactFinder {
 public:
    FactFinder(const schedule::Program& program, const OperationCosts& costs, const models::Machine& machine,
               const models::Stack& stack, const models::Layout& layout, network::Network& network,
               const CostOptions& options)
        : program_(program),
          costs_(costs),
          machine_(machine),
          stack_(stack),
          layout_(layout),
          network_(network),
          options_(options),
          of_transfer_(costs.transfers.size()) {}

    OperationFacts of_compute(const schedule::Operation& op, int stage) const {
        OperationFacts facts;
        const ComputeTime& time = costs_.compute[program_.index_of(op)];
        facts.seconds =
            time.nominal_s + time.imbalance_s + time.straggler_s(options_.slowdown[static_cast<std::size_t>(stage)]);
        for (const models::Kernel& kernel : program_.kernels_of(op)) {
            facts.flop += kernel.flop * kernel.repeat;
            facts.memory_bytes += kernel.bytes * kernel.repeat;
        }
        facts.bound_by = compute_bound(program_, op, machine_, stack_);
        return facts;
    }

    /// Operations of the same transfer are alike.
    const OperationFacts& of_communication(const schedule::Operation& op, int stage) {
        const std::uint32_t transfer = costs_.transfer[program_.index_of(op)];
        OperationFacts& facts = of_transfer_[transfer];
        if (facts.group_ranks > 0) {
            return facts;
        }
        const CostedTransfer::Member& member = costs_.transfers[transfer].members.front();
        facts.bytes = op.bytes * op.repeat;
        facts.group_ranks = group_size(layout_, op.group);
        facts.seconds = to_seconds(member.solo_time);
        const bool uneven = op.routed && options_.load.heaviest_rank_of(op.layer) != 1;
        const double scale = uneven ? options_.load.heaviest_rank_of(op.layer) : 1;
        const int shares =
            uneven && !options_.load.is_even() ? network_.number_of_shares(options_.load.by_rank_of(op.layer)) : 0;
        const network::Transfer unrolled =
            network_.unroll(op.comm, op.group, stage, op.bytes, scale, network::kAllSiblings, shares);
        facts.bound_by = bottleneck_of(network_, unrolled);
        if (op.comm != schedule::CommKind::kSend && !unrolled.phases.empty()) {
            facts.algorithm = algorithm_text(unrolled.choice);
        }
        facts.is_shard = is_shard(op);
        for (const network::TransferPhase& phase : costs_.transfers[transfer].phases) {
            add_link_bytes(phase, facts);  // of world operations nothing: their patterns keep no loads
        }
        return facts;
    }

 private:
    void add_link_bytes(const network::TransferPhase& phase, OperationFacts& facts) {
        const auto [found, is_new] = load_of_pattern_.try_emplace(phase.pattern);
        if (is_new) {
            found->second = load_by_kind(phase.pattern, network_);
        }
        for (std::size_t kind = 0; kind < network::kLinkKinds; ++kind) {
            facts.link_bytes[kind] += found->second[kind] * phase.bytes;
        }
    }

    const schedule::Program& program_;
    const OperationCosts& costs_;
    const models::Machine& machine_;
    const models::Stack& stack_;
    const models::Layout& layout_;
    network::Network& network_;
    const CostOptions& options_;
    std::vector<OperationFacts> of_transfer_;
    std::map<network::PatternId, std::array<double, network::kLinkKinds>> load_of_pattern_;
};

}  // namespace

std::vector<OperationFacts> operation_facts(const schedule::Program& program, const OperationCosts& costs,
                                            const models::Machine& machine, const models::Stack& stack,
                                            const models::Layout& layout, network::Network& network,
                                            const CostOptions& options) {
    FactFinder finder(program, costs, machine, stack, layout, network, options);
    std::vector<OperationFacts> facts(program.operations.size());
    for_each_block(program, [&](std::uint32_t block, int stage) {
        for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
            OperationFacts& of_op = facts[program.index_of(op)];
            if (op.comm == schedule::CommKind::kNone) {
                of_op = finder.of_compute(op, stage);
            } else if (costs.transfer[program.index_of(op)] != kNone) {
                of_op = finder.of_communication(op, stage);
            } else {
                of_op.bytes = op.bytes;
                of_op.group_ranks = 2;
            }
        }
    });
    return facts;
}

std::vector<std::string> bounds_by_name(const schedule::Program& program, const std::vector<OperationFacts>& facts) {
    std::vector<std::map<std::string, double>> seconds(schedule::kOperationNames);
    for_each_use(program, [&](const schedule::Operation& op, int, int uses) {
        const OperationFacts& of_op = facts[program.index_of(op)];
        if (!of_op.bound_by.empty()) {
            seconds[operation_name_index(op.kind, op.phase)][of_op.bound_by] += of_op.seconds * uses;
        }
    });
    std::vector<std::string> bounds;
    for (const auto& by_bound : seconds) {
        const auto most = std::ranges::max_element(by_bound, {}, [](const auto& entry) { return entry.second; });
        bounds.push_back(most == by_bound.end() ? "" : most->first);
    }
    return bounds;
}

}  // namespace auspex::engine
