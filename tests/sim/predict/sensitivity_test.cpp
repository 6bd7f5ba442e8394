/// @file What a step does when constants change: faster parts never slow it down, and elasticities have the sign that
/// they must have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../step_fixture.hpp"
#include "sim/predict/predict.hpp"
#include "sim/predict/sensitivity.hpp"

namespace auspex::predict {
namespace {

using namespace testing_steps;

bool is_rate(const Constant& constant) {
    return constant.dimension == Dimension::kBytesPerSecond || constant.dimension == Dimension::kFlopPerSecond;
}

/// A shipped plan; the longest pipelines with fewer micro-batches, more of which only repeat the steady state.
models::Inputs short_inputs(const std::string& plan, const std::string& workload) {
    models::Inputs inputs = shipped_inputs(plan, workload);
    inputs.plan.micro_batches = std::min(inputs.plan.micro_batches, 16);
    if (plan == "deepseek-v3") {
        inputs.plan.micro_batches = 2;
    }
    return inputs;
}

models::Inputs scaled(const models::Inputs& inputs, const Constant& constant, double factor) {
    models::Inputs changed = inputs;
    const std::size_t dot = constant.path.find('.');
    const std::string inside = constant.path.substr(dot + 1);
    if (constant.path.compare(0, dot, "machine") == 0) {
        changed.machine_document.set_quantity(inside, factor * constant.value, constant.dimension);
        changed.machine = models::load_machine(changed.machine_document);
    } else {
        changed.stack_document.set_quantity(inside, factor * constant.value, constant.dimension);
        changed.stack = models::load_stack(changed.stack_document);
    }
    return changed;
}

TEST(Sensitivity, a_rate_twice_as_high_never_slows_a_step_by_more_than_a_thousandth) {
    for (const auto& [plan, workload] : testing_plans::shipped()) {
        const models::Inputs inputs = short_inputs(plan, workload);
        const double before = step_s(inputs);
        int tried = 0, faster = 0;
        for (const auto* constants : {&inputs.machine.constants, &inputs.stack.constants}) {
            for (const Constant& constant : *constants) {
                if (is_rate(constant) && constant.path.rfind("machine.storage.", 0) != 0) {
                    const double after = step_s(scaled(inputs, constant, 2));
                    EXPECT_LE(after, before * 1.001) << plan << " with twice the " << constant.path;
                    faster += after < before * 0.999 ? 1 : 0;
                    ++tried;
                }
            }
        }
        EXPECT_GE(tried, 9) << plan;
        EXPECT_GE(faster, plan.rfind("toy", 0) == 0 ? 0 : 2)
            << plan << ": something must depend on GEMM rate and bandwidths";
    }
}

TEST(Sensitivity, elasticities_of_rates_are_not_positive_and_those_of_times_are_not_negative) {
    for (const char* name :
         {"mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b", "agpt-70b", "mixtral-8x7b"}) {
        const models::Inputs inputs = short_inputs(name, name);
        const std::vector<ConstantSensitivity> sensitivities = constant_sensitivities(inputs, plain_options());
        EXPECT_GE(sensitivities.size(), 8U) << name;
        for (const ConstantSensitivity& sensitivity : sensitivities) {
            if (is_rate(sensitivity.constant)) {
                EXPECT_LE(sensitivity.elasticity, 1e-3) << name << " " << sensitivity.constant.path;
            } else if (sensitivity.constant.dimension == Dimension::kSeconds) {
                EXPECT_GE(sensitivity.elasticity, -1e-3) << name << " " << sensitivity.constant.path;
            }
        }
        EXPECT_TRUE(std::is_sorted(sensitivities.begin(), sensitivities.end(),
                                   [](const ConstantSensitivity& a, const ConstantSensitivity& b) {
                                       return std::fabs(a.elasticity) > std::fabs(b.elasticity);
                                   }))
            << name;
    }
}

TEST(Sensitivity, elasticities_of_all_rates_and_times_together_are_that_of_time_itself) {
    // Scale every rate down and every time up alike: the step takes as much longer, whatever it waits for. To first
    // order the elasticities add up; event rates of noise count as times' inverse. For t = a + b / x a tenth less x
    // gives b / (a + b) up to 5 % too large.
    const models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    double sum = 0;
    for (const ConstantSensitivity& sensitivity : constant_sensitivities(inputs, plain_options())) {
        if (is_rate(sensitivity.constant) || sensitivity.constant.dimension == Dimension::kPerSecond) {
            sum -= sensitivity.elasticity;
        } else if (sensitivity.constant.dimension == Dimension::kSeconds) {
            sum += sensitivity.elasticity;
        }
    }
    EXPECT_NEAR(sum, 1, 0.05);
}

// log(step with the constant at 0.9 of its value / step) / log 0.9, the step simulated from nothing: what replays take
// over from the first one changes no picosecond.
TEST(Sensitivity, an_elasticity_is_that_of_a_fresh_step) {
    for (const auto& [plan, placement] : {std::pair("mula-220b-a10b", models::PlacementKind::kContiguous),
                                          std::pair("mula-20b-a2b", models::PlacementKind::kRandom),
                                          std::pair("toy-pp2-ep2", models::PlacementKind::kContiguous)}) {
        const std::string workload = std::string(plan).starts_with("toy") ? "toy-moe" : plan;
        models::Inputs inputs = shipped_inputs(plan, workload);
        inputs.plan.placement = placement;
        const auto picoseconds = [](const models::Inputs& of) {
            return static_cast<double>(simulate_step(of, plain_options(), false).step);
        };
        const double nominal = picoseconds(inputs);
        for (const ConstantSensitivity& sensitivity : constant_sensitivities(inputs, plain_options())) {
            if (sensitivity.constant.path == "machine.tile.hbm_bandwidth" ||
                sensitivity.constant.path == "machine.tile.memory_efficiency") {
                continue;  // replays leave out that collectives add up at this rate, too
            }
            const models::Inputs changed = scaled(inputs, sensitivity.constant, 0.9);
            EXPECT_DOUBLE_EQ(sensitivity.elasticity, std::log(picoseconds(changed) / nominal) / std::log(0.9))
                << plan << " " << sensitivity.constant.path;
        }
    }
}

/// Quadrature of logarithms around the step; the interval of constants stays as it is.
TEST(Sensitivity, the_spread_of_published_runs_widens_an_interval_of_its_own) {
    models::Inputs inputs = short_inputs("mula-7b-a1b", "mula-7b-a1b");
    inputs.plan.dp = 0;  // follows from the tiles
    const PredictOptions options{.tiles = 48};
    const Prediction plain = predict(inputs, options).prediction;
    EXPECT_FALSE(plain.published_spread);
    EXPECT_EQ(plain.step_time_interval_with_spread_s.high, plain.step_time_interval_s.high);
    inputs.published_spread = models::PublishedSpread{"", "aurora", 77, 2, 0.2};
    const Prediction wide = predict(inputs, options).prediction;
    EXPECT_EQ(wide.step_time_interval_s.high, plain.step_time_interval_s.high);
    const double constants = std::log(wide.step_time_interval_s.high / wide.step_time_s);
    EXPECT_NEAR(std::log(wide.step_time_interval_with_spread_s.high / wide.step_time_s),
                std::hypot(constants, 1.644854 * 0.2), 1e-6);
    EXPECT_EQ(wide.published_spread->runs, 77);
    EXPECT_FALSE(predict(inputs, {.tiles = 48, .sensitivity = false}).prediction.published_spread);
}

TEST(Sensitivity, the_interval_is_the_root_sum_square_of_elasticity_times_uncertainty) {
    ConstantSensitivity a, b;
    a.elasticity = -0.5, a.constant.relative_uncertainty = 0.06;
    b.elasticity = 0.4, b.constant.relative_uncertainty = 0.1;
    const auto interval = step_interval_s(10, {a, b});  // sqrt(0.03^2 + 0.04^2) = 0.05
    EXPECT_DOUBLE_EQ(interval.low, 10 * std::exp(-1.645 * 0.05));
    EXPECT_DOUBLE_EQ(interval.high, 10 * std::exp(1.645 * 0.05));
    EXPECT_EQ(step_interval_s(10, {}).low, 10);
}

}  // namespace
}  // namespace auspex::predict
