/// @file A whole step of the trainer on one core over the least that its matrix products can take: their FLOP at the
/// best rate of oneDNN seen in the same run. 1 would be a step of nothing but perfect products. Checks the loss first.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include "base/json.hpp"
#include "base/statistics/quantiles.hpp"
#include "exec/data/random_dataset.hpp"
#include "exec/kernels/gemm.hpp"
#include "exec/run/trainer.hpp"
#include "exec/transport/in_process.hpp"
#include "models/layout.hpp"
#include "models/machine.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;
constexpr int kWords = 4096;

models::Workload model(int hidden, int experts) {
    constexpr int kHead = 64;
    models::Workload w;
    w.name = "bound";
    w.layers = 2, w.hidden_size = hidden, w.head_size = kHead;
    w.heads = w.kv_heads = hidden / kHead;
    w.vocab_size = kWords, w.sequence_length = 1024;
    if (experts > 0) {
        w.num_experts = experts, w.top_k = 2, w.expert_size = hidden;
    } else {
        w.intermediate_size = hidden * 5 / 2;
    }
    return w;
}

exec::RunInputs run_of(const models::Workload& workload) {
    const std::string root = AUSPEX_SOURCE_DIR;
    models::Plan plan;
    plan.name = plan.file = "one";
    plan.dp = 1, plan.micro_batch_size = 1, plan.micro_batches = 2;
    plan.schedule = models::ScheduleKind::k1f1b;
    plan.precision = "fp32", plan.weight_bytes = 4, plan.gradient_bytes = 4;
    exec::RunInputs run;
    run.workload = workload;
    run.plan = resolve_plan(plan, workload, 0);
    run.stack = models::load_stack(JsonDocument::load(root + "/stacks/auspex.json"));
    run.layout = make_layout(run.plan, models::load_machine(JsonDocument::load(root + "/machines/aurora.json")), 1);
    run.program = schedule::build_program(run.workload, run.plan, run.stack, run.layout);
    run.last_step = 100;
    return run;
}

double best_product_rate() {
    double best = 0;
    for (const std::size_t n : {512U, 768U, 1024U}) {
        const std::vector<float> a(n * n, 0.5F), b(n * n, 0.25F);
        std::vector<float> c(n * n);
        for (int i = 0; i < 8; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            gemm(exec::Transpose::kNo, exec::Transpose::kNo, n, n, n, a.data(), n, b.data(), n, c.data(), n, false);
            const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            best = std::max(best, 2 * static_cast<double>(n * n * n) / s);
        }
    }
    return best;
}

/// Argument 1: hidden size; 2: experts, 0 a dense feed-forward.
void step_over_its_products(benchmark::State& state) {
    const models::Workload workload = model(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    const fs::path folder = fs::temp_directory_path() / ("step-bound-" + std::to_string(getpid()));
    const exec::RunInputs run = run_of(workload);
    exec::RunOptions options;
    options.data = (folder / "data").string();
    fs::create_directories(folder);
    exec::make_random_dataset(kWords, workload.sequence_length, 16, options.data);
    options.steps = 4;
    const double tokens = run.layout.global_batch * static_cast<double>(workload.sequence_length);
    const double flop = models::count_token_flop(workload).training() * tokens;
    double ratio = 0, rate = 0;
    for (auto _ : state) {
        std::vector<double> steps_s;
        exec::run_in_process(run.layout, [&](exec::Communicator& communicator) {
            const exec::RunReport report = train(
                run, options, communicator, [](const exec::StepReport&) {}, [](const std::string&) {});
            // Of random words and small weights nothing is known: ln(words).
            if (std::abs(report.steps.front().loss - std::log(kWords)) > 0.5) {
                std::cerr << "the first loss is " << report.steps.front().loss << "\n";
                std::exit(1);
            }
            for (std::size_t i = 1; i < report.steps.size(); ++i) {
                steps_s.push_back(report.steps[i].step_time_s);
            }
        });
        rate = std::max(rate, best_product_rate());
        ratio = median(steps_s) * rate / flop;
    }
    state.counters["step_over_products"] = ratio;
    state.counters["GFLOP_per_s_best"] = rate / 1e9;
    fs::remove_all(folder);
}

BENCHMARK(step_over_its_products)
    ->ArgsProduct({{256, 512, 1024}, {0, 4}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace auspex
