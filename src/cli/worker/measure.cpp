/// @file Kernels on rank 0 alone, then what ranks share and what they send one another; rank 0 writes.
#include "cli/worker/measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "compare/fit/cost_models/cache_sizes.hpp"
#include "exec/mpi/mpi_communicator.hpp"
#include "exec/run/core_probe.hpp"
#include "exec/run/process_binding.hpp"
#include "exec/system/caches.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/cores.hpp"
#include "exec/transport/one_group.hpp"
#include "launch/input_files.hpp"
#include "launch/run_folder.hpp"
#include "microbench/cache_sweep.hpp"
#include "microbench/context_switch_bench.hpp"
#include "microbench/kernel_bench.hpp"
#include "microbench/message_bench.hpp"
#include "microbench/sharing_bench.hpp"
#include "microbench/trials.hpp"
#include "models/core_speed.hpp"
#include "models/cpu/cache.hpp"

namespace auspex::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Every rank's text, on every rank.
std::vector<std::string> gather_texts(exec::Communicator& communicator, const std::string& own) {
    const int ranks = communicator.world_size();
    const auto bytes_of = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    std::vector<std::string> texts;
    for (int from = 0; from < ranks; ++from) {
        if (from == communicator.world_rank()) {
            for (int to = 0; to < ranks; ++to) {
                if (to != from) {
                    communicator.send_bytes(to, bytes_of(own));
                }
            }
            texts.push_back(own);
        } else {
            const std::vector<std::byte> data = communicator.receive_bytes(from);
            std::string text(data.size(), ' ');
            std::memcpy(text.data(), data.data(), data.size());
            texts.push_back(std::move(text));
        }
    }
    return texts;
}

/// For each text the number of the first that is the same, counted among those that differ.
std::vector<int> numbered(const std::vector<std::string>& texts) {
    std::vector<std::string> known;
    std::vector<int> numbers;
    for (const std::string& text : texts) {
        const auto at = std::find(known.begin(), known.end(), text);
        numbers.push_back(static_cast<int>(at - known.begin()));
        if (at == known.end()) {
            known.push_back(text);
        }
    }
    return numbers;
}

int count_of(const std::vector<int>& numbers) { return *std::max_element(numbers.begin(), numbers.end()) + 1; }

/// One launch on one rank.
class Measuring {
 public:
    Measuring(const workflows::MeasureTask& task, const exec::MpiSession& session)
        : task_(task),
          stack_(models::load_stack(launch::load_document("stack", task.stack, {}))),
          computer_(exec::this_computer()),
          cores_(static_cast<int>(exec::allowed_cores().size())) {
        exec::bind_rank(stack_, session.rank());
        communicator_ = make(exec::one_group(session.size(), "ranks that measure"));
        nodes_ = numbered(gather_texts(*communicator_, launch::own_host()));
        computers_ = numbered(gather_texts(*communicator_, computer_.kernel));
        if (session.rank() == 0) {
            file_ = std::make_unique<workflows::MeasurementFile>(task.file);
        }
    }

    void run() {
        write_computer();
        sizes_ = memory_sizes();
        if (task_.kernels && file_) {
            time_kernels();
        }
        microbench::BenchSetup bench{*communicator_,
                                     [this](const models::Layout& layout) { return make(layout); },
                                     nodes_,
                                     0,
                                     sizes_,
                                     task_.undisturbed_probe_s,
                                     [this](const models::Measurement& row) { return file_->has(row); },
                                     [this](const models::Measurement& row) { file_->append(row); }};
        if (task_.sharing && count_of(computers_) == 1) {
            constexpr double kTurns = 0.4;  // of the time for sharing
            bench.budget_s = (1 - kTurns) * task_.sharing_s;
            run_sharing_bench(bench);
            bench.budget_s = kTurns * task_.sharing_s;
            run_context_switch_bench(bench);
        }
        if (task_.messages) {
            bench.budget_s = task_.messages_s;
            run_message_bench(bench);
        }
        communicator_->barrier(models::GroupKind::kWorld);
    }

 private:
    [[nodiscard]] std::unique_ptr<exec::Communicator> make(const models::Layout& layout) const {
        return make_mpi_communicator(layout, exec::transport_of(stack_));
    }

