/// @file Bytes of a program's communications by pattern.
#include "sim/engine/link_use.hpp"

#include "sim/engine/operation_costs.hpp"

namespace auspex::engine {
namespace {

/// Bytes that one flow of each pattern moves in a step.
std::map<network::PatternId, double> bytes_by_pattern(const schedule::Program& program, const OperationCosts& costs) {
    std::map<network::PatternId, double> bytes;
    for_each_use(program, [&](const schedule::Operation& op, int, int uses) {
        const std::uint32_t transfer = costs.transfer[program.index_of(op)];
        if (transfer != kNone && !is_world(op)) {
            for (const network::TransferPhase& phase : costs.transfers[transfer].phases) {
                bytes[phase.pattern] += phase.bytes * uses;
            }
        }
    });
    return bytes;
}

}  // namespace

std::vector<LinkUse> link_use(const schedule::Program& program, const OperationCosts& costs,
                              const network::Network& network, double step_s) {
    return network::link_use(bytes_by_pattern(program, costs), network, step_s);
}

}  // namespace auspex::engine
