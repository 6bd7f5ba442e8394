/// @file Rounds of copies, each as long as its slowest.
#include "campaign/start/environment_copy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/error.hpp"

namespace auspex::campaign {
namespace {

/// H(n); from 100 on its expansion, which is off by less than 1e-10.
double harmonic(std::int64_t n) {
    constexpr std::int64_t kMany = 100;
    if (n < kMany) {
        double sum = 0;
        for (std::int64_t i = 1; i <= n; ++i) {
            sum += 1.0 / static_cast<double>(i);
        }
        return sum;
    }
    const auto x = static_cast<double>(n);
    return std::log(x) + std::numbers::egamma + 1 / (2 * x) - 1 / (12 * x * x);
}

}  // namespace

EnvironmentCopy environment_copy(const models::EnvironmentFacts& environment, double node_read_bytes_per_s, int nodes) {
    AUSPEX_CHECK(nodes >= 1 && node_read_bytes_per_s > 0, "there is a node, and it reads");
    EnvironmentCopy copy;
    copy.read_s = environment.bytes / node_read_bytes_per_s;
    copy.unpack_s = environment.bytes / environment.unpack_bytes_per_s;
    for (std::int64_t have = 1; have < nodes; have *= 2) {
        ++copy.rounds;
        copy.tail_s += environment.copy_tail_s * harmonic(std::min(have, nodes - have));
    }
    copy.copy_s = copy.rounds * environment.bytes / environment.copy_bytes_per_s;
    return copy;
}

}  // namespace auspex::campaign
