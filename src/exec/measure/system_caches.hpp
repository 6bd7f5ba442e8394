#pragma once
/// @file The caches of core 0, as Linux describes them.
#include <vector>

namespace auspex {

struct SystemCache {
    int level = 0;
    double bytes = 0;
};

/// In the order of /sys/devices/system/cpu/cpu0/cache; empty where the system says nothing.
[[nodiscard]] std::vector<SystemCache> system_caches();
/// Of its second level, a core's own; 1 MiB where the system says nothing.
[[nodiscard]] double private_cache_bytes();
/// The largest; 0 where the system says nothing.
[[nodiscard]] double last_level_cache_bytes();

}  // namespace auspex
