/// @file What is played against what is known without playing.
#include <gtest/gtest.h>

#include <cmath>

#include "campaign/agreement.hpp"
#include "campaign/best_interval.hpp"
#include "campaign/closed_forms.hpp"
#include "settings.hpp"

namespace auspex::campaign {
namespace {

TEST(PoissonCampaigns, efficiency_is_the_closed_forms_within_one_percent) {
    for (const double mtbf_s : {2'000.0, 20'000.0}) {
        for (const double restart_s : {0.0, 300.0, 1'500.0}) {
            for (const double stall_s : {0.0, 5.0, 60.0}) {
                for (const std::int64_t every : {100, 700}) {
                    const PoissonRun run{mtbf_s, stall_s, restart_s};
                    const auto steps = static_cast<std::int64_t>(100 * mtbf_s);
                    const Setting setting = poisson_campaign(mtbf_s, restart_s, stall_s, every, steps);
                    const Result result = play_campaign(setting, {400, 3});
                    const double expected_s = run_time_s(run, steps, every, 1);
                    EXPECT_EQ(result.given_up, 0);
                    EXPECT_NEAR(result.elapsed_s.mean, expected_s, 0.01 * expected_s)
                        << mtbf_s << " " << restart_s << " " << stall_s << " " << every;
                    EXPECT_NEAR(result.goodput, exact_efficiency(run, static_cast<double>(every)),
                                0.01 * result.goodput);
                    EXPECT_TRUE(compare_with_closed_forms(setting, result)->agrees);
                }
            }
        }
    }
}

TEST(PoissonCampaigns, best_interval_is_the_closed_forms_within_one_percent) {
    for (const double mtbf_s : {5'000.0, 50'000.0, 500'000.0}) {
        for (const double restart_s : {60.0, 1'000.0}) {
            for (const double stall_s : {2.0, 20.0, 200.0}) {
                const Setting setting = poisson_campaign(mtbf_s, restart_s, stall_s, 100, 1'000'000, 0.25);
                const double best_s = exact_interval_s({mtbf_s, stall_s, restart_s});
                EXPECT_NEAR(best_interval(setting, 1)->interval_s, best_s, 0.01 * best_s)
                    << mtbf_s << " " << restart_s << " " << stall_s;
            }
        }
    }
    // 500 failures would take longer than the clock has.
    const double rare_s = 60 * 86'400;
    const double best_s = exact_interval_s({rare_s, 10, 300});
    EXPECT_NEAR(best_interval(poisson_campaign(rare_s, 300, 10, 100, 100'000, 10), 1)->interval_s, best_s,
                0.05 * best_s);
    Setting quiet;
    quiet.steps = 10;
    quiet.step_s = 1;
    EXPECT_FALSE(best_interval(quiet, 1));
}

TEST(PoissonCampaigns, bunched_failures_are_told_from_exponential_ones) {
    Setting setting = poisson_campaign(2'000, 300, 20, 200, 400'000);
    setting.failures.front().spacing = Spacing::kWeibull;
    setting.failures.front().shape = 0.6;
    const Result result = play_campaign(setting, {400, 1});
    const Agreement agreement = *compare_with_closed_forms(setting, result);
    EXPECT_FALSE(agreement.agrees);
    ASSERT_EQ(agreement.broken.size(), 1U);
    EXPECT_EQ(agreement.broken.front(), "times between failures are not exponential");
    // Its shape 1 is the exponential distribution.
    setting.failures.front().shape = 1;
    EXPECT_TRUE(compare_with_closed_forms(setting, play_campaign(setting, {400, 1}))->agrees);
}

TEST(PoissonCampaigns, without_lost_work_time_is_work_and_failures_times_recovery_exactly) {
    Setting setting = poisson_campaign(1'000, 0, 0, 50, 40'000, 1.5);
    setting.recovery = {.swap_s = 0,
                        .restart_s = 100,
                        .initialise_s = 20.5,
                        .load_s = 3,
                        .is_interruptible = false,
                        .loses_work = false};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Result result = play_campaign(setting, {1, seed});
        const auto failures = static_cast<std::int64_t>(result.interruptions.mean);
        EXPECT_GT(failures, 20);
        EXPECT_NEAR(result.elapsed_s.mean, identity_time_s(60'000, failures, 123.5), 1e-6);
        EXPECT_DOUBLE_EQ(result.lost_steps, 0);
    }
}

TEST(PoissonCampaigns, spares_needed_are_the_binomial_quantile) {
    for (const int machines : {128, 256, 512, 1024, 4096}) {
        Setting setting = poisson_campaign(1, 60, 1, 100, 1'000'000, 10);
        setting.nodes.count = machines;
        setting.nodes.replenish_s = 86'400;
        setting.failures.front().mean_s = 86'400 / (machines * 0.0012);
        setting.failures.front().nodes = 1;
        const Result result = play_campaign(setting, {1'000, 1});
        EXPECT_EQ(result.spares_needed_p99, binomial_quantile(machines, 0.0012, 0.99)) << machines;
        EXPECT_EQ(compare_with_closed_forms(setting, result)->spare_quantile, result.spares_needed_p99);
    }
}

}  // namespace
}  // namespace auspex::campaign
