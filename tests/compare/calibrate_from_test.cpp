/// @file Tables of other machines: the constants that rows determine, the rest untouched, collectives as a check.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "compare/calibration.hpp"

namespace auspex {
namespace {

JsonDocument aurora() { return JsonDocument::load("machines/aurora.json"); }

Stack optimus(const std::string& transport = "dlcomm-2026") {
    JsonDocument document = JsonDocument::load("stacks/optimus.json");
    document.set("transport.use", transport);
    return load_stack(document);
}

Machine machine_of(const Calibration& calibration) {
    return load_machine(JsonDocument::parse(calibration.machine_json, "calibrated.json"));
}

Measurement row(const std::string& kind, const std::string& name, double seconds) {
    Measurement measurement;
    measurement.kind = kind;
    measurement.name = name;
    measurement.seconds = seconds;
    measurement.source = "test";
    return measurement;
}

Measurement sized(const std::string& kind, const std::string& name, double bytes, double seconds) {
    Measurement measurement = row(kind, name, seconds);
    measurement.bytes = bytes;
    return measurement;
}

const FitQuality& fit_of(const Calibration& calibration, const std::string& kind, const std::string& name) {
    const auto found = std::find_if(calibration.fits.begin(), calibration.fits.end(),
                                    [&](const FitQuality& fit) { return fit.kind == kind && fit.name == name; });
    EXPECT_NE(found, calibration.fits.end()) << kind << " " << name;
    return *found;
}

Constant constant_of(const Machine& machine, const std::string& path) {
    const auto found = std::find_if(machine.constants.begin(), machine.constants.end(),
                                    [&](const Constant& constant) { return constant.path == path; });
    EXPECT_NE(found, machine.constants.end()) << path;
    return *found;
}

bool any_holds(const std::vector<std::string>& texts, const std::string& words) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

// A rate of the table comes out as it stands there, whatever turned it into a time.
TEST(CalibrateFrom, auroras_table_gives_its_rates) {
    const auto rows = load_measurements("machines/measurements/aurora.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const Machine machine = machine_of(calibration);
    const auto expect = [](double value, double expected) { EXPECT_NEAR(value / expected, 1, 1e-5); };
    expect(machine.tile.gemm_bf16_flop_per_s, 205.3e12);
    expect(machine.tile.gemm_fp32_flop_per_s, 103.8e12);
    expect(machine.tile.hbm_bytes_per_s, 1e12);
    expect(machine.node.pair_bytes_per_s, 185e9);
    expect(machine.node.mesh_bytes_per_s, 15.8e9);  // median of 15, 15.8, 18.9
    expect(machine.node.pcie_bytes_per_s, 54.5e9);  // of 54 in, 55 out
    expect(machine.node.socket_out_bytes_per_s, 128.5e9);
    expect(machine.node.socket_in_bytes_per_s, 159e9);
    expect(machine.node.nic_bytes_per_s, 23e9);
    expect(machine.fabric.switch_latency_s, 350e-9);
    EXPECT_TRUE(any_holds(calibration.warnings, "with fewer than 12 busy tiles"));
    EXPECT_EQ(constant_of(machine, "machine.node.nic.bandwidth").kind, ConstantKind::kMeasured);
    EXPECT_NE(constant_of(machine, "machine.tile.gemm_bf16").source.find("gemm_benchmarking"), std::string::npos);
}

// 155 TF at depth 2,156 over 169 at 25,872 is about (1 + h / 25,872) / (1 + h / 2,156): h between 200 and 330, whatever
// the filled shares of 0.96 to 0.98 do; the ceiling is 169 of 205.3 TF over such a share and 1 + h / 25,872. All four
// products come out within 3 %.
TEST(CalibrateFrom, auroras_layers_give_ceiling_and_half_depth) {
    const auto rows = load_measurements("machines/measurements/aurora.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const Machine machine = machine_of(calibration);
    EXPECT_NEAR(machine.tile.gemm_half_depth, 265, 65);
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.86, 0.02);
    const FitQuality& fit = fit_of(calibration, "gemm", "shape");
    EXPECT_FALSE(fit.is_poor) << fit.verdict;
    EXPECT_LT(fit.worst_error, 0.03);
    EXPECT_EQ(constant_of(machine, "machine.tile.gemm_ceiling").kind, ConstantKind::kFitted);
}

// What no row determines is what it was: the constants of both files differ in those that rows have, and nowhere else.
TEST(CalibrateFrom, constants_without_rows_stay) {
    const Machine before = load_machine(aurora());
    const Calibration calibration = calibrate_from(aurora(), {sized("link", "nic", 1e9, 1e9 / 20e9)}, optimus());
    const Machine after = machine_of(calibration);
    ASSERT_EQ(before.constants.size(), after.constants.size());
    for (const Constant& constant : before.constants) {
        const Constant now = constant_of(after, constant.path);
        if (constant.path == "machine.node.nic.bandwidth") {
            EXPECT_NEAR(now.value, 20e9, 1e3);
            EXPECT_EQ(now.source, "test");
        } else {
            EXPECT_EQ(now.value, constant.value) << constant.path;
            EXPECT_EQ(now.source, constant.source) << constant.path;
        }
    }
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.default_stack, before.default_stack);
}

// seconds = 2 m n k / (rate ceiling filled) (1 + h / k), made with ceiling 0.7 and h = 300, gives both back.
TEST(CalibrateFrom, shapes_made_by_the_law_give_its_constants) {
    std::vector<Measurement> rows;
    for (const double depth : {256.0, 512.0, 1024.0, 4096.0, 16384.0}) {
        Measurement shape = row("gemm", "shape", 0);
        shape.precision = "bf16";
        shape.rows = 256 * 56, shape.columns = 256 * 4, shape.depth = depth;  // whole waves of 56 cores: filled
        shape.active = 12;
        shape.seconds = 2 * shape.rows * shape.columns * depth / (205.3e12 * 0.7) * (1 + 300 / depth);
        rows.push_back(shape);
    }
    const Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.7, 1e-4);
    EXPECT_NEAR(machine.tile.gemm_half_depth, 300, 0.1);
}

// Two rows carry no law of depth: the half depth stays, and the ceiling is what remains of the rate.
TEST(CalibrateFrom, few_shapes_give_the_ceiling_alone) {
    Measurement shape = row("gemm", "shape", 0);
    shape.precision = "bf16";
    shape.rows = 256 * 56, shape.columns = 1024, shape.depth = 1024, shape.active = 12;
    shape.seconds = 2 * shape.rows * shape.columns * 1024 / (205.3e12 * 0.5) * (1 + 256.0 / 1024);
    const Machine machine = machine_of(calibrate_from(aurora(), {shape, shape}, optimus()));
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.5, 1e-5);
    EXPECT_EQ(machine.tile.gemm_half_depth, 256);
}

