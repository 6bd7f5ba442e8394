/// @file Probes: threads on cores, their clocks, and the kernel's.
#include "compare/probe.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "compare/statistics.hpp"
#include "exec/kernels/gemm.hpp"

namespace auspex {
namespace {

constexpr double kMostStolen = 0.05, kMostSlow = 1.15;

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    constexpr double kNano = 1e-9;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNano;
}

std::vector<int> own_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
            if (CPU_ISSET(core, &set)) {
                cores.push_back(static_cast<int>(core));
            }
        }
    }
    return cores;
}

/// The fixed work of one core: about 2 ms.
class Work {
 public:
    Work() : a_(kSide * kSide, 0.5F), b_(kSide * kSide, 0.25F), c_(kSide * kSide), large_(kLarge, 1.0F) {}

    void run() {
        for (int i = 0; i < kProducts; ++i) {
            linear_forward(kSide, kSide, kSide, a_.data(), b_.data(), c_.data());
        }
        for (float& value : large_) {
            value = value * kShrink + kGrow;
        }
    }

 private:
    static constexpr std::size_t kSide = 192, kLarge = std::size_t{2} << 20;  // 8 MiB
    static constexpr int kProducts = 20;
    static constexpr float kShrink = 0.5F, kGrow = 0.5F;  // keeps 1, so that no value becomes denormal
    std::vector<float> a_, b_, c_, large_;
};

bool bind_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

ProbeReading read_core(double budget_s, std::atomic<int>& waited_for) {
    constexpr std::size_t kFewest = 5;
    Work work;
    work.run();
    for (--waited_for; waited_for > 0;) {
        std::this_thread::yield();
    }
    std::vector<double> pieces;
    const double begin = seconds_of(CLOCK_MONOTONIC), own_begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double end = begin;
    for (double last = own_begin; pieces.size() < kFewest || end - begin < budget_s;) {
        work.run();
        const double now = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        pieces.push_back(now - last);
        last = now;
        end = seconds_of(CLOCK_MONOTONIC);
    }
    ProbeReading reading;
    reading.seconds = median(pieces);
    const double own = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own_begin;
    reading.stolen_share = std::clamp(1 - own / (end - begin), 0.0, 1.0);
    reading.worst_ratio = *std::max_element(pieces.begin(), pieces.end()) / reading.seconds;
    return reading;
}

/// Adds a line "cpuN user nice system idle iowait irq softirq steal …" in ticks. Interrupts are left out: they are
/// nobody's, and messages of our own children cause them.
void add_line(const std::string& line, double ticks_per_s, CoreClock& clock) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    words >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
    clock.busy_s += (user + nice + system) / ticks_per_s;
    clock.stolen_s += steal / ticks_per_s;
    ++clock.cores;
}

}  // namespace

std::vector<ProbeReading> probe_cores(double budget_s) {
    const std::vector<int> cores = own_cores();
    if (cores.empty()) {
        throw std::runtime_error("the cores of this process could not be read");
    }
    std::vector<ProbeReading> readings(cores.size());
    std::atomic<int> waited_for{static_cast<int>(cores.size())};
    std::atomic<bool> is_bound{true};
    // The kernels keep scratch memory by thread: threads of their own leave this one's as it is.
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i) {
        threads.emplace_back([&, i] {
            if (!bind_to(cores[i])) {
                is_bound = false;
            }
            readings[i] = read_core(budget_s, waited_for);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (!is_bound) {
        throw std::runtime_error("a probe could not be bound to a core");
    }
    return readings;
}

double probe_seconds(const std::vector<ProbeReading>& readings) {
    std::vector<double> seconds;
    for (const ProbeReading& reading : readings) {
        seconds.push_back(reading.seconds);
    }
    return median(seconds);
}

bool is_disturbed(const std::vector<ProbeReading>& readings, double reference_s) {
    return std::any_of(readings.begin(), readings.end(), [reference_s](const ProbeReading& reading) {
        return reading.stolen_share > kMostStolen || (reference_s > 0 && reading.seconds > kMostSlow * reference_s);
    });
}

CoreClock core_clock() {
    CoreClock clock;
    const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    const std::vector<int> cores = own_cores();
    std::ifstream stat("/proc/stat");
    for (std::string line; std::getline(stat, line);) {
        const bool is_own = std::any_of(cores.begin(), cores.end(), [&line](int core) {
            return line.starts_with("cpu" + std::to_string(core) + " ");
        });
        if (is_own) {
            add_line(line, ticks_per_s, clock);
        }
    }
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        getrusage(who, &usage);
        constexpr double kMicro = 1e-6;
        clock.children_s += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                            kMicro * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    clock.wall_s = seconds_of(CLOCK_MONOTONIC);
    return clock;
}

double share_of_others(const CoreClock& begin, const CoreClock& end) {
    const double all = (end.wall_s - begin.wall_s) * end.cores;
    if (all <= 0) {
        return 0;
    }
    const double others =
        end.busy_s - begin.busy_s + end.stolen_s - begin.stolen_s - (end.children_s - begin.children_s);
    return std::clamp(others / all, 0.0, 1.0);
}

}  // namespace auspex
