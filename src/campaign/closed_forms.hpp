#pragma once
/// @file What is known of long runs without simulating them: checkpoint intervals, efficiency, spare nodes.
#include <cstdint>

namespace auspex::campaign {

/// A run that is interrupted at random. All in seconds.
struct PoissonRun {
    double mtbf_s = 0;     ///< M, mean time between interruptions of the whole job
    double stall_s = 0;    ///< d, what a checkpoint holds the steps up for
    double restart_s = 0;  ///< R, from an interruption to the first step after it; begins anew when interrupted
};

/// sqrt(2 d M). Source: J. W. Young, CACM 17 (9), 1974. Ignores R and interruptions while a checkpoint is written.
[[nodiscard]] double young_interval_s(const PoissonRun& run);

/// sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d, and M where d >= 2M. Source: J. T. Daly, Future Generation
/// Computer Systems 22 (3), 2006, equation 37.
[[nodiscard]] double daly_interval_s(const PoissonRun& run);

/// Expected time of so much work and the checkpoint behind it: M e^(R/M) (e^((work + d)/M) - 1). Exact for
/// exponential times between interruptions, which strike in checkpoints and restarts, too. Source: Daly, as above.
[[nodiscard]] double segment_time_s(const PoissonRun& run, double work_s);

/// work / segment_time_s(run, work): the share of time that is work.
[[nodiscard]] double exact_efficiency(const PoissonRun& run, double work_s);

/// The work between checkpoints with the best exact_efficiency: x M, where (1 - x) e^x = e^(-d/M), by bisection. It
/// does not depend on R. Requires M > 0; 0 where d is 0.
[[nodiscard]] double exact_interval_s(const PoissonRun& run);

/// Expected time of `steps` steps in segments of `every`, the last one shorter, each with its checkpoint.
[[nodiscard]] double run_time_s(const PoissonRun& run, std::int64_t steps, std::int64_t every, double step_s);

/// The least s such that at most s of n machines fail with probability `share`, each with probability p by itself.
/// Requires 0 <= p <= 1, 0 < share < 1.
[[nodiscard]] std::int64_t binomial_quantile(std::int64_t n, double p, double share);

/// work + failures x recovery: what a run takes that loses no work, whose checkpoints are free and that nothing
/// interrupts while it recovers. Source: AIReSim, arXiv:2603.07041.
[[nodiscard]] double identity_time_s(double work_s, std::int64_t failures, double recovery_s);

}  // namespace auspex::campaign
