/// @file A product in the cache.
#include "exec/run/core_probe.hpp"

#include <array>
#include <cstddef>
#include <ctime>

#include "base/error.hpp"
#include "base/statistics/quantiles.hpp"
#include "exec/kernels/gemm.hpp"

namespace auspex::exec {
namespace {

constexpr std::size_t kSide = 64;
constexpr int kProducts = 20, kWarmUp = 5;
constexpr std::size_t kPieces = 5;

void multiply(int times, const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) {
    for (int i = 0; i < times; ++i) {
        linear_forward(kSide, kSide, kSide, a.data(), b.data(), c.data());
    }
}

}  // namespace

double thread_seconds() {
    timespec time{};
    AUSPEX_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "a thread has a clock");
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

CoreProbe::CoreProbe() : a_(kSide * kSide, 0.5F), b_(kSide * kSide, 0.25F), c_(kSide * kSide) {}

double CoreProbe::seconds() {
    multiply(kWarmUp, a_, b_, c_);
    std::array<double, kPieces> pieces{};
    double last = thread_seconds();
    for (double& piece : pieces) {
        multiply(kProducts, a_, b_, c_);
        const double now = thread_seconds();
        piece = now - last;
        last = now;
    }
    return median(pieces);
}

}  // namespace auspex::exec
