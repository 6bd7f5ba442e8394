/// @file Probes: threads on cores, their clocks, and the kernel's.
#include "microbench/probe.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "exec/run/core_probe.hpp"
#include "exec/system/cores.hpp"

namespace auspex::microbench {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxStolen = 0.2, kMaxSlowdown = 2;
constexpr double kMaxBackgroundShare = 0.05, kMaxBackground_s = 0.03;
constexpr int kInit = 1;

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    constexpr double kNano = 1e-9;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNano;
}

ProbeReading read_core(double budget_s, std::atomic<int>& waited_for) {
    constexpr std::size_t kMin = 5;
    exec::CoreProbe probe;
    static_cast<void>(probe.seconds());
    for (--waited_for; waited_for > 0;) {
        std::this_thread::yield();
    }
    std::vector<double> pieces;
    const double begin = seconds_of(CLOCK_MONOTONIC), own_begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double end = begin;
    while (pieces.size() < kMin || end - begin < budget_s) {
        pieces.push_back(probe.seconds());
        end = seconds_of(CLOCK_MONOTONIC);
    }
    ProbeReading reading;
    reading.seconds = median(pieces);
    const double own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own_begin;
    reading.stolen_share = std::clamp(1 - own / (end - begin), 0.0, 1.0);
    return reading;
}

/// Sum of "steal" in the lines "cpuN user nice system idle iowait irq softirq steal …" of these cores.
double stolen_ticks(const std::vector<int>& cores) {
    constexpr int kWordsBefore = 7;
    double sum = 0;
    std::ifstream stat("/proc/stat");
    for (std::string line; std::getline(stat, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (std::none_of(cores.begin(), cores.end(), [&](int core) { return word == "cpu" + std::to_string(core); })) {
            continue;
        }
        for (int i = 0; i < kWordsBefore; ++i) {
            words >> word;
        }
        double steal = 0;
        words >> steal;
        sum += steal;
    }
    return sum;
}

/// Numbers of a process's line in /proc/PID/stat, behind its name and state; empty: it has ended.
std::vector<double> numbers_of(int process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    constexpr std::size_t kState = 3;              // ") S"
    const std::size_t name_end = text.rfind(')');  // names may have brackets and spaces in them
    if (name_end == std::string::npos) {
        return {};
    }
    std::istringstream words(text.substr(std::min(text.size(), name_end + kState)));
    return {std::istream_iterator<double>(words), std::istream_iterator<double>()};
}

/// What a process's threads have run and waited for a core: /proc/PID/task/TID/schedstat, nanoseconds; 0 where the
/// kernel does not tell.
double runnable_s(int process) {
    constexpr double kNano = 1e-9;
    double sum = 0;
    std::error_code status;
    for (fs::directory_iterator thread("/proc/" + std::to_string(process) + "/task", status), end;
         !status && thread != end; thread.increment(status)) {
        std::ifstream in(thread->path() / "schedstat");
        double ran = 0, waited = 0;
        if (in >> ran >> waited) {
            sum += (ran + waited) * kNano;
        }
    }
    return sum;
}

/// Of this system. `is_background` says what can be told of each by itself.
std::map<int, ProcessClock> running_processes(const std::vector<int>& cores, double ticks_per_s) {
    // proc(5), from the parent on.
    enum : std::size_t {
        kParent = 0,
        kFlags = 5,
        kUser = 10,
        kSystem,
        kChildUser,
        kChildSystem,
        kBegan = 18,
        kCore = 35
    };
    constexpr std::uint64_t kKernelThread = 0x0020'0000;  // PF_KTHREAD
    std::map<int, ProcessClock> processes;
    std::error_code status;
    for (fs::directory_iterator entry("/proc", status), end; !status && entry != end; entry.increment(status)) {
        const std::string name = entry->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        const int process = std::stoi(name);
        const std::vector<double> numbers = numbers_of(process);
        if (numbers.size() <= kCore) {
            continue;
        }
        ProcessClock& clock = processes[process];
        clock.parent = static_cast<int>(numbers[kParent]);
        clock.began_s = numbers[kBegan] / ticks_per_s;
        clock.own_s = (numbers[kUser] + numbers[kSystem]) / ticks_per_s;
        clock.children_s = (numbers[kChildUser] + numbers[kChildSystem]) / ticks_per_s;
        const bool is_kernel = (static_cast<std::uint64_t>(numbers[kFlags]) & kKernelThread) != 0;
        const auto core = std::find(cores.begin(), cores.end(), static_cast<int>(numbers[kCore]));
        clock.is_background = !is_kernel && core != cores.end();
        if (clock.is_background) {
            clock.core = static_cast<int>(core - cores.begin());
            clock.runnable_s = runnable_s(process);
        }
    }
    return processes;
}

/// True for this process and those below it.
bool is_ours(int process, const std::map<int, ProcessClock>& processes) {
    const int self = getpid();
    for (auto found = processes.find(process); found != processes.end(); found = processes.find(process)) {
        if (process == self) {
            return true;
        }
        process = found->second.parent;
    }
    return false;
}

/// The clock of the same process at another time; null: it was not there.
const ProcessClock* same_process(const CoreClock& clock, int number, const ProcessClock& process) {
    const auto found = clock.processes.find(number);
    return found != clock.processes.end() && found->second.began_s == process.began_s ? &found->second : nullptr;
}

/// What processes that have ended since had used before the first reading, by the number of the one whose children_s
/// has it now: their nearest ancestor that still runs.
std::map<int, double> times_inherited(const CoreClock& begin, const CoreClock& end) {
    std::map<int, double> inherited_s;
    for (const auto& [number, process] : begin.processes) {
        if (same_process(end, number, process) != nullptr) {
            continue;
        }
        int heir = process.parent;
        for (auto found = begin.processes.find(heir);
             found != begin.processes.end() && same_process(end, heir, found->second) == nullptr;
             found = begin.processes.find(heir)) {
            heir = found->second.parent;
        }
        inherited_s[heir] += process.own_s + process.children_s;
    }
    return inherited_s;
}

}  // namespace

