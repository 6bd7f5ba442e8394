/// @file What ranks that work at the same time share: caches, memory, time slices of a core.
#include "microbench/sharing_bench.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "microbench/group_timing.hpp"
#include "microbench/kernel_bench.hpp"

namespace auspex::microbench {
namespace {

constexpr double kInterval_s = 60e-3;
constexpr std::size_t kKiB = 1024, kSmallestCopy = 128 * kKiB, kLargestCopy = 128 * 1024 * kKiB;

/// Calls one after another for a fixed time, whatever their number, so that no rank ends before the others.
template <typename Call>
double seconds_per_call(const Call& call) {
    const double begin = steady_seconds();
    double now = begin;
    int calls = 0;
    do {
        call();
        ++calls;
        now = steady_seconds();
    } while (now - begin < kInterval_s);
    return (now - begin) / calls;
}

class Bench {
 public:
    explicit Bench(const BenchSetup& bench) : bench_(bench) {}

    void run() {
        for (const models::CpuCall& call : sharing_calls()) {
            if (kMinOperandSets * cpu_bytes(call, models::CpuPrecision::kFp32) <= bench_.sizes.max_bytes) {
                add_kernel(call);
            }
        }
        add_copies();
        if (const int others = peers_on_core(); max_over_ranks(others) > 0) {
            add_quantum(others);
        }
        run_timed_tasks(bench_, std::move(tasks_));
    }

 private:
    TimedTask& add(const char* kind, std::string name) {
        TimedTask& task = tasks_.emplace_back();
        task.measurement.kind = kind;
        task.measurement.name = std::move(name);
        task.measurement.active = task.measurement.ranks = bench_.communicator.world_size();
        task.measurement.nodes = nodes_of(bench_, task.measurement.ranks);
        task.across = AcrossRanks::kMedian;
        task.has_fixed_length = true;
        return task;
    }
    /// A part that begins when all are there; `run` gives the seconds of one call.
    template <typename Run>
    [[nodiscard]] TimedPart part_of(Run run) const {
        TimedPart part;
        part.takes_part = true;
        part.synchronize = [&world = bench_.communicator] { world.barrier(models::GroupKind::kWorld); };
        part.run = [run = std::move(run)](int) mutable { return run(); };
        return part;
    }

    void add_kernel(const models::CpuCall& call) {
        TimedTask& task = add("kernel", std::string(to_string(call.kernel)));
        task.measurement.precision = to_string(models::CpuPrecision::kFp32);
        task.measurement.where = "cache";
        task.measurement.rows = call.rows;
        task.measurement.columns = call.columns;
        task.measurement.depth = call.depth;
        task.measurement.groups = call.groups;
        task.prepare = [this, call] {
            std::shared_ptr<PreparedKernel> kernel =
                prepare_kernel(call, models::CpuPrecision::kFp32, OperandLocation::kCache, bench_.sizes);
            return part_of([kernel] { return seconds_per_call([&kernel] { kernel->run(); }); });
        };
    }

    void add_copies() {
        std::size_t largest =
            std::max(kLargestCopy, std::bit_ceil(static_cast<std::size_t>(4 * bench_.sizes.last_level_cache_bytes)));
        while (largest > kSmallestCopy && 1.25 * static_cast<double>(largest) > bench_.sizes.max_bytes) {
            largest /= 2;
        }
        for (std::size_t bytes = kSmallestCopy; bytes <= largest; bytes *= 2) {
            add_copy(bytes);
        }
        for (const std::size_t bytes : {largest / 4 * 3, largest / 4 * 5}) {  // few sets are larger than the cache
            add_copy(bytes);
        }
    }

    void add_copy(std::size_t bytes) {
        TimedTask& task = add("host", "copy");
        task.measurement.bytes = static_cast<double>(bytes);
        task.prepare = [this, bytes] {
            return part_of([bytes, data = std::vector<std::byte>(bytes, std::byte{1})]() mutable {
                return seconds_per_call([&] { std::memcpy(data.data(), data.data() + bytes / 2, bytes / 2); });
            });
        };
    }

    void add_quantum(int others) {
        TimedTask& task = add("host", "slice");
        task.prepare = [this, others] { return part_of([others] { return others > 0 ? pause_s() / others : -1; }); };
    }
    /// Median pause of a rank that never waits, negative where there was none.
    static double pause_s() {
        constexpr double kLong_s = 50e-6, kWatch_s = 0.3;
        std::vector<double> pauses;
        const double begin = steady_seconds();
        for (double before = begin, now = begin; now - begin < kWatch_s; before = now) {
            now = steady_seconds();
            if (now - before > kLong_s) {
                pauses.push_back(now - before);
            }
        }
        if (pauses.empty()) {
            return -1;
        }
        const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() / 2);
        std::nth_element(pauses.begin(), middle, pauses.end());
        return *middle;
    }

    /// How many other ranks of this rank's computer are bound to its core; 0 if this rank is not bound.
    [[nodiscard]] int peers_on_core() const;
    [[nodiscard]] int max_over_ranks(int number) const {
        double value = number;
        bench_.communicator.all_reduce(models::GroupKind::kWorld, &value, 1, exec::ElementType::kDouble,
                                       exec::ReduceOp::kMax);
        return static_cast<int>(value);
    }

    const BenchSetup& bench_;
    std::vector<TimedTask> tasks_;
};

int Bench::peers_on_core() const {
    const std::vector<int> cores = cores_of_ranks(bench_.communicator);
    const int own = cores[static_cast<std::size_t>(bench_.communicator.world_rank())];
    return own < 0 ? 0 : static_cast<int>(std::count(cores.begin(), cores.end(), own)) - 1;
}

}  // namespace

std::vector<models::CpuCall> sharing_calls() {
    constexpr double kKi = 1024, kMi = 1024 * 1024;
    return {{.kernel = models::CpuKernel::kGemmForward, .rows = 248, .columns = 240, .depth = 272},
            {.kernel = models::CpuKernel::kGemmForward, .rows = 72, .columns = 960, .depth = 240},
            {.kernel = models::CpuKernel::kGemmWeightGradient, .rows = 496, .columns = 528, .depth = 504},
            {.kernel = models::CpuKernel::kSwigluForward, .rows = 1048, .columns = 496},
            {.kernel = models::CpuKernel::kNormForward, .rows = 1048, .columns = 240},
            {.kernel = models::CpuKernel::kAttentionForward, .rows = 136, .depth = 32, .groups = 7},
            {.kernel = models::CpuKernel::kAdamW, .rows = 1, .columns = 1e6},
            {.kernel = models::CpuKernel::kCopy, .rows = 1, .columns = 60 * kKi},
            {.kernel = models::CpuKernel::kCopy, .rows = 1, .columns = 4000 * kKi},
            {.kernel = models::CpuKernel::kCopy, .rows = 1, .columns = 62 * kMi}};
}

void run_sharing_bench(const BenchSetup& bench) { Bench(bench).run(); }

}  // namespace auspex::microbench
