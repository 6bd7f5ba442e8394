/// @file Another machine's products, attention and memory: the constants that their rows determine.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "calibrate_from_fixture.hpp"

namespace auspex::fit {
namespace {

using namespace testing_fit;

// 155 TF at depth 2,156 over 169 at 25,872 is about (1 + h / 25,872) / (1 + h / 2,156): h about 265; but with two
// depths and their noise any h from 0 on is possible. So it stays at 256, and the ceiling is 169 of 205.3 TF over a
// filled share of 0.96 to 0.98 and 1 + 256 / 25,872. All four products come out within 3 %.
TEST(CalibrateFrom, auroras_layers_give_the_ceiling_and_no_half_depth) {
    const auto rows = models::load_measurements("machines/measurements/aurora.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const models::Machine machine = machine_of(calibration);
    EXPECT_EQ(machine.tile.gemm_half_depth, 256);
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.86, 0.02);
    const FitQuality& fit = fit_of(calibration, "gemm", "shape");
    EXPECT_FALSE(fit.is_poor) << fit.verdict;
    EXPECT_LT(fit.worst_error, 0.03);
    EXPECT_EQ(constant_of(machine, "machine.tile.gemm_half_depth").kind, ConstantKind::kAssumed);
    const auto is_of_depth = [](const std::string& text) {
        return text.find("tile.gemm_half_depth stays 256") != std::string::npos;
    };
    EXPECT_TRUE(std::ranges::any_of(calibration.warnings, is_of_depth));
    EXPECT_EQ(change_of(calibration, "machine.tile.gemm_ceiling").verdict, "good");
}

// seconds = 2 m n k / (rate ceiling filled) (1 + h / k), made with ceiling 0.7 and h = 300, gives both back.
TEST(CalibrateFrom, shapes_made_by_the_law_give_its_constants) {
    std::vector<models::Measurement> rows;
    for (const double depth : {256.0, 512.0, 1024.0, 4096.0, 16384.0}) {
        models::Measurement shape = row("gemm", "shape", 0);
        shape.precision = "bf16";
        shape.rows = 256 * 56, shape.columns = 256 * 4, shape.depth = depth;  // whole waves of 56 cores: filled
        shape.active = 12;
        shape.seconds = 2 * shape.rows * shape.columns * depth / (205.3e12 * 0.7) * (1 + 300 / depth);
        rows.push_back(shape);
    }
    const models::Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.7, 1e-4);
    EXPECT_NEAR(machine.tile.gemm_half_depth, 300, 0.1);
}

// Rates that depth does not change allow of no half depth of 256: none is taken, though its interval reaches 0.
TEST(CalibrateFrom, shapes_that_contradict_the_half_depth_take_it_away) {
    std::vector<models::Measurement> rows;
    for (const double depth : {512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0}) {
        models::Measurement shape = row("gemm", "shape", 0);
        shape.precision = "bf16";
        shape.rows = 256 * 56, shape.columns = 256 * 4, shape.depth = depth;
        shape.active = 12;
        shape.seconds = 2 * shape.rows * shape.columns * depth / (205.3e12 * 0.85);
        rows.push_back(shape);
    }
    const models::Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.85, 1e-4);
    EXPECT_LT(machine.tile.gemm_half_depth, 1);
}

// Two rows carry no law of depth: the half depth stays, and the ceiling is what remains of the rate.
TEST(CalibrateFrom, few_shapes_give_the_ceiling_alone) {
    models::Measurement shape = row("gemm", "shape", 0);
    shape.precision = "bf16";
    shape.rows = 256 * 56, shape.columns = 1024, shape.depth = 1024, shape.active = 12;
    shape.seconds = 2 * shape.rows * shape.columns * 1024 / (205.3e12 * 0.5) * (1 + 256.0 / 1024);
    const models::Machine machine = machine_of(calibrate_from(aurora(), {shape, shape}, optimus()));
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.5, 1e-5);
    EXPECT_EQ(machine.tile.gemm_half_depth, 256);
}

// A share above 1 contradicts the rate that it is a share of: 1, and a warning.
TEST(CalibrateFrom, a_share_stays_a_share) {
    const Calibration calibration =
        calibrate_from(aurora(), {sized("memory", "elementwise", 1e10, 1e10 / 1.2e12)}, optimus());
    EXPECT_EQ(machine_of(calibration).tile.memory_efficiency, 1);
    EXPECT_TRUE(any_holds(calibration.warnings, "memory_efficiency comes out above 1"));
    EXPECT_TRUE(fit_of(calibration, "memory", "elementwise").terms.front().name == "tile.memory_efficiency");
}

}  // namespace
}  // namespace auspex::fit