    void write_computer() {
        if (!file_) {
            return;
        }
        models::Measurement row;
        row.kind = "host";
        row.source = computer_.model + ", " + exec::today();
        const exec::ReportedCaches reported = exec::reported_caches();
        for (const auto& [name, bytes] :
             {std::pair("own_cache", reported.own_bytes), std::pair("last_level_cache", reported.last_level_bytes)}) {
            row.name = name;
            row.bytes = bytes;
            if (bytes > 0) {
                add(row);
            }
        }
        row.name = "computer";
        row.bytes = computer_.memory_bytes;
        row.active = cores_;
        row.ranks = communicator_->world_size();
        row.nodes = count_of(nodes_);
        row.groups = static_cast<double>(row.nodes / count_of(computers_));
        add(row);
    }
    void add(const models::Measurement& row) {
        if (!file_->has(row)) {
            file_->append(row);
        }
    }

    /// Cache sizes that rank 0 measures, or finds in the file; all ranks take the same.
    microbench::MemorySizes memory_sizes() {
        constexpr double kShare = 0.25, kMaxArrayBytes = 1024.0 * 1024 * 1024;  // of the memory for each rank's arrays
        const int ranks = communicator_->world_size() / count_of(computers_);
        microbench::MemorySizes sizes;
        // The least of all: control groups differ, and all ranks are to measure the same.
        double least = -std::min(kMaxArrayBytes, kShare * computer_.memory_bytes / std::max(1, ranks));
        communicator_->all_reduce(models::GroupKind::kWorld, &least, 1, exec::ElementType::kDouble,
                                  exec::ReduceOp::kMax);
        sizes.max_bytes = -least;
        std::array<double, 2> ends{};
        if (file_) {
            microbench::run_cache_sweep(
                sizes.max_bytes, [this](const models::Measurement& row) { return file_->has(row); },
                [this](const models::Measurement& row) { file_->append(row); });
            const fit::CacheSizes caches = fit::cache_sizes(file_->rows());
            ends = {caches.own.bytes(models::kAssumedOwnCacheBytes),
                    caches.last_level.bytes(models::kAssumedLastLevelBytes)};
        }
        communicator_->all_reduce(models::GroupKind::kWorld, ends.data(), ends.size(), exec::ElementType::kDouble,
                                  exec::ReduceOp::kMax);
        sizes.own_cache_bytes = ends.front();
        sizes.last_level_cache_bytes = ends.back();
        return sizes;
    }

    /// Working sets that operands from memory come out of, over the last-level cache: one that misses everything, and
    /// others that show where missing begins.
    static constexpr double kLargeSet = 2.5, kSmallerSets[] = {0.15, 0.3, 0.6, 1};
    static constexpr double kLargeCall = 6e5;

    void time_kernels() {
        std::vector<Timing> wanted;
        for (const std::string& name : task_.precisions) {
            const models::CpuPrecision precision = name == to_string(models::CpuPrecision::kBf16)
                                                       ? models::CpuPrecision::kBf16
                                                       : models::CpuPrecision::kFp32;
            const double cache = sizes_.last_level_cache_bytes;
            for (const models::CpuCall& call : microbench::calibration_calls()) {
                wanted.push_back({call, precision, microbench::OperandLocation::kCache, 0});
            }
            for (const models::CpuCall& call : microbench::memory_calls()) {
                const double bytes = cpu_bytes(call, precision), fewest = microbench::kMinOperandSets * bytes;
                const double large = std::max(fewest, std::min(kLargeSet * cache, sizes_.max_bytes));
                wanted.push_back({call, precision, microbench::OperandLocation::kMemory, large});
                for (const double ring : kSmallerSets) {
                    if (precision == models::CpuPrecision::kFp32 && bytes < kLargeCall && ring * cache >= fewest &&
                        ring * cache < large) {
                        wanted.push_back({call, precision, microbench::OperandLocation::kMemory, ring * cache});
                    }
                }
            }
        }
        std::erase_if(wanted,
                      [this](const Timing& t) { return file_->has(row_of(t.call, t.precision, t.ring_bytes, {})); });
        // What is done is written portion by portion.
        constexpr std::size_t kPortion = 128;
        const auto begin = Clock::now();
        for (std::size_t first = 0; first < wanted.size(); first += kPortion) {
            const std::size_t end = std::min(first + kPortion, wanted.size());
            const double left = static_cast<double>(end - first) / static_cast<double>(wanted.size() - first);
            const std::span<const Timing> portion = std::span(wanted).subspan(first, end - first);
            const std::vector<microbench::Trial> trials =
                trials_of(portion, left * (task_.kernels_s - seconds_since(begin)));
            for (std::size_t i = 0; i < portion.size(); ++i) {
                const auto& [call, precision, location, ring_bytes] = portion[i];
                file_->append(row_of(call, precision, ring_bytes, trials[i]));
            }
        }
    }