// seconds = start + bytes / rate: rate 20 GB/s and a start of 7 us, of which the machine's 2 us stay the wire's and a
// warning names the constant of the stack that has the rest.
TEST(CalibrateFrom, sizes_of_a_link_give_rate_and_start) {
    std::vector<Measurement> rows;
    for (const double bytes : {8.0, 4096.0, 65536.0, 1048576.0, 67108864.0}) {
        rows.push_back(sized("link", "nic", bytes, 7e-6 + bytes / 20e9));
    }
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const Machine machine = machine_of(calibration);
    EXPECT_NEAR(machine.node.nic_bytes_per_s, 20e9, 1e6);
    EXPECT_EQ(machine.node.nic_latency_s, 2e-6);
    EXPECT_TRUE(any_holds(calibration.warnings, "scale_out_message")) << calibration.machine_json;
    for (Measurement& measurement : rows) {
        measurement.seconds -= 6e-6;
    }
    EXPECT_NEAR(machine_of(calibrate_from(aurora(), rows, optimus())).node.nic_latency_s, 1e-6, 1e-9);
}

// Causal forward 2 S^2 d FLOP a head and sequence, backward 2.5 times as many, at 0.4 of the rate.
TEST(CalibrateFrom, attention_gives_its_share_of_the_rate) {
    std::vector<Measurement> rows{row("attention", "forward", 0), row("attention", "backward", 0)};
    for (Measurement& measurement : rows) {
        measurement.precision = "bf16";
        measurement.rows = 2048, measurement.depth = 128, measurement.groups = 64, measurement.active = 12;
        const double flop = 2.0 * 2048 * 2048 * 128 * 64 * (measurement.name == "backward" ? 2.5 : 1);
        measurement.seconds = flop / (205.3e12 * 0.4);
    }
    const Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
    EXPECT_NEAR(machine.tile.attention_efficiency, 0.4, 1e-5);
    rows[0].groups = 0;
    EXPECT_THROW(static_cast<void>(calibrate_from(aurora(), rows, optimus())), InputError);
}

