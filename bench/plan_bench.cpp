/// @file How fast plans are decided of: floors, bounds, memory by what plans share beside memory by whole programs,
/// folded steps, ended at a step to beat and not, beside a plain loop over predictions, and whole searches. Checks
/// first that the search finds what trying all plans finds, and that both memories are one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "sim/predict/memory_report.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/bounds/grid_memory.hpp"
#include "sim/search/bounds/step_bound.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex {
namespace {

models::Inputs on_aurora(const std::string& model) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    return models::load_inputs(load("machines/aurora"), load("stacks/optimus"), load("workloads/" + model),
                               load("plans/" + model));
}

const models::Inputs& mula_7b() {
    static const models::Inputs inputs = on_aurora("mula-7b-a1b");
    return inputs;
}

search::SpaceRequest on_48_tiles() {
    search::SpaceRequest request;
    request.tiles = 48, request.global_batch = 192;
    return request;
}

/// A part of the space that trying all takes a second for.
void check_the_answer() {
    search::SpaceRequest request = on_48_tiles();
    request.where = search::read_constraints("--where", "pp<=2,tp<=1,micro_batch_size<=2");
    request.fixed = {"recompute", "optimizer"};
    search::SearchOptions options;
    const search::SearchResult found = search_plans(mula_7b(), request, options);
    options.exhaustive = true;
    const search::SearchResult all = search_plans(mula_7b(), request, options);
    bool is_same = !all.best.empty() && found.best.size() == all.best.size();
    for (std::size_t i = 0; is_same && i < all.best.size(); ++i) {
        is_same = found.best[i].index == all.best[i].index && found.best[i].step == all.best[i].step;
    }
    if (!is_same) {
        std::cerr << "the search does not find what trying all plans finds\n";
        std::exit(1);
    }
}

double peak_by_whole_program(models::Inputs& own, const search::Candidate& plan) {
    own.plan = plan_of(plan, mula_7b().plan);
    return predict::memory_report(own, predict::prepare_step(own, {})).peak_bytes;
}

/// Choices of a shape whose pipeline has stages.
std::vector<search::Candidate> plans_of_a_pipeline(const search::PlanSpace& space) {
    const auto shape = std::ranges::find(space.shapes(), 8, &search::Candidate::pp);
    return space.plans_of(static_cast<std::size_t>(shape - space.shapes().begin()));
}

void check_the_memory() {
    const search::PlanSpace space(mula_7b(), on_48_tiles());
    const std::vector<search::Candidate> plans = plans_of_a_pipeline(space);
    search::LayerCostTable table(mula_7b());
    search::GridMemory memory(mula_7b(), table, plans.front());
    models::Inputs own = mula_7b();
    for (std::size_t i = 0; i < plans.size(); i += 7) {
        if (memory.peak_bytes(plans[i]) != peak_by_whole_program(own, plans[i])) {
            std::cerr << "the memory of a plan is not that of its program\n";
            std::exit(1);
        }
    }
}

/// Plans of the space's shapes, one after the other.
class Plans {
 public:
    Plans() : space_(mula_7b(), on_48_tiles()) {}
    const search::Candidate& next() {
        if (at_ == plans_.size()) {
            shape_ = (shape_ + 37) % space_.shapes().size();
            plans_ = space_.plans_of(shape_);
            at_ = 0;
        }
        return plans_[at_++];
    }

 private:
    search::PlanSpace space_;
    std::size_t shape_ = 0, at_ = 0;
    std::vector<search::Candidate> plans_;
};

void floors(benchmark::State& state) {
    search::LayerCostTable table(mula_7b());
    search::PlanSpace space(mula_7b(), on_48_tiles());
    search::GridFloor floor(mula_7b(), table, space.shapes().front());
    const std::vector<search::Candidate> choices = space.plans_of(0);
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(floor.of(choices[i++ % choices.size()]));
    }
    state.SetItemsProcessed(state.iterations());
}

