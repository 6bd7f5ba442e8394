/// @file A token that goes round among the ranks of a core.
#include "microbench/context_switch_bench.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "microbench/group_timing.hpp"
#include "microbench/kernel_operands.hpp"

namespace auspex::microbench {
namespace {

constexpr int kToken = 1;

/// One rank's part of the ring, and what it runs while it holds the token.
class Turns {
 public:
    Turns(exec::Communicator& ring, bool is_first, bool computes, int layers) : ring_(ring), is_first_(is_first) {
        for (int layer = 0; computes && layer < layers; ++layer) {
            for (const models::CpuCall& call : context_switch_calls()) {
                kernels_.push_back(make_operands(call, models::CpuPrecision::kFp32, kernels_.size() + 1));
            }
        }
    }

    /// All have come.
    void synchronize() {
        for (int round = 0; round < 2; ++round) {
            static_cast<void>(go_round(false));
        }
    }

    struct Times {
        double turn_s = 0;  ///< of this rank, the mean
        double pass_s = 0;  ///< of rank 0: what is left of a round without all turns
    };

    Times run(int rounds) {
        Times times;
        const double begin = steady_seconds();
        double all_turns_s = 0;
        for (int round = 0; round < rounds; ++round) {
            times.turn_s += go_round(true) / rounds;
            all_turns_s += turns_s_;
        }
        times.pass_s = std::max(0.0, steady_seconds() - begin - all_turns_s) / rounds;
        return times;
    }

 private:
    /// Seconds of this rank's turn; rank 0 has those of all of the round in turns_s_.
    double go_round(bool runs) {
        if (!is_first_) {
            take();
        }
        const double begin = steady_seconds();
        for (std::size_t i = 0; runs && i < kernels_.size(); ++i) {
            kernels_[i].run();
        }
        const double turn_s = steady_seconds() - begin;
        turns_s_ = is_first_ ? turn_s : turns_s_ + turn_s;
        pass_on();
        if (is_first_) {
            take();
        }
        return turn_s;
    }
    void take() {
        ring_.receive(models::GroupKind::kPreviousStage, std::as_writable_bytes(std::span(&turns_s_, 1)), kToken);
    }
    void pass_on() {
        const std::array<std::span<const std::byte>, 1> parts{std::as_bytes(std::span(&turns_s_, 1))};
        ring_.send(models::GroupKind::kNextStage, parts, kToken);
    }

    exec::Communicator& ring_;
    bool is_first_;
    std::vector<OperandSet> kernels_;
    double turns_s_ = 0;  ///< the token: what all turns of the round so far took
};

double layer_bytes() {
    double bytes = 0;
    for (const models::CpuCall& call : context_switch_calls()) {
        bytes += cpu_bytes(call, models::CpuPrecision::kFp32);
    }
    return bytes;
}

}  // namespace

std::vector<models::CpuCall> context_switch_calls() {
    constexpr double kRows = 88, kWidth = 48, kHeads = 3;
    return {{.kernel = models::CpuKernel::kNormForward, .rows = kRows, .columns = kWidth},
            {.kernel = models::CpuKernel::kGemmForward, .rows = kRows, .columns = 3 * kWidth, .depth = kWidth},
            {.kernel = models::CpuKernel::kAttentionForward, .rows = kRows, .depth = kWidth / kHeads, .groups = kHeads},
            {.kernel = models::CpuKernel::kGemmForward, .rows = kRows, .columns = kWidth, .depth = kWidth},
            {.kernel = models::CpuKernel::kSwigluForward, .rows = kRows, .columns = kWidth},
            {.kernel = models::CpuKernel::kGemmInputGradient, .rows = kRows, .columns = kWidth, .depth = 3 * kWidth},
            {.kernel = models::CpuKernel::kGemmWeightGradient, .rows = kWidth, .columns = kWidth, .depth = kRows},
            {.kernel = models::CpuKernel::kNormBackward, .rows = kRows, .columns = kWidth}};
}

void run_context_switch_bench(const BenchSetup& bench) {
    const std::vector<int> cores = cores_of_ranks(bench.communicator);
    const auto on_core = static_cast<int>(std::count(cores.begin(), cores.end(), cores.front()));
    const int ranks = bench.communicator.world_size(), rank = bench.communicator.world_rank();
    if (cores.front() < 0 || on_core < 2 || ranks % on_core != 0) {
        return;
    }
    const int distance = ranks / on_core;
    const std::unique_ptr<exec::Communicator> ring = bench.make_communicator(stages_apart(ranks, distance));
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
                    part.synchronize = [turns] { turns->synchronize(); };
                    part.run = [turns, rank, computes, is_pass, on_core](int rounds) {
                        const Turns::Times times = turns->run(rounds);
                        if (is_pass) {
                            return rank == 0 ? times.pass_s / on_core : -1;
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

}  // namespace auspex::microbench
