/// @file How fast plans are decided of: floors, bounds, folded steps beside a plain loop over predictions, and a whole
/// search of Mula-7B on 48 tiles. Checks first that the search finds what trying all plans finds.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "sim/predict/predict.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/bounds/step_bound.hpp"
#include "sim/search/plan_search.hpp"

namespace auspex {
namespace {

const models::Inputs& mula_7b() {
    static const models::Inputs inputs = [] {
        const auto load = [](const std::string& file) {
            return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
        };
        return models::load_inputs(load("machines/aurora"), load("stacks/optimus"), load("workloads/mula-7b-a1b"),
                                   load("plans/mula-7b-a1b"));
    }();
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

BENCHMARK(floors);
BENCHMARK(bounds);
BENCHMARK(folded_steps)->Unit(benchmark::kMicrosecond);
BENCHMARK(plain_predictions)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_search)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) {
    auspex::check_the_answer();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
