/// @file Where the time of one step goes, folded and unfolded: Mula-220B-A10B on 384 to 98,304 tiles of Aurora, part by
/// part. Checks the answer first.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "base/json.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/predict/unfolded.hpp"

namespace auspex {
namespace {

const models::Inputs& mula_220b() {
    static const models::Inputs inputs = [] {
        const std::string root = AUSPEX_SOURCE_DIR;
        models::Inputs loaded = models::load_inputs(JsonDocument::load(root + "/machines/aurora.json"),
                                                    JsonDocument::load(root + "/stacks/optimus.json"),
                                                    JsonDocument::load(root + "/workloads/mula-220b-a10b.json"),
                                                    JsonDocument::load(root + "/plans/mula-220b-a10b.json"));
        loaded.plan.dp = 0;
        return loaded;
    }();
    return inputs;
}

predict::PredictOptions at(int tiles) {
    predict::PredictOptions options;
    options.tiles = tiles;
    options.sensitivity = false;
    return options;
}

/// Everything ready for one tile count, so that each part can be timed alone.
struct Ready {
    models::Plan plan;
    models::Layout layout;
    schedule::Program program;
    engine::CostOptions cost;
    explicit Ready(int tiles)
        : plan(resolve_plan(mula_220b().plan, mula_220b().workload, tiles)),
          layout(make_layout(plan, mula_220b().machine, tiles)),
          program(schedule::build_program(mula_220b().workload, plan, mula_220b().stack, layout)) {
        cost.slowdown.assign(program.roles.size(), 1.03);
    }
    [[nodiscard]] engine::OperationCosts operation_costs(network::Network& network) const {
        return cost_operations(program, mula_220b().machine, mula_220b().stack, layout, network, cost);
    }
    [[nodiscard]] engine::CostedProgram costed(network::Network& network) const {
        return cost_program(program, mula_220b().machine, mula_220b().stack, layout, operation_costs(network), cost);
    }
};

void whole_step(benchmark::State& state) {
    const int tiles = static_cast<int>(state.range(0));
    const predict::PredictResult reference = predict::predict(mula_220b(), at(tiles));
    if (reference.prediction.step != predict::predict(mula_220b(), at(tiles)).prediction.step ||
        reference.prediction.step <= 0) {
        std::cerr << "the step is not reproduced\n";
        std::exit(1);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(predict::predict(mula_220b(), at(tiles)).prediction.step);
    }
}

void build_the_program(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            schedule::build_program(mula_220b().workload, ready.plan, mula_220b().stack, ready.layout)
                .operations.size());
    }
}

void build_the_network(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        network::Network network(mula_220b().machine, mula_220b().stack, ready.layout);
        benchmark::DoNotOptimize(network.pattern_count());
    }
}

void cost_with_fresh_network(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        network::Network network(mula_220b().machine, mula_220b().stack, ready.layout);
        benchmark::DoNotOptimize(ready.costed(network).tasks.size());
    }
}

void cost_again(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    network::Network network(mula_220b().machine, mula_220b().stack, ready.layout);
    for (auto _ : state) {
        benchmark::DoNotOptimize(ready.costed(network).tasks.size());
    }
}

void play_again(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    network::Network network(mula_220b().machine, mula_220b().stack, ready.layout);
    const engine::CostedProgram costed = ready.costed(network);
    for (auto _ : state) {
        benchmark::DoNotOptimize(play(costed, network, nullptr).step);
    }
}

/// One sample by rank, with what all samples share. Checks that quiet tiles give the folded step.
void whole_unfolded_step(benchmark::State& state) {
    const int tiles = static_cast<int>(state.range(0));
    models::Inputs quiet = mula_220b();
    quiet.machine.noise = {};
    quiet.machine.tile.speed_sigma = 0;
    quiet.machine.fabric.background_load = 0;
    const predict::SimulatedStep even = simulate_step(quiet, at(tiles), false);
    if (play_unfolded(quiet, even, {}).samples.front().step != even.step) {
        std::cerr << "equal tiles do not give the folded step\n";
        std::exit(1);
    }
    const predict::SimulatedStep folded = simulate_step(mula_220b(), at(tiles), false);
    for (auto _ : state) {
        benchmark::DoNotOptimize(play_unfolded(mula_220b(), folded, {}).samples.front().step);
    }
}

void operation_times_again(benchmark::State& state) {
    const Ready ready(static_cast<int>(state.range(0)));
    network::Network network(mula_220b().machine, mula_220b().stack, ready.layout);
    const engine::OperationCosts costs = ready.operation_costs(network);
    for (auto _ : state) {
        benchmark::DoNotOptimize(time_by_operation(ready.program, costs, ready.cost).seconds.size());
    }
}

void load_machine_and_stack(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(models::load_machine(mula_220b().machine_document).constants.size() +
                                 models::load_stack(mula_220b().stack_document).constants.size());
    }
}

BENCHMARK(whole_step)->Arg(384)->Arg(3072)->Arg(12288)->Arg(98304)->Unit(benchmark::kMillisecond);
BENCHMARK(whole_unfolded_step)->Arg(384)->Arg(3072)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(build_the_program)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(build_the_network)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(cost_with_fresh_network)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(cost_again)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(play_again)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(operation_times_again)->Arg(12288)->Unit(benchmark::kMillisecond);
BENCHMARK(load_machine_and_stack)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace auspex