void bounds(benchmark::State& state) {
    search::LayerCostTable table(mula_7b());
    search::PlanSpace space(mula_7b(), on_48_tiles());
    search::GridBound bound(mula_7b(), table, space.shapes().front());
    const std::vector<search::Candidate> choices = space.plans_of(0);
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(bound.of(choices[i++ % choices.size()]));
    }
    state.SetItemsProcessed(state.iterations());
}

void bounds_by_way_of_all_passes(benchmark::State& state) {
    search::LayerCostTable table(mula_7b());
    search::PlanSpace space(mula_7b(), on_48_tiles());
    const std::vector<search::Candidate> choices = plans_of_a_pipeline(space);
    search::GridBound bound(mula_7b(), table, choices.front());
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(bound.of_passes(choices[i++ % choices.size()]));
    }
    state.SetItemsProcessed(state.iterations());
}

void memory(benchmark::State& state) {
    search::PlanSpace space(mula_7b(), on_48_tiles());
    const std::vector<search::Candidate> choices = plans_of_a_pipeline(space);
    search::LayerCostTable table(mula_7b());
    std::optional<search::GridMemory> grid;
    std::size_t i = 0;
    for (auto _ : state) {
        if (i % choices.size() == 0) {
            grid.emplace(mula_7b(), table, choices.front());
        }
        benchmark::DoNotOptimize(grid->peak_bytes(choices[i++ % choices.size()]));
    }
    state.SetItemsProcessed(state.iterations());
}

void memory_by_whole_programs(benchmark::State& state) {
    search::PlanSpace space(mula_7b(), on_48_tiles());
    const std::vector<search::Candidate> choices = plans_of_a_pipeline(space);
    models::Inputs own = mula_7b();
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(peak_by_whole_program(own, choices[i++ % choices.size()]));
    }
    state.SetItemsProcessed(state.iterations());
}

void folded_steps(benchmark::State& state) {
    Plans plans;
    models::Inputs own = mula_7b();
    for (auto _ : state) {
        own.plan = plan_of(plans.next(), mula_7b().plan);
        benchmark::DoNotOptimize(predict::simulate_step(own, {}, false).step);
    }
    state.SetItemsProcessed(state.iterations());
}

void plain_predictions(benchmark::State& state) {
    Plans plans;
    models::Inputs own = mula_7b();
    predict::PredictOptions options;
    options.sensitivity = false;
    for (auto _ : state) {
        own.plan = plan_of(plans.next(), mula_7b().plan);
        benchmark::DoNotOptimize(predict::predict(own, options).prediction.step);
    }
    state.SetItemsProcessed(state.iterations());
}

void whole_search(benchmark::State& state) {
    std::uint64_t plans = 0;
    for (auto _ : state) {
        plans += search_plans(mula_7b(), on_48_tiles(), {}).space;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(plans));
}

/// Mula-220B on the tiles of the argument, 3,072 sequences.
void search_of_220b(benchmark::State& state) {
    const models::Inputs inputs = on_aurora("mula-220b-a10b");
    search::SpaceRequest request;
    request.tiles = static_cast<int>(state.range(0)), request.global_batch = 3072;
    std::uint64_t plans = 0;
    for (auto _ : state) {
        const search::SearchResult result = search_plans(inputs, request, {});
        plans += result.space;
        state.counters["played"] = static_cast<double>(result.evaluated);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(plans));
}

BENCHMARK(floors);
BENCHMARK(bounds);
BENCHMARK(bounds_by_way_of_all_passes);
BENCHMARK(memory)->Unit(benchmark::kMicrosecond);
BENCHMARK(memory_by_whole_programs)->Unit(benchmark::kMicrosecond);
BENCHMARK(folded_steps)->Unit(benchmark::kMicrosecond);
BENCHMARK(plain_predictions)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_search)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(search_of_220b)->Arg(3072)->Arg(12288)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) {
    auspex::check_the_answer();
    auspex::check_the_memory();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
