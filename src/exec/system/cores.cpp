/// @file sched_getaffinity(2) with masks as long as the kernel's.
#include "exec/system/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <thread>

#include "exec/system/control_groups.hpp"

namespace auspex::exec {
namespace {

/// A mask of cores, as large as is asked for.
class CoreMask {
 public:
    explicit CoreMask(std::size_t cores) : set_(CPU_ALLOC(cores)), bytes_(CPU_ALLOC_SIZE(cores)), cores_(cores) {
        CPU_ZERO_S(bytes_, set_);
    }
    CoreMask(const CoreMask&) = delete;
    CoreMask& operator=(const CoreMask&) = delete;
    ~CoreMask() { CPU_FREE(set_); }

    bool fill(const MaskReader& read) { return read(bytes_, set_) == 0; }
    bool apply() { return sched_setaffinity(0, bytes_, set_) == 0; }
    void add(std::size_t core) { CPU_SET_S(core, bytes_, set_); }
    [[nodiscard]] std::vector<int> cores() const {
        std::vector<int> found;
        for (std::size_t core = 0; core < cores_; ++core) {
            if (CPU_ISSET_S(core, bytes_, set_)) {
                found.push_back(static_cast<int>(core));
            }
        }
        return found;
    }

 private:
    cpu_set_t* set_;
    std::size_t bytes_, cores_;
};

std::size_t cores_within(double limit, std::size_t all) {
    return std::min(all,
                    limit < static_cast<double>(all) ? std::max<std::size_t>(1, static_cast<std::size_t>(limit)) : all);
}

}  // namespace

std::vector<int> affinity_cores() {
    return affinity_cores([](std::size_t bytes, cpu_set_t* mask) { return sched_getaffinity(0, bytes, mask); });
}

std::vector<int> affinity_cores(const MaskReader& read) {
    constexpr std::size_t kFirst = 1024, kMax = 1 << 20;
    for (std::size_t cores = kFirst; cores <= kMax; cores *= 2) {
        CoreMask mask(cores);
        if (mask.fill(read)) {
            return mask.cores();
        }
        if (errno != EINVAL) {
            break;
        }
    }
    std::vector<int> all;
    for (int core = 0; core < std::max(1, static_cast<int>(std::thread::hardware_concurrency())); ++core) {
        all.push_back(core);
    }
    return all;
}

std::vector<int> allowed_cores() {
    std::vector<int> cores = affinity_cores();
    cores.resize(cores_within(group_limits().cores, cores.size()));
    return cores;
}

bool pin_to_core(int core) {
    const auto number = static_cast<std::size_t>(core);
    CoreMask mask(number + 1);
    mask.add(number);
    return mask.apply();
}

std::string note_of_limited_cores() {
    const std::size_t all = affinity_cores().size();
    const double limit = group_limits().cores;
    if (limit >= static_cast<double>(all)) {
        return "";
    }
    std::ostringstream text;
    text << "the control group of this process has the time of " << limit << " of " << all
         << (all > 1 ? " cores: " : " core: ");
    if (limit < 1) {
        text << "whatever runs is stopped for part of each tenth of a second, and what is measured is not what a core "
                "can do";
    } else {
        text << "ranks take " << cores_within(limit, all) << " of them";
    }
    return text.str();
}

}  // namespace auspex::exec
