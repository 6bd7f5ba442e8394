/// @file Live bytes of ranks, summed over those of a core and of a computer.
#include "sim/cpu/working_sets.hpp"

#include <algorithm>

#include "schedule/memory/memory.hpp"
#include "sim/cpu/rank_locations.hpp"

namespace auspex::cpu {

std::vector<WorkingSets> working_sets(const models::Inputs& inputs, const schedule::StepProgram& step) {
    std::vector<double> states, all;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        const schedule::StageMemory memory = stage_memory(inputs.workload, step.plan, inputs.stack, inputs.machine,
                                                          step.layout, step.program, stage, step.load);
        all.push_back(memory.peak_bytes - inputs.machine.tile.reserved_bytes);
        states.push_back(0);
        for (const auto& [label, bytes] : memory.by_label) {
            const bool is_state = label == to_string(schedule::MemoryLabel::kMoments) ||
                                  label == to_string(schedule::MemoryLabel::kMasterWeights);
            states.back() += is_state ? bytes : 0;
        }
    }
    const RankLocations locations = rank_locations(inputs.machine, step.layout);
    const auto stage_of = [&](std::size_t rank) {
        return static_cast<std::size_t>(grid_coordinates(step.layout, static_cast<int>(rank)).stage);
    };
    std::vector<WorkingSets> sets(all.size());
    for (std::size_t rank = 0; rank < locations.of_process.size(); ++rank) {
        const RankLocation& own = locations.of_process[rank];
        WorkingSets with_others;
        for (std::size_t other = 0; other < locations.of_process.size(); ++other) {
            const RankLocation& location = locations.of_process[other];
            const double everything = all[stage_of(other)], passes = everything - states[stage_of(other)];
            const bool on_computer = location.computer == own.computer,
                       on_core = on_computer && location.core == own.core;
            with_others.in_passes.of_computer += on_computer ? passes : 0;
            with_others.in_passes.of_core += on_core ? passes : 0;
            with_others.in_optimizer.of_computer += on_computer ? everything : 0;
            with_others.in_optimizer.of_core += on_core ? everything : 0;
        }
        WorkingSets& fullest = sets[stage_of(rank)];
        for (const auto part : {&WorkingSets::in_passes, &WorkingSets::in_optimizer}) {
            (fullest.*part).of_core = std::max((fullest.*part).of_core, (with_others.*part).of_core);
            (fullest.*part).of_computer = std::max((fullest.*part).of_computer, (with_others.*part).of_computer);
        }
    }
    return sets;
}

}  // namespace auspex::cpu
