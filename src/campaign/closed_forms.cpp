/// @file Young, Daly, the exact efficiency of Poisson interruptions, the binomial quantile.
#include "campaign/closed_forms.hpp"

#include <cmath>

#include "base/error.hpp"

namespace auspex::campaign {

double young_interval_s(const PoissonRun& run) { return std::sqrt(2 * run.stall_s * run.mtbf_s); }

double daly_interval_s(const PoissonRun& run) {
    const double ratio = run.stall_s / (2 * run.mtbf_s);
    if (ratio >= 1) {
        return run.mtbf_s;
    }
    return young_interval_s(run) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - run.stall_s;
}

double segment_time_s(const PoissonRun& run, double work_s) {
    return run.mtbf_s * std::exp(run.restart_s / run.mtbf_s) * std::expm1((work_s + run.stall_s) / run.mtbf_s);
}

double exact_efficiency(const PoissonRun& run, double work_s) { return work_s / segment_time_s(run, work_s); }

double exact_interval_s(const PoissonRun& run) {
    AUSPEX_CHECK(run.mtbf_s > 0, "a run that is interrupted");
    const double target = std::expm1(-run.stall_s / run.mtbf_s);
    double low = 0, high = 1;
    for (int halving = 0; halving < 200 && low < high; ++halving) {
        const double x = (low + high) / 2;
        // (1 - x) e^x - 1, without losing digits where x is small.
        const double value = std::expm1(x) - x * std::exp(x);
        (value > target ? low : high) = x;
    }
    return run.stall_s > 0 ? low * run.mtbf_s : 0;
}

double run_time_s(const PoissonRun& run, std::int64_t steps, std::int64_t every, double step_s) {
    const std::int64_t whole = steps / every;
    const auto segment = [&](std::int64_t count) { return segment_time_s(run, static_cast<double>(count) * step_s); };
    return static_cast<double>(whole) * segment(every) + (steps % every > 0 ? segment(steps % every) : 0);
}

std::int64_t binomial_quantile(std::int64_t n, double p, double share) {
    AUSPEX_CHECK(n >= 0 && p >= 0 && p <= 1 && share > 0 && share < 1, "a binomial distribution and a share of it");
    if (p == 0 || p == 1) {
        return p == 0 ? 0 : n;
    }
    const auto count = static_cast<double>(n);
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        const auto at = static_cast<double>(k);
        sum += std::exp(std::lgamma(count + 1) - std::lgamma(at + 1) - std::lgamma(count - at + 1) + at * std::log(p) +
                        (count - at) * std::log1p(-p));
        if (sum >= share) {
            return k;
        }
    }
    return n;
}

double identity_time_s(double work_s, std::int64_t failures, double recovery_s) {
    return work_s + static_cast<double>(failures) * recovery_s;
}

}  // namespace auspex::campaign
