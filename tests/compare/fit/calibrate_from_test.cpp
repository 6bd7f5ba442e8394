/// @file Whole tables of other machines: what changes and what stays, verdicts, collectives as a check, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "calibrate_from_fixture.hpp"

namespace auspex::fit {
namespace {

using namespace testing_fit;

// A rate of the table comes out as it stands there, whatever turned it into a time.
TEST(CalibrateFrom, auroras_table_gives_its_rates) {
    const auto rows = models::load_measurements("machines/measurements/aurora.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const models::Machine machine = machine_of(calibration);
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

// The median of three rates, 10 GB/s, is 19, 0 and 6 % off: their median is 6. That of one rate cannot be off.
TEST(CalibrateFrom, a_verdict_names_what_made_it_poor) {
    const std::vector<models::Measurement> rows{
        sized("link", "mesh", 1e9, 1e9 / 11.9e9), sized("link", "mesh", 1e9, 1e9 / 10e9),
        sized("link", "mesh", 1e9, 1e9 / 9.4e9), sized("link", "nic", 1e9, 1e9 / 20e9)};
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    EXPECT_EQ(fit_of(calibration, "link", "mesh").verdict, "poor: typical error 6.0 %, row 1 of 3 is off by +19.0 %");
    EXPECT_EQ(fit_of(calibration, "link", "nic").verdict, kOneRow);
    EXPECT_FALSE(fit_of(calibration, "link", "nic").is_poor);
}

// What no row determines is what it was: the constants of both files differ in those that rows have, and nowhere else.
TEST(CalibrateFrom, constants_without_rows_stay) {
    const models::Machine before = models::load_machine(aurora());
    const Calibration calibration = calibrate_from(aurora(), {sized("link", "nic", 1e9, 1e9 / 20e9)}, optimus());
    const models::Machine after = machine_of(calibration);
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

// What was, what is, why, and how well: for every constant that differs, and no other.
TEST(CalibrateFrom, changes_say_what_was_and_what_is) {
    const models::Machine before = models::load_machine(aurora());
    const Calibration calibration =
        calibrate_from(aurora(), models::load_measurements("machines/measurements/aurora.csv"), optimus());
    const models::Machine after = machine_of(calibration);
    std::vector<std::string> changed;
    for (const ConstantChange& change : calibration.changes) {
        changed.push_back(change.now.path);
        EXPECT_EQ(change.before.value, constant_of(before, change.now.path).value);
        EXPECT_EQ(change.now.value, constant_of(after, change.now.path).value);
        EXPECT_EQ(change.now.source, constant_of(after, change.now.path).source);
        EXPECT_LE(change.interval.low, change.now.value * (1 + 1e-5));
        EXPECT_GE(change.interval.high, change.now.value * (1 - 1e-5));
        EXPECT_FALSE(change.verdict.empty());
    }
    const ConstantChange mesh = change_of(calibration, "machine.node.mesh_bandwidth");
    EXPECT_EQ(mesh.rows, "3 rows of link mesh");
    EXPECT_NE(mesh.verdict.find("machines/measurements/aurora.csv:"), std::string::npos) << mesh.verdict;
    for (const Constant& constant : before.constants) {
        if (constant_of(after, constant.path).source != constant.source) {
            EXPECT_NE(std::find(changed.begin(), changed.end(), constant.path), changed.end()) << constant.path;
        }
    }
    EXPECT_EQ(changed.size(), 11U);
}

/// As tools/measure_torch.py writes it, 24 ranks on 2 nodes, with times by the laws: products at 205.3 TF and 0.8 of it
/// with half depth 300; 1 TB/s, 0.9 of it; attention at 0.3; links of 180, 15 and 50 GB/s, one rank 5.8.
constexpr const char* kOfTorch =
    R"(kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source
gemm,sustained,bf16,,8192,8192,8192,,12,1,1,,0.00535563384,0,20,"Aurora, 2 nodes, 2026-11-21"
gemm,shape,bf16,,2048,9216,3072,,12,1,1,,0.000775016669,0,20,"Aurora, 2 nodes, 2026-11-21"
gemm,shape,bf16,,2048,3072,3072,,12,1,1,,0.00025833889,0,20,"Aurora, 2 nodes, 2026-11-21"
gemm,shape,bf16,,2048,3072,3072,,12,1,1,,0.00025833889,0,20,"Aurora, 2 nodes, 2026-11-21"
gemm,shape,bf16,,2048,3072,1536,,12,1,1,,0.000140661388,0,20,"Aurora, 2 nodes, 2026-11-21"
gemm,shape,bf16,,2048,3072,256,,12,1,1,,4.25968039e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,triad,,,,,,,12,1,1,1610612736,0.00161461274,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,elementwise,,,,,,,12,1,1,805306368,0.000898784853,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,triad,,,,,,,12,1,1,3221225472,0.00322522547,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,elementwise,,,,,,,12,1,1,1610612736,0.00179356971,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,triad,,,,,,,12,1,1,6442450944,0.00644645094,0,20,"Aurora, 2 nodes, 2026-11-21"
memory,elementwise,,,,,,,12,1,1,3221225472,0.00358313941,0,20,"Aurora, 2 nodes, 2026-11-21"
attention,forward,bf16,,2048,,128,24,12,1,1,,0.000418408894,0,20,"Aurora, 2 nodes, 2026-11-21"
attention,backward,bf16,,2048,,128,24,12,1,1,,0.00104602223,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pair,,,,,,,1,2,1,4096,9.02275556e-06,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pair,,,,,,,1,2,1,262144,1.04563556e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pair,,,,,,,1,2,1,16777216,0.000102206756,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pair,,,,,,,1,2,1,1073741824,0.00597423236,0,20,"Aurora, 2 nodes, 2026-11-21"
link,mesh,,,,,,,1,2,1,4096,1.02730667e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,mesh,,,,,,,1,2,1,262144,2.74762667e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,mesh,,,,,,,1,2,1,16777216,0.00112848107,0,20,"Aurora, 2 nodes, 2026-11-21"
link,mesh,,,,,,,1,2,1,1073741824,0.0715927883,0,20,"Aurora, 2 nodes, 2026-11-21"
link,rank,,,,,,,1,2,2,4096,3.07062069e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,rank,,,,,,,1,2,2,262144,7.51972414e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,rank,,,,,,,1,2,2,16777216,0.00292262345,0,20,"Aurora, 2 nodes, 2026-11-21"
link,rank,,,,,,,1,2,2,1073741824,0.185157901,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pcie,,,,,,,1,1,1,4096,8.08192e-06,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pcie,,,,,,,1,1,1,262144,1.324288e-05,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pcie,,,,,,,1,1,1,16777216,0.00034354432,0,20,"Aurora, 2 nodes, 2026-11-21"
link,pcie,,,,,,,1,1,1,1073741824,0.0214828365,0,20,"Aurora, 2 nodes, 2026-11-21"
collective,all-reduce,bf16,,,,,,1,24,2,16777200,0.00093886,0,20,"Aurora, 2 nodes, 2026-11-21"
collective,all-gather,bf16,,,,,,1,24,2,16777200,0.00093886,0,20,"Aurora, 2 nodes, 2026-11-21"
collective,reduce-scatter,bf16,,,,,,1,24,2,16777200,0.00093886,0,20,"Aurora, 2 nodes, 2026-11-21"
collective,all-to-all,bf16,,,,,,1,24,2,16777200,0.00093886,0,20,"Aurora, 2 nodes, 2026-11-21"
)";

// Every column and name is one that is read, and every constant of which the script speaks comes out, but for the half
// depth: two of the few rows say all of it, and without one of them 0 and 256 do as well as 300.
TEST(CalibrateFrom, what_the_script_for_pytorch_writes_is_read) {
    std::ifstream script("tools/measure_torch.py");
    const std::string text{std::istreambuf_iterator<char>(script), {}};
    EXPECT_NE(text.find("COLUMNS = (\"" + models::measurement_header() + "\")"), std::string::npos);
    const std::vector<models::Measurement> rows = models::parse_measurements(kOfTorch, "torch.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const models::Machine machine = machine_of(calibration);
    const auto expect = [](double value, double expected) { EXPECT_NEAR(value / expected, 1, 1e-3); };
    expect(machine.tile.gemm_bf16_flop_per_s, 205.3e12);
    expect(machine.tile.hbm_bytes_per_s, 1e12);
    expect(machine.tile.memory_efficiency, 0.9);
    expect(machine.tile.attention_kernels.front().efficiency, 0.3);
    expect(machine.node.pair_bytes_per_s, 180e9);
    expect(machine.node.mesh_bytes_per_s, 15e9);
    expect(machine.node.pcie_bytes_per_s, 50e9);
    EXPECT_EQ(machine.node.nic_bytes_per_s, 23e9);
    ASSERT_EQ(calibration.advice.size(), 1U);
    expect(calibration.advice.front().now.value, 5.8e9);
    std::size_t points = 0;
    for (const FitQuality& fit : calibration.fits) {
        points += fit.points.size();
    }
    EXPECT_EQ(points, rows.size() - 1) << "attention forward and backward are one";  // none is left out
    EXPECT_EQ(calibration.changes.size(), 8U);
    EXPECT_EQ(machine.tile.gemm_half_depth, models::load_machine(aurora()).tile.gemm_half_depth);
}

// The all-reduces of early 2025 with the transport of that time, as docs/collectives.md has them: all within 10 %.
TEST(CalibrateFrom, collectives_are_checked_not_fitted) {
    const auto rows = models::load_measurements("machines/measurements/aurora-pytorch-2025.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus("pytorch-2025"));
    const FitQuality& fit = fit_of(calibration, "collective", "all-reduce");
    ASSERT_EQ(fit.predicted.size(), rows.size());
    EXPECT_TRUE(fit.terms.empty());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(fit.predicted[i] / rows[i].seconds, 1, 0.10) << "row " << i;
    }
    EXPECT_FALSE(fit.is_poor) << fit.verdict;
    EXPECT_LT(fit.typical_error, 0.05);
    EXPECT_EQ(machine_of(calibration).constants.size(), models::load_machine(aurora()).constants.size());
}

TEST(CalibrateFrom, rows_that_fit_nothing_are_refused) {
    const auto refused = [](const models::Measurement& measurement, const std::string& words) {
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
    models::Measurement collective = sized("collective", "all-reduce", 1e6, 1);
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

// Rows of a file are named by line.
TEST(CalibrateFrom, refusals_name_the_line) {
    const std::string first = models::measurement_header() + "\nlink,nic,,,,,,,1,1,1,1e9,0.05,,1,s\n";
    const auto expect = [&](const std::string& row) {
        try {
            static_cast<void>(
                calibrate_from(aurora(), models::parse_measurements(first + row + "\n", "m.csv"), optimus()));
            ADD_FAILURE() << row << " was accepted";
        } catch (const InputError& error) {
            EXPECT_EQ(std::string(error.what()).rfind("m.csv:3: ", 0), 0U) << error.what();
        }
    };
    expect("link,string,,,,,,,1,1,1,1e9,0.05,,1,s");
    expect("link,switch,,,,,,,1,1,1,1e9,0.05,,1,s");  // Aurora's cards are a mesh
    expect("link,pair,,,,,,,1,1,1,1e18,1e-12,,1,s");  // faster than any machine may be
    expect("host,computer,,,,,,,1,1,1,,0.05,,1,s");
    expect("attention,forward,bf16,,2048,,128,,12,1,1,,0.05,,1,s");
    expect("collective,all-reduce,,,,,,,1,10,4,1e6,0.05,,1,s");
}

}  // namespace
}  // namespace auspex::fit
