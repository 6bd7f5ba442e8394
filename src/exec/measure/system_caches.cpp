/// @file Reads /sys: "32768K".
#include "exec/measure/system_caches.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace auspex {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB;

}  // namespace

std::vector<SystemCache> system_caches() {
    constexpr int kMostCaches = 10;
    std::vector<SystemCache> caches;
    for (int i = 0; i < kMostCaches; ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
        SystemCache cache;
        char unit = 0;
        if (std::ifstream(folder + "level") >> cache.level && std::ifstream(folder + "size") >> cache.bytes >> unit) {
            cache.bytes *= unit == 'M' ? kMiB : unit == 'K' ? kKiB : 1;
            caches.push_back(cache);
        }
    }
    return caches;
}

double private_cache_bytes() {
    constexpr int kOwnLevel = 2;
    const std::vector<SystemCache> caches = system_caches();
    const auto own = std::ranges::find(caches, kOwnLevel, &SystemCache::level);
    return own == caches.end() ? kMiB : own->bytes;
}

double last_level_cache_bytes() {
    double largest = 0;
    for (const SystemCache& cache : system_caches()) {
        largest = std::max(largest, cache.bytes);
    }
    return largest;
}

}  // namespace auspex
