/// @file One folded step.
#include "sim/predict/simulate.hpp"

#include <algorithm>
#include <cmath>

#include "sim/cpu/step.hpp"
#include "sim/engine/link_use.hpp"

namespace auspex::predict {
namespace {

/// How much longer rate-bound work takes on the slowest of n tiles than on a median one.
double slowest_of(const models::Tile& tile, double n) {
    const double speed = std::max(tile.speed_worst, 1 - tile.speed_sigma * models::expected_normal_maximum(n));
    return 1 / speed;
}

/// The stage with most kernel time: where a straggler hurts.
std::size_t heaviest_stage(const engine::PlayResult& result) {
    std::size_t heaviest = 0;
    Picoseconds most = -1;
    for (std::size_t stage = 0; stage < result.losses.size(); ++stage) {
        const schedule::LossTimes& losses = result.losses[stage];
        const Picoseconds compute = losses[static_cast<std::size_t>(schedule::Loss::kUsefulCompute)] +
                                    losses[static_cast<std::size_t>(schedule::Loss::kRecompute)];
        if (compute > most) {
            most = compute;
            heaviest = stage;
        }
    }
    return heaviest;
}

}  // namespace

double slowest_of_groups(const models::Tile& tile, const models::Plan& plan) {
    return slowest_of(tile, std::max(plan.tp * plan.cp, plan.ep * plan.etp));
}

SimulatedStep prepare_step(const models::Inputs& inputs, const PredictOptions& options) {
    SimulatedStep step;
    static_cast<schedule::StepProgram&>(step) = schedule::make_step_program(inputs, options.tiles);
    if (has_pairs(step.program)) {
        step.paired = merge_pairs(step.program);
    }
    return step;
}

namespace {

void simulate_on_cpus(SimulatedStep& s, const models::Inputs& inputs, const PredictOptions& options) {
    cpu::CpuStep played = cpu::play_on_cpus(inputs, s, options.timeline, options.background_processes);
    s.step = played.step;
    s.forward_backward = played.forward_backward;
    s.losses = played.losses;
    s.events = played.events;
    s.operation_times = std::move(played.operation_times);
    s.timeline = std::move(played.timeline);
}

}  // namespace

SimulatedStep simulate_step(const models::Inputs& inputs, const PredictOptions& options, bool operation_times) {
    SimulatedStep step = prepare_step(inputs, options);
    simulate_prepared(step, inputs, options, operation_times);
    return step;
}

namespace {

/// What was recorded of merged blocks, of the passes that they are made of.
void tell_of_passes(SimulatedStep& s) {
    if (!s.paired) {
        return;
    }
    const std::vector<std::uint32_t>& origin = s.paired->origin;
    for (std::size_t i = s.program.operations.size(); i < origin.size(); ++i) {
        s.facts[origin[i]] = s.facts[i];
    }
    for (std::vector<std::uint32_t>* operations : {&s.recorded.of_spans, &s.recorded.of_instants}) {
        for (std::uint32_t& operation : *operations) {
            operation = origin[operation];
        }
    }
}

/// Two steps one behind the other: of stages that do not wait for each other the second begins while others still end
/// the first.
schedule::Program twice(const schedule::Program& once) {
    schedule::Program program = once;
    program.micro_batches *= 2;
    for (schedule::Role& role : program.roles) {
        const std::vector<schedule::BlockUse> first = role.order;
        for (schedule::BlockUse use : first) {
            use.micro_batch += use.micro_batch >= 0 ? once.micro_batches : 0;
            use.second_micro_batch += use.second_micro_batch >= 0 ? once.micro_batches : 0;
            role.order.push_back(use);
        }
    }
    return program;
}

/// Of a step among others: what a second one adds.
engine::PlayResult added(const engine::PlayResult& one, engine::PlayResult two) {
    two.step -= one.step;
    for (std::size_t role = 0; role < two.losses.size(); ++role) {
        for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
            two.losses[role][loss] -= one.losses[role][loss];
        }
    }
    two.forward_backward = std::max<Picoseconds>(0, two.step - (one.step - one.forward_backward));
    two.shared_link_excess_s = one.shared_link_excess_s;
    return two;
}

/// False: the step takes longer than `most`.
bool simulate(SimulatedStep& s, const models::Inputs& inputs, const PredictOptions& options, bool operation_times,
              network::Network& network, Picoseconds most) {
    network.set_routing(s.load);
    s.cost_options.load = s.load;
    s.cost_options.merge_operations = !options.play_every_operation;
    s.cost_options.slowdown.assign(static_cast<std::size_t>(s.plan.pp), slowest_of_groups(inputs.machine.tile, s.plan));
    if (options.timeline) {
        s.timeline.emplace();
    }
    const engine::OperationCosts costs =
        cost_operations(s.played(), inputs.machine, inputs.stack, s.layout, network, s.cost_options);
    const auto play_once = [&](const schedule::Program& program, const engine::CostOptions& stragglers,
                               schedule::Timeline* timeline, Picoseconds longest) {
        const engine::CostedProgram costed =
            cost_program(program, inputs.machine, inputs.stack, s.layout, costs, stragglers);
        return play(costed, network, timeline, longest, &s.recorded);
    };
    const auto play_with = [&](const engine::CostOptions& stragglers, schedule::Timeline* timeline) {
        if (!s.plan.post_validation) {
            return play_once(s.played(), stragglers, timeline, most);
        }
        const engine::PlayResult one = play_once(s.played(), stragglers, timeline, kLongestTime);
        engine::CostOptions merged = stragglers;
        merged.merge_operations = s.cost_options.merge_operations;
        engine::PlayResult step = added(one, play_once(twice(s.played()), merged, nullptr, kLongestTime));
        step.is_longer = step.step > most;
        return step;
    };
    const engine::PlayResult first = play_with(s.cost_options, nullptr);
    if (first.is_longer) {
        return false;
    }
    engine::CostOptions slow = s.cost_options;
    slow.merge_operations = slow.merge_operations && !options.timeline;
    slow.slowdown[heaviest_stage(first)] = slowest_of(inputs.machine.tile, s.layout.tiles);
    const engine::PlayResult second = play_with(slow, s.timeline ? &*s.timeline : nullptr);
    if (second.is_longer) {
        return false;
    }
    const Picoseconds extra = std::max<Picoseconds>(0, second.step - first.step);
    s.step = first.step + extra;
    if (options.trace_details || operation_times) {
        s.facts = operation_facts(s.played(), costs, inputs.machine, inputs.stack, s.layout, network, slow);
        s.operation_bounds = bounds_by_name(s.played(), s.facts);
        tell_of_passes(s);
    }
    s.forward_backward = std::min(s.step, first.forward_backward + extra);
    s.losses = schedule::mean_losses(first.losses, first.step);
    s.losses[static_cast<std::size_t>(schedule::Loss::kJitter)] += extra;
    s.role_losses = first.losses;
    for (schedule::LossTimes& losses : s.role_losses) {
        losses[static_cast<std::size_t>(schedule::Loss::kJitter)] += extra;
    }
    s.events = first.events + second.events;
    if (operation_times) {
        s.groups_touched = network.fabric().block_count();
        s.link_use = link_use(s.played(), costs, network, to_seconds(s.step));
        s.operation_times = time_by_operation(s.played(), costs, s.cost_options);
        const auto roles = static_cast<double>(s.program.roles.size());
        for (std::size_t name = 0; name < schedule::kOperationNames; ++name) {
            s.operation_times.seconds[name] += first.shared_link_excess_s[name] / roles;
        }
    }
    return true;
}

}  // namespace

void simulate_prepared(SimulatedStep& step, const models::Inputs& inputs, const PredictOptions& options,
                       bool operation_times, network::Network* network) {
    if (inputs.machine.cpu.cores > 0) {
        return simulate_on_cpus(step, inputs, options);
    }
    std::optional<network::Network> own;
    if (network == nullptr) {
        network = &own.emplace(inputs.machine, inputs.stack, step.layout);
    }
    simulate(step, inputs, options, operation_times, *network, kLongestTime);
}

bool simulate_within(SimulatedStep& step, const models::Inputs& inputs, network::Network& network, Picoseconds most) {
    return simulate(step, inputs, {}, false, network, most);
}

}  // namespace auspex::predict
