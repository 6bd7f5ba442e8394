/// @file What a moved slider costs behind auspex explore: Mula-220B-A10B on 12,288 tiles of Aurora, a constant of
/// another value each time. Checks first that another value gives another step. bench/explore_latency.sh has the way to
/// the picture with it.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "explore/answer.hpp"
#include "report/timeline/timeline_data.hpp"
#include "sim/predict/predict.hpp"

namespace auspex::explore {
namespace {

Session& session() {
    static const std::string root = std::string(AUSPEX_SOURCE_DIR) + "/";
    static Session one({[](const std::string& role) {
                            return std::set<std::string>{role == "machine" ? "aurora"
                                                         : role == "stack" ? "optimus"
                                                                           : "mula-220b-a10b"};
                        },
                        [](const std::string& role, const std::string& name) {
                            return JsonDocument::load(root + role + "s/" + name + ".json");
                        }});
    return one;
}

std::string request(const std::string& ask, int number) {
    return "{\"ask\":\"" + ask +
           "\",\"machine\":\"aurora\",\"stack\":\"optimus\",\"workload\":\"mula-220b-a10b\",\"plan\":\"mula-220b-"
           "a10b\",\"tiles\":12288,\"tokens\":1e12,"
           "\"page\":\"bench\",\"number\":" +
           std::to_string(number) + ",\"set\":[\"machine.tile.gemm_bf16=" + std::to_string(200 + number % 100) +
           " TF/s\"]}";
}

void ask(benchmark::State& state, const char* what) {
    static int number = 0;  // they rise, or a curve is outdated
    const std::string first = answer(session(), request(what, ++number)).body;
    if (first == answer(session(), request(what, ++number)).body) {
        std::cerr << "another constant gives the same step\n";
        std::exit(1);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(answer(session(), request(what, ++number)).body.size());
    }
}
void step(benchmark::State& state) { ask(state, "step"); }
void curve(benchmark::State& state) { ask(state, "curve"); }

State state_of(int number) {
    return {{"aurora", "optimus", "mula-220b-a10b", "mula-220b-a10b"},
            12288,
            {"machine.tile.gemm_bf16=" + std::to_string(200 + number % 100) + " TF/s"}};
}
void inputs_alone(benchmark::State& state) {
    int number = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(session().inputs(state_of(++number)).plan.dp);
    }
}
void predict_alone(benchmark::State& state) {
    const models::Inputs inputs = session().inputs(state_of(1));
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            predict::predict(inputs, {.tiles = 12288, .sensitivity = false, .timeline = state.range(0) == 1})
                .prediction.step);
    }
}
void timeline_alone(benchmark::State& state) {
    const models::Inputs inputs = session().inputs(state_of(1));
    const auto result = predict::predict(inputs, {.tiles = 12288, .sensitivity = false, .timeline = true});
    for (auto _ : state) {
        benchmark::DoNotOptimize(report::timeline_data("", {{"", &*result.timeline}}, 48'000).json.size());
    }
}

BENCHMARK(step)->Unit(benchmark::kMillisecond);
BENCHMARK(curve)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK(inputs_alone)->Unit(benchmark::kMillisecond);
BENCHMARK(predict_alone)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(timeline_alone)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace auspex::explore
