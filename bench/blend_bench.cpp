/// @file The index of a blend: what a source's part of the choice, a row and a whole index take, and ranks (threads of
/// this process) over one. Each checks its answer first: the same digest for every number of ranks. `over_model` is the
/// time over models::index_build_time with the rates of this run; 1 is what the model says.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "exec/blend/blend_order.hpp"
#include "exec/blend/build_blend.hpp"
#include "exec/blend/keyed_shuffle.hpp"
#include "exec/data/random_dataset.hpp"
#include "exec/transport/in_process.hpp"
#include "exec/transport/one_group.hpp"
#include "models/data/index_build.hpp"

namespace auspex {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSequences = 4'000'000;
constexpr int kWords = 1000, kLength = 16;
/// The file is in the page cache: what a file system takes is not what is measured here.
constexpr double kCacheBytes_s = 1e12;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::vector<double> weights_of(int sources) {
    std::vector<double> weights;
    for (int d = 0; d < sources; ++d) {
        weights.push_back(1.0 / (d + 2));
    }
    return weights;
}

/// Datasets of a few hundred rows, once for all.
class Sources {
 public:
    Sources() : folder_((fs::temp_directory_path() / ("auspex-blend-bench-" + std::to_string(getpid()))).string()) {
        fs::create_directories(folder_);
    }
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;
    ~Sources() { fs::remove_all(folder_); }

    exec::BlendRequest request(int sources) {
        exec::BlendRequest request;
        const std::vector<double> weights = weights_of(sources);
        for (int d = 0; d < sources; ++d) {
            const std::string folder = folder_ + "/" + std::to_string(d);
            if (d >= made_) {
                exec::make_random_dataset(kWords, kLength, 200 + d, folder);
                ++made_;
            }
            request.sources.push_back({folder, weights[static_cast<std::size_t>(d)]});
        }
        request.sequences = kSequences;
        request.file = folder_ + "/blend";
        return request;
    }

 private:
    std::string folder_;
    int made_ = 0;
};

Sources& sources() {
    static Sources all;
    return all;
}

exec::BlendInfo built(const exec::BlendRequest& request, int ranks) {
    exec::BlendInfo info;
    fs::remove(request.file);
    exec::run_in_process(exec::one_group(ranks, "a bench"), [&](exec::Communicator& communicator) {
        exec::BlendInfo own = build_blend(request, communicator, [](std::size_t, std::size_t) {});
        if (communicator.world_rank() == 0) {
            info = std::move(own);
        }
    });
    return info;
}

/// The best of three.
double seconds_of(const exec::BlendRequest& request, int ranks) {
    double best = 0;
    for (int i = 0; i < 3; ++i) {
        const auto begin = Clock::now();
        benchmark::DoNotOptimize(built(request, ranks));
        const double time_s = seconds_since(begin);
        best = i == 0 ? time_s : std::min(best, time_s);
    }
    return best;
}

/// From whole builds of two and of 42 sources: the difference is the choice's.
const models::IndexBuildRates& rates() {
    static const models::IndexBuildRates measured = [] {
        const double few = seconds_of(sources().request(2), 1), many = seconds_of(sources().request(42), 1);
        models::IndexBuildRates found;
        found.choose_s = (many - few) / 40 / kSequences;
        found.place_s = few / kSequences - 2 * found.choose_s;
        found.write_bytes_per_s = kCacheBytes_s;
        return found;
    }();
    return measured;
}

void choose(benchmark::State& state) {
    const std::vector<double> weights = exec::megatron_weights(weights_of(static_cast<int>(state.range(0))));
    exec::BlendOrder order(weights);
    for (auto _ : state) {
        benchmark::DoNotOptimize(order.next());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(choose)->Arg(2)->Arg(10)->Arg(42);

void shuffle(benchmark::State& state) {
    const exec::KeyedShuffle shuffle(state.range(0), 1, 0, 0);
    std::int64_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(shuffle.at(i));
        i = i + 1 == state.range(0) ? 0 : i + 1;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(shuffle)->Arg(1000)->Arg(1'000'000)->Arg(1'100'000'000);

void digest(benchmark::State& state) {
    const std::string block(std::size_t{models::kIndexBlockSequences} * 10, 'x');
    for (auto _ : state) {
        benchmark::DoNotOptimize(sha256_hex(block));
    }
    state.SetItemsProcessed(state.iterations() * models::kIndexBlockSequences);
}
BENCHMARK(digest);

void build(benchmark::State& state) {
    const int count = static_cast<int>(state.range(0)), ranks = static_cast<int>(state.range(1));
    const exec::BlendRequest request = sources().request(count);
    if (built(request, ranks).digest != built(request, 1).digest) {
        std::cerr << "blend_bench: " << ranks << " ranks have another blend than one\n";
        std::exit(1);
    }
    const models::IndexBuild index{static_cast<double>(kSequences), count};
    const double model_s = index_build_time(index, ranks, rates()).parallel_s;
    double time_s = 0;
    for (auto _ : state) {
        const auto begin = Clock::now();
        benchmark::DoNotOptimize(built(request, ranks));
        time_s += seconds_since(begin);
    }
    time_s /= static_cast<double>(state.iterations());
    state.counters["ns_a_sequence"] = time_s / kSequences * 1e9;
    state.counters["over_model"] = time_s / model_s;
    state.counters["choose_ns"] = rates().choose_s * 1e9;
    state.counters["place_ns"] = rates().place_s * 1e9;
}
BENCHMARK(build)->ArgsProduct({{2, 10, 42}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace auspex