// A share above 1 contradicts the rate that it is a share of: 1, and a warning.
TEST(CalibrateFrom, a_share_stays_a_share) {
    const Calibration calibration =
        calibrate_from(aurora(), {sized("memory", "elementwise", 1e10, 1e10 / 1.2e12)}, optimus());
    EXPECT_EQ(machine_of(calibration).tile.memory_efficiency, 1);
    EXPECT_TRUE(any_holds(calibration.warnings, "memory_efficiency comes out above 1"));
    EXPECT_TRUE(fit_of(calibration, "memory", "elementwise").terms.front().name == "tile.memory_efficiency");
}

// The all-reduces of early 2025 with the transport of that time: those of 12 ranks a node within 10 %, as
// docs/collectives.md has them; the verdict names 2 and 4 ranks of one node.
TEST(CalibrateFrom, collectives_are_checked_not_fitted) {
    const auto rows = load_measurements("machines/measurements/aurora-pytorch-2025.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus("pytorch-2025"));
    const FitQuality& fit = fit_of(calibration, "collective", "all-reduce");
    ASSERT_EQ(fit.predicted.size(), rows.size());
    EXPECT_TRUE(fit.terms.empty());
    for (std::size_t i = 2; i < rows.size(); ++i) {
        EXPECT_NEAR(fit.predicted[i] / rows[i].seconds, 1, 0.10) << "row " << i;
    }
    EXPECT_TRUE(fit.is_poor);
    EXPECT_LT(fit.typical_error, 0.05);
    EXPECT_NE(fit.verdict.find("row 2 of 13"), std::string::npos) << fit.verdict;
    EXPECT_EQ(machine_of(calibration).constants.size(), load_machine(aurora()).constants.size());
}

TEST(CalibrateFrom, rows_that_fit_nothing_are_refused) {
    const auto refused = [](const Measurement& measurement, const std::string& words) {
        try {
            static_cast<void>(calibrate_from(aurora(), {measurement}, optimus()));
            ADD_FAILURE() << words << " was accepted";
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refused(row("kernel", "copy", 1), "kind \"kernel\"");
    refused(sized("link", "string", 1, 1), "pair, mesh, switch");
    refused(sized("link", "switch", 1e9, 0.01), "switch_bandwidth");  // Aurora's cards are a mesh
    Measurement collective = sized("collective", "all-reduce", 1e6, 1);
    collective.ranks = 10, collective.nodes = 4;
    refused(collective, "equally many");
    collective.ranks = 20;
    refused(collective, "a divisor of 12");
    collective.ranks = 48;
    collective.name = "all-reduce sideways";
    refused(collective, "rabenseifner");
    collective.name = "all-sorts";
    refused(collective, "all-gather");
}

}  // namespace
}  // namespace auspex
