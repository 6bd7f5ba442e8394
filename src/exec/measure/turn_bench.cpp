/// @file A token that goes round among the ranks of a core.
#include "exec/measure/turn_bench.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "exec/measure/group_timing.hpp"
#include "exec/measure/kernel_operands.hpp"
#include "models/plan.hpp"

namespace auspex {
namespace {

constexpr int kToken = 1;

/// Of a layer of width 64 on 64 tokens.
std::vector<CpuCall> layer_calls() {
    constexpr double kRows = 64, kWidth = 64;
    return {{.kernel = CpuKernel::kNormForward, .rows = kRows, .columns = kWidth},
            {.kernel = CpuKernel::kGemmForward, .rows = kRows, .columns = 3 * kWidth, .depth = kWidth},
            {.kernel = CpuKernel::kAttentionForward, .rows = kRows, .depth = 16, .groups = 4},
            {.kernel = CpuKernel::kGemmForward, .rows = kRows, .columns = kWidth, .depth = kWidth},
            {.kernel = CpuKernel::kSwigluForward, .rows = kRows, .columns = kWidth},
            {.kernel = CpuKernel::kGemmInputGradient, .rows = kRows, .columns = kWidth, .depth = 3 * kWidth},
            {.kernel = CpuKernel::kGemmWeightGradient, .rows = kRows, .columns = kWidth, .depth = kWidth},
            {.kernel = CpuKernel::kNormBackward, .rows = kRows, .columns = kWidth}};
}

/// One rank's place in the ring, and what it runs in its turn.
class Turns {
 public:
    Turns(Communicator& ring, bool is_first, bool computes, int layers) : ring_(ring), is_first_(is_first) {
        for (int layer = 0; computes && layer < layers; ++layer) {
            for (const CpuCall& call : layer_calls()) {
                kernels_.push_back(make_operands(call, CpuPrecision::kFp32, kernels_.size() + 1));
            }
        }
    }

    /// All have come.
    void meet() {
        for (int round = 0; round < 2; ++round) {
            go_round([] {});
        }
    }

    struct Times {
        double turn_s = 0, round_s = 0;  ///< means
    };

    Times run(int rounds) {
        Times times;
        const double begin = steady_seconds();
        for (int round = 0; round < rounds; ++round) {
            go_round([&] {
                const double start = steady_seconds();
                for (OperandSet& kernel : kernels_) {
                    kernel.run();
                }
                times.turn_s += (steady_seconds() - start) / rounds;
            });
        }
        times.round_s = (steady_seconds() - begin) / rounds;
        return times;
    }

 private:
    template <typename Turn>
    void go_round(Turn turn) {
        if (!is_first_) {
            take();
        }
        turn();
        pass_on();
        if (is_first_) {
            take();
        }
    }
    void take() { ring_.receive(GroupKind::kPreviousStage, token_, kToken); }
    void pass_on() {
        const std::array<std::span<const std::byte>, 1> parts{token_};
        ring_.send(GroupKind::kNextStage, parts, kToken);
    }

    Communicator& ring_;
    bool is_first_;
    std::vector<OperandSet> kernels_;
    std::array<std::byte, 8> token_{};
};

/// A grid whose stages are the ranks of a core.
Layout ring_of_cores(int ranks, int cores) {
    Plan plan;
    plan.name = plan.file = "ranks that take turns";
    plan.pp = ranks / cores, plan.dp = cores;
    plan.rank_order = {Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp};
    return rank_grid(plan, ranks);
}

double layer_bytes() {
    double bytes = 0;
    for (const CpuCall& call : layer_calls()) {
        bytes += cpu_bytes(call, CpuPrecision::kFp32);
    }
    return bytes;
}

}  // namespace

void run_turn_bench(const MessageBench& bench) {
    const std::vector<int> cores = cores_of_ranks(bench.communicator);
    const auto on_core = static_cast<int>(std::count(cores.begin(), cores.end(), cores.front()));
    const int ranks = bench.communicator.world_size(), rank = bench.communicator.world_rank();
    if (cores.front() < 0 || on_core < 2 || ranks % on_core != 0) {
        return;
    }
    const int distance = ranks / on_core;
    const std::unique_ptr<Communicator> ring = bench.make_communicator(ring_of_cores(ranks, distance));
    std::vector<TimedTask> tasks;
    for (const int layers : {1, 2, 4, 8}) {
        for (const bool all : {false, true}) {
            for (const bool is_pass : {false, true}) {
                TimedTask& task = tasks.emplace_back();
                task.measurement.kind = "host";
                task.measurement.name = is_pass ? "pass" : "turn";
                task.measurement.bytes = layers * layer_bytes();
                task.measurement.active = all ? on_core : 1;
                task.measurement.ranks = on_core;
                task.measurement.nodes = 1;
                task.across = AcrossRanks::kMedian;
                task.prepare = [&ring = *ring, rank, distance, layers, all, is_pass, on_core] {
                    TimedPart part;
                    part.takes_part = rank % distance == 0;
                    if (!part.takes_part) {
                        return part;
                    }
                    const bool computes = all || rank == 0;
                    auto turns = std::make_shared<Turns>(ring, rank == 0, computes, layers);
                    part.meet = [turns] { turns->meet(); };
                    part.run = [turns, rank, computes, all, is_pass, on_core](int rounds) {
                        const Turns::Times times = turns->run(rounds);
                        if (is_pass) {
                            const double turns_s = times.turn_s * (all ? on_core : 1);
                            return rank == 0 ? std::max(0.0, times.round_s - turns_s) / on_core : -1;
                        }
                        return computes ? times.turn_s : -1;
                    };
                    return part;
                };
            }
        }
    }
    run_timed_tasks(bench, std::move(tasks));
}

}  // namespace auspex
