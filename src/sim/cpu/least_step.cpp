/// @file Sums over the actions of ranks.
#include "sim/cpu/least_step.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "sim/cpu/program_actions.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {
namespace {

/// Of each rank, what it computes, copies and receives.
std::vector<double> rank_seconds(const models::Inputs& inputs, const schedule::StepProgram& step,
                                 const RankLocations& locations) {
    const models::CpuModel& cpu = inputs.machine.cpu;
    std::vector<double> seconds(static_cast<std::size_t>(locations.ranks()));
    ProgramActions program(inputs, step);
    OperationActions operation;
    for (int rank = 0; rank < locations.ranks(); ++rank) {
        const auto own = static_cast<std::size_t>(rank);
        for (operation = {}; program.next(rank, operation); operation = {}) {
            for (const RankAction& action : operation.actions) {
                seconds[own] += action.type == RankAction::Type::kWork ? action.work.seconds : 0;
                if (action.type == RankAction::Type::kSend) {
                    const auto peer = static_cast<std::size_t>(action.peer);
                    const bool is_inter_node = locations.of_process[own].node != locations.of_process[peer].node;
                    const models::MessageCosts& costs = is_inter_node ? cpu.inter_node : cpu.intra_node;
                    seconds[own] += send_cpu_s(costs, action.bytes, is_inter_node);
                    seconds[peer] += receive_cpu_s(costs, action.bytes);
                }
            }
        }
    }
    return seconds;
}

}  // namespace

double least_step_s(const models::Inputs& inputs, const schedule::StepProgram& step) {
    const RankLocations locations = rank_locations(inputs.machine, step.layout);
    const std::vector<double> ranks = rank_seconds(inputs, step, locations);
    std::map<std::pair<int, int>, double> cores;  // or computers
    double most = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const RankLocation& location = locations.of_process[rank];
        const bool bound = inputs.stack.binds_ranks;
        const double share = bound ? 1 : 1.0 / inputs.machine.cpu.cores;
        double& core = cores[{location.computer, bound ? location.core : 0}];
        core += ranks[rank] * share;
        most = std::max({most, core, ranks[rank]});
    }
    return most;
}

double least_kernel_s(const models::Inputs& inputs, const schedule::StepProgram& step) {
    const RankLocations locations = rank_locations(inputs.machine, step.layout);
    const auto seconds = cpu_kernel_seconds(inputs, step);
    const int cores = std::min(locations.ranks(), locations.computers * inputs.machine.cpu.cores);
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / cores;
}

}  // namespace auspex::cpu