std::vector<ProbeReading> probe_cores(double budget_s) {
    const std::vector<int> cores = exec::allowed_cores();
    std::vector<ProbeReading> readings(cores.size());
    std::atomic<int> waited_for{static_cast<int>(cores.size())};
    // The kernels keep scratch memory by thread: threads of their own leave this one's as it is.
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i) {
        threads.emplace_back([&, i] {
            exec::pin_to_core(
                cores[i]);  // where that is refused, the kernel spreads as many threads as there are cores
            readings[i] = read_core(budget_s, waited_for);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return readings;
}

bool is_disturbed(const std::vector<ProbeReading>& readings, double reference_s) {
    return std::any_of(readings.begin(), readings.end(), [reference_s](const ProbeReading& reading) {
        return reading.stolen_share > kMaxStolen || (reference_s > 0 && reading.seconds > kMaxSlowdown * reference_s);
    });
}

double taken_share(const std::vector<ProbeReading>& readings, double reference_s) {
    double taken = 0;
    for (const ProbeReading& reading : readings) {
        const double speed = reference_s > 0 ? std::min(1.0, reference_s / reading.seconds) : 1;
        taken += (1 - (1 - reading.stolen_share) * speed) / static_cast<double>(readings.size());
    }
    return taken;
}

CoreClock core_clock() {
    CoreClock clock;
    const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    const std::vector<int> cores = exec::allowed_cores();
    clock.processes = running_processes(cores, ticks_per_s);
    for (auto& [number, process] : clock.processes) {
        process.is_background = process.is_background && !is_ours(number, clock.processes);
    }
    clock.cores = static_cast<int>(cores.size());
    clock.stolen_s = stolen_ticks(cores) / ticks_per_s;
    clock.wall_s = seconds_of(CLOCK_MONOTONIC);
    return clock;
}

double background_share(const CoreClock& begin, const CoreClock& end) {
    const double all = (end.wall_s - begin.wall_s) * end.cores;
    if (all <= 0) {
        return 0;
    }
    const std::map<int, double> inherited_s = times_inherited(begin, end);
    double others = end.stolen_s - begin.stolen_s;
    for (const auto& [number, process] : end.processes) {
        const ProcessClock* before = same_process(begin, number, process);
        if (!process.is_background || (before == nullptr && process.parent == kInit)) {
            continue;
        }
        others += process.own_s - (before != nullptr ? before->own_s : 0);
        if (number != kInit) {  // its children are anybody's
            const double children = process.children_s - (before != nullptr ? before->children_s : 0);
            const auto inherited = inherited_s.find(number);
            others += std::max(0.0, children - (inherited != inherited_s.end() ? inherited->second : 0));
        }
    }
    return std::clamp(others / all, 0.0, 1.0);
}

std::vector<std::string> notes_of_surroundings() {
    std::vector<std::string> notes;
    if (std::string limited = exec::note_of_limited_cores(); !limited.empty()) {
        notes.push_back(std::move(limited));
    }
    if (numbers_of(kInit).empty()) {
        notes.emplace_back(
            "/proc does not show the processes of others: what runs beside is told by slower cores alone");
    }
    return notes;
}

std::vector<int> background_by_core(const CoreClock& begin, const CoreClock& end) {
    std::vector<double> wanted(static_cast<std::size_t>(end.cores));
    for (const auto& [number, process] : end.processes) {
        if (process.is_background && number != kInit) {
            const ProcessClock* before = same_process(begin, number, process);
            // A thread that has ended takes its time along.
            wanted.at(static_cast<std::size_t>(process.core)) +=
                std::max(0.0, process.runnable_s - (before != nullptr ? before->runnable_s : 0));
        }
    }
    std::vector<int> others;
    const double wall_s = end.wall_s - begin.wall_s;
    for (const double seconds : wanted) {
        others.push_back(wall_s > 0 ? static_cast<int>(std::lround(seconds / wall_s)) : 0);
    }
    return std::all_of(others.begin(), others.end(), [](int count) { return count == 0; }) ? std::vector<int>{}
                                                                                           : others;
}

bool had_background_load(const CoreClock& begin, const CoreClock& end) {
    const double share = background_share(begin, end);
    return share > kMaxBackgroundShare && share * (end.wall_s - begin.wall_s) * end.cores > kMaxBackground_s;
}

}  // namespace auspex::microbench