    struct Timing {
        models::CpuCall call;
        models::CpuPrecision precision;
        microbench::OperandLocation location;
        double ring_bytes;  ///< of operands from memory: bytes gone through before they are used again
    };

    /// Trials of each, round-robin, so that another process that slows the core for seconds disturbs few trials of any
    /// one: two undisturbed ones if the budget allows, and three trials at least.
    std::vector<microbench::Trial> trials_of(std::span<const Timing> wanted, double budget_s) {
        constexpr int kMinTrials = 3, kMaxTrials = 10, kUndisturbedTrials = 2;
        constexpr double kShortest_s = 0.005, kKept = 0.2;  // of the budget, for trials beyond the third
        const auto begin = Clock::now();
        std::vector<std::vector<microbench::Trial>> trials(wanted.size());
        for (int trial = 0; trial < kMaxTrials && (trial < kMinTrials || seconds_since(begin) < budget_s); ++trial) {
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                if (trial >= kMinTrials &&
                    std::ranges::count_if(trials[i], &microbench::Trial::is_undisturbed) >= kUndisturbedTrials) {
                    continue;
                }
                const double left = static_cast<double>(wanted.size()) * (kMinTrials - trial) - static_cast<double>(i);
                const double share = ((1 - kKept) * budget_s - seconds_since(begin)) / std::max(left, 1.0);
                trials[i].push_back(
                    trial_of(wanted[i], trial < kMinTrials ? std::max(kShortest_s, share) : kShortest_s));
            }
        }
        std::vector<microbench::Trial> all;
        std::ranges::transform(trials, std::back_inserter(all), microbench::combined);
        return all;
    }
    microbench::Trial trial_of(const Timing& wanted, double budget_s) {
        microbench::MemorySizes sizes = sizes_;
        sizes.last_level_cache_bytes = wanted.ring_bytes > 0 ? wanted.ring_bytes / 2 : sizes.last_level_cache_bytes;
        const double before_s = probe_.seconds();
        const microbench::Timing timing = time_kernel(wanted.call, wanted.precision, wanted.location, sizes, budget_s);
        const double probe_s = std::max(before_s, probe_.seconds());
        return {timing, probe_s, probe_s <= task_.undisturbed_probe_s || task_.undisturbed_probe_s == 0};
    }
    static models::Measurement row_of(const models::CpuCall& call, models::CpuPrecision precision, double ring_bytes,
                                      const microbench::Trial& trial) {
        models::Measurement row;
        row.kind = "kernel";
        row.name = to_string(call.kernel);
        row.precision = to_string(precision);
        row.where = ring_bytes > 0 ? "memory" : "cache";
        row.bytes = ring_bytes;
        row.rows = call.rows;
        row.columns = call.columns;
        row.depth = call.depth;
        row.groups = call.groups;
        row.seconds = trial.seconds;
        row.spread = trial.spread;
        row.count = std::max(1, trial.count);
        row.source = models::own_source(trial.probe_s);
        return row;
    }

    const workflows::MeasureTask& task_;
    models::Stack stack_;
    exec::Computer computer_;
    microbench::MemorySizes sizes_;
    int cores_;
    exec::CoreProbe probe_;
    std::unique_ptr<exec::Communicator> communicator_;
    std::vector<int> nodes_, computers_;                ///< by rank
    std::unique_ptr<workflows::MeasurementFile> file_;  ///< on rank 0
};

}  // namespace

int run_measure_role(const std::vector<std::string>& arguments, const exec::MpiSession& session) {
    const workflows::MeasureTask task = workflows::measure_task(arguments);
    Measuring(task, session).run();
    return 0;
}

}  // namespace auspex::cli
