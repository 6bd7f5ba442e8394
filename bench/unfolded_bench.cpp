/// @file What the overlap of gradient sums costs the unfolded lens: one sample with it over one without it, in turns.
/// Counters: seconds of processor time of each, their ratio, and by how many times the events are more.
#include <benchmark/benchmark.h>

#include <ctime>
#include <iterator>
#include <string>

#include "base/json.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/predict/unfolded.hpp"

namespace auspex {
namespace {

struct Case {
    const char *machine, *stack, *model;
    int tiles;
};

constexpr Case kCases[] = {
    {"aurora", "oneccl", "mula-20b-a2b", 768},         {"aurora", "oneccl", "mula-1b", 3072},
    {"aurora", "megatron-deepspeed", "agpt-70b", 768}, {"aurora", "megatron-deepspeed", "mula-220b-a10b", 1536},
    {"frontier", "rccl", "mula-20b-a2b", 768},         {"frontier", "rccl", "mula-20b-a2b", 1536},
    {"frontier", "rccl", "mula-7b-a1b", 1536},         {"frontier", "rccl", "mula-220b-a10b", 768},
    {"frontier", "rccl", "gpt3-175b", 1536},           {"dgx-h100", "bare", "mula-20b-a2b", 768},
    {"dgx-h100", "bare", "mula-20b-a2b", 3072},        {"dgx-h100", "nanotron", "mixtral-8x7b", 1536},
};

models::Inputs inputs_of(const Case& of, bool overlap) {
    const auto document = [](const char* folder, const char* name) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + folder + "/" + name + ".json");
    };
    models::Inputs inputs = models::load_inputs(document("machines", of.machine), document("stacks", of.stack),
                                                document("workloads", of.model), document("plans", of.model));
    inputs.plan.dp = 0;
    inputs.plan.overlap_dp = overlap;
    return inputs;
}

class Lens {
 public:
    Lens(const Case& of, bool overlap) : inputs_(inputs_of(of, overlap)), folded_(folded(of)) {}
    /// Plays one sample; returns its events.
    std::uint64_t play() {
        const std::clock_t began = std::clock();  // what else the computer does stays out of the ratio
        const std::uint64_t events = play_unfolded(inputs_, folded_, {}).samples.front().events;
        seconds_ += static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        return events;
    }
    [[nodiscard]] double seconds() const { return seconds_; }

 private:
    [[nodiscard]] predict::SimulatedStep folded(const Case& of) const {
        predict::PredictOptions options;
        options.tiles = of.tiles;
        options.sensitivity = false;
        return simulate_step(inputs_, options, false);
    }
    models::Inputs inputs_;
    predict::SimulatedStep folded_;
    double seconds_ = 0;
};

void overlap_over_none(benchmark::State& state) {
    const Case& of = kCases[static_cast<std::size_t>(state.range(0))];
    Lens none(of, false), overlap(of, true);
    double events = 0;
    for (auto _ : state) {
        events = 1 / static_cast<double>(none.play());
        events *= static_cast<double>(overlap.play());
    }
    const auto runs = static_cast<double>(state.iterations());
    state.SetLabel(std::string(of.machine) + " " + of.stack + " " + of.model + " " + std::to_string(of.tiles));
    state.counters["none_s"] = none.seconds() / runs;
    state.counters["overlap_s"] = overlap.seconds() / runs;
    state.counters["ratio"] = overlap.seconds() / none.seconds();
    state.counters["events_ratio"] = events;
}

BENCHMARK(overlap_over_none)->DenseRange(0, std::size(kCases) - 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace auspex
