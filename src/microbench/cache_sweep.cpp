/// @file Passes over prefixes of one array, in several rounds.
#include "microbench/cache_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/statistics/quantiles.hpp"
#include "exec/run/core_probe.hpp"
#include "models/core_speed.hpp"

namespace auspex::microbench {
namespace {

constexpr std::size_t kSmallest = 16 * 1024, kLargest = 512 * 1024 * 1024;

/// Powers of two, and 1.5 times each.
std::vector<std::size_t> sizes_up_to(double most_bytes) {
    std::vector<std::size_t> sizes;
    for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
        for (const std::size_t size : {bytes, bytes / 2 * 3}) {
            if (size <= kLargest && static_cast<double>(size) <= most_bytes) {
                sizes.push_back(size);
            }
        }
    }
    return sizes;
}

void copy_half(std::vector<std::byte>& data, std::size_t bytes) {
    std::memcpy(data.data(), data.data() + bytes / 2, bytes / 2);
}

/// Seconds of passes over the first `bytes`, one before them to fill the caches. Short ones are timed several at once.
std::vector<double> time_passes(std::vector<std::byte>& data, std::size_t bytes) {
    constexpr std::size_t kBytesTimed = 4 * 1024 * 1024;
    constexpr double kTrial_s = 4e-3;
    const std::size_t passes = std::max<std::size_t>(1, kBytesTimed / bytes);
    copy_half(data, bytes);
    std::vector<double> seconds;
    const double begin = exec::thread_seconds();
    for (double before = begin; before - begin < kTrial_s;) {
        for (std::size_t pass = 0; pass < passes; ++pass) {
            copy_half(data, bytes);
        }
        const double now = exec::thread_seconds();
        seconds.push_back((now - before) / static_cast<double>(passes));
        before = now;
    }
    return seconds;
}

}  // namespace

void run_cache_sweep(double most_bytes, const std::function<bool(const models::Measurement&)>& skip,
                     const std::function<void(const models::Measurement&)>& report) {
    std::vector<models::Measurement> wanted;
    for (const std::size_t bytes : sizes_up_to(most_bytes)) {
        models::Measurement row;
        row.kind = "host";
        row.name = "sweep";
        row.bytes = static_cast<double>(bytes);
        if (!skip(row)) {
            wanted.push_back(std::move(row));
        }
    }
    if (wanted.empty()) {
        return;
    }
    constexpr int kRounds = 3;
    std::vector<std::byte> data(static_cast<std::size_t>(wanted.back().bytes), std::byte{1});
    std::vector<std::vector<double>> seconds(wanted.size());
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::vector<double> found = time_passes(data, static_cast<std::size_t>(wanted[i].bytes));
            seconds[i].insert(seconds[i].end(), found.begin(), found.end());
        }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        wanted[i].seconds = *std::ranges::min_element(seconds[i]);
        wanted[i].spread = relative_spread(seconds[i]);
        wanted[i].count = static_cast<int>(seconds[i].size());
        wanted[i].source = models::own_source();
        report(wanted[i]);
    }
}

}  // namespace auspex::microbench
