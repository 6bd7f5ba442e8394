/// @file What a whole run costs to play, and in closed form: 60 days on 12,288 tiles of Aurora, 1,000 samples. Checks
/// first that both say the same.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/json.hpp"
#include "campaign/best_interval.hpp"
#include "campaign/campaign.hpp"
#include "campaign/finish/expected_finish.hpp"
#include "campaign/finish/machine_setting.hpp"
#include "campaign/player.hpp"

namespace auspex::campaign {
namespace {

constexpr int kSamples = 1'000;

const models::Inputs& mula_220b() {
    static const models::Inputs inputs = [] {
        const std::string root = AUSPEX_SOURCE_DIR;
        return models::load_inputs(JsonDocument::load(root + "/machines/aurora.json"),
                                   JsonDocument::load(root + "/stacks/optimus.json"),
                                   JsonDocument::load(root + "/workloads/mula-220b-a10b.json"),
                                   JsonDocument::load(root + "/plans/mula-220b-a10b.json"));
    }();
    return inputs;
}

/// Steps of 8.4 s, as they are predicted on 12,288 tiles, for 60 days; blocks of 12 h with 6 h of queue where wanted.
Setting sixty_days(bool has_blocks) {
    constexpr double kStep_s = 8.4, kDays = 60;
    const PredictedRunSize run{
        1024, 12'288, 128, kStep_s, {0.9 * kStep_s, 1.1 * kStep_s}, std::llround(kDays * 86'400 / kStep_s), 0};
    Setting setting = machine_setting(mula_220b(), run, {}).setting;
    if (has_blocks) {
        setting.blocks.walltime_s = 12 * 3600.0;
        setting.blocks.queue_wait_s = 6 * 3600.0;
    }
    setting.checkpoints.every_steps = closed_form_steps(setting);
    return setting;
}

/// The closed form within 1 % of the mean, and within four standard errors of it.
void check(const Setting& setting) {
    const Result played = play_campaign(setting, {kSamples, 1});
    const double expected_s = expected_finish(setting).elapsed_s, mean_s = played.elapsed_s.mean;
    const double allowed_s = std::max(0.01 * mean_s, 4 * played.elapsed_error_s);
    if (played.given_up > 0 || !(std::abs(expected_s - mean_s) <= allowed_s)) {
        std::cerr << "played " << mean_s << " s +- " << played.elapsed_error_s << " s, closed form " << expected_s
                  << " s\n";
        std::exit(1);
    }
}

void samples(benchmark::State& state) {
    const Setting setting = sixty_days(state.range(0) == 1);
    check(setting);
    for (auto _ : state) {
        benchmark::DoNotOptimize(play_campaign(setting, {kSamples, 1}).elapsed_s.mean);
    }
    state.SetItemsProcessed(state.iterations() * kSamples);
}

void one_sample(benchmark::State& state) {
    const Setting setting = sixty_days(state.range(0) == 1);
    std::uint64_t index = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(play_sample(setting, {1, index++}).elapsed);
    }
}

void closed_form(benchmark::State& state) {
    const Setting setting = sixty_days(state.range(0) == 1);
    check(setting);
    for (auto _ : state) {
        benchmark::DoNotOptimize(expected_finish(setting).elapsed_s);
    }
}

/// From a prediction's numbers to the closed form at its best interval: what a moved slider asks for.
void from_files(benchmark::State& state) {
    check(sixty_days(false));
    for (auto _ : state) {
        benchmark::DoNotOptimize(expected_finish(sixty_days(false)).elapsed_s);
    }
}

void searched_interval(benchmark::State& state) {
    const Setting setting = sixty_days(false);
    const double searched_s = best_interval(setting, 1)->interval_s;
    if (std::abs(searched_s / (static_cast<double>(setting.checkpoints.every_steps) * setting.step_s) - 1) > 0.05) {
        std::cerr << "the best interval by playing is " << searched_s << " s, by the closed form "
                  << static_cast<double>(setting.checkpoints.every_steps) * setting.step_s << " s\n";
        std::exit(1);
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(best_interval(setting, 1)->steps);
    }
}

BENCHMARK(samples)
    ->ArgName("blocks")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(one_sample)->ArgName("blocks")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(closed_form)->ArgName("blocks")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(from_files)->Unit(benchmark::kMicrosecond);
BENCHMARK(searched_interval)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace auspex::campaign
