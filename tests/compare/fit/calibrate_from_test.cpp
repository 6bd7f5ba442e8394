/// @file Tables of other machines: the constants that rows determine, the rest untouched, collectives as a check.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.hpp"
#include "compare/fit/calibration.hpp"

namespace auspex::fit {
namespace {

JsonDocument aurora() { return JsonDocument::load("machines/aurora.json"); }

models::Stack optimus(const std::string& transport = "dlcomm-2026") {
    JsonDocument document = JsonDocument::load("stacks/optimus.json");
    document.set("transport.use", transport);
    return models::load_stack(document);
}

models::Machine machine_of(const Calibration& calibration) {
    return models::load_machine(JsonDocument::parse(calibration.machine_json, "calibrated.json"));
}

models::Measurement row(const std::string& kind, const std::string& name, double seconds) {
    models::Measurement measurement;
    measurement.kind = kind;
    measurement.name = name;
    measurement.seconds = seconds;
    measurement.source = "test";
    return measurement;
}

models::Measurement sized(const std::string& kind, const std::string& name, double bytes, double seconds) {
    models::Measurement measurement = row(kind, name, seconds);
    measurement.bytes = bytes;
    return measurement;
}

const FitQuality& fit_of(const Calibration& calibration, const std::string& kind, const std::string& name) {
    const auto found = std::find_if(calibration.fits.begin(), calibration.fits.end(),
                                    [&](const FitQuality& fit) { return fit.kind == kind && fit.name == name; });
    EXPECT_NE(found, calibration.fits.end()) << kind << " " << name;
    return *found;
}

Constant constant_of(const models::Machine& machine, const std::string& path) {
    const auto found = std::find_if(machine.constants.begin(), machine.constants.end(),
                                    [&](const Constant& constant) { return constant.path == path; });
    EXPECT_NE(found, machine.constants.end()) << path;
    return *found;
}

ConstantChange change_of(const Calibration& calibration, const std::string& path) {
    const auto found = std::ranges::find_if(calibration.changes,
                                            [&](const ConstantChange& change) { return change.now.path == path; });
    EXPECT_NE(found, calibration.changes.end()) << path;
    return found == calibration.changes.end() ? ConstantChange{} : *found;
}

bool any_holds(const std::vector<std::string>& texts, const std::string& words) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

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

// 155 TF at depth 2,156 over 169 at 25,872 is about (1 + h / 25,872) / (1 + h / 2,156): h between 200 and 330, whatever
// the filled shares of 0.96 to 0.98 do; the ceiling is 169 of 205.3 TF over such a share and 1 + h / 25,872. All four
// products come out within 3 %.
TEST(CalibrateFrom, auroras_layers_give_ceiling_and_half_depth) {
    const auto rows = models::load_measurements("machines/measurements/aurora.csv");
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    const models::Machine machine = machine_of(calibration);
    EXPECT_NEAR(machine.tile.gemm_half_depth, 265, 65);
    EXPECT_NEAR(machine.tile.gemm_ceiling, 0.86, 0.02);
    const FitQuality& fit = fit_of(calibration, "gemm", "shape");
    EXPECT_FALSE(fit.is_poor) << fit.verdict;
    EXPECT_LT(fit.worst_error, 0.03);
    EXPECT_EQ(constant_of(machine, "machine.tile.gemm_ceiling").kind, ConstantKind::kFitted);
    // Two depths and their noise: from 0 on any half depth is possible.
    EXPECT_EQ(change_of(calibration, "machine.tile.gemm_half_depth").verdict, kNotDetermined);
    EXPECT_EQ(change_of(calibration, "machine.tile.gemm_ceiling").verdict, "good");
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

/// seconds = start + bytes / rate, from 4 KB to 64 MB.
std::vector<models::Measurement> messages(const std::string& name, double start_s, double bytes_per_s) {
    std::vector<models::Measurement> rows;
    for (const double bytes : {4096.0, 65536.0, 1048576.0, 67108864.0}) {
        rows.push_back(sized("link", name, bytes, start_s + bytes / bytes_per_s));
    }
    return rows;
}

// Rate 14 GB/s and a start of 7 us, of which the machine's 1 us stays the wire's and a warning names the constant of
// the stack that has the rest. A whole of half a microsecond is less than that latency, and replaces it.
TEST(CalibrateFrom, sizes_of_a_link_give_rate_and_start) {
    const Calibration calibration = calibrate_from(aurora(), messages("mesh", 7e-6, 14e9), optimus());
    const models::Machine machine = machine_of(calibration);
    EXPECT_NEAR(machine.node.mesh_bytes_per_s, 14e9, 1e6);
    EXPECT_EQ(machine.node.scale_up_latency_s, 1e-6);
    EXPECT_TRUE(any_holds(calibration.warnings, "scale_up_message")) << calibration.machine_json;
    const Calibration faster = calibrate_from(aurora(), messages("mesh", 5e-7, 14e9), optimus());
    EXPECT_NEAR(machine_of(faster).node.scale_up_latency_s, 5e-7, 1e-9);
}

// Rows that no line goes through may give a start of nothing: that takes no latency away.
TEST(CalibrateFrom, a_start_that_is_not_known_leaves_the_latency) {
    const std::vector<models::Measurement> rows{
        sized("link", "mesh", 15e3, 0.3e-6), sized("link", "mesh", 120e3, 20e-6), sized("link", "mesh", 960e3, 70e-6)};
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    EXPECT_EQ(machine_of(calibration).node.scale_up_latency_s, 1e-6) << calibration.machine_json;
    EXPECT_TRUE(any_holds(calibration.warnings, "that may be all of node.scale_up_latency"));
    EXPECT_TRUE(fit_of(calibration, "link", "mesh").is_poor);
}

// A benchmark that keeps many messages under way has no start: its rows say nothing of the NIC's latency.
TEST(CalibrateFrom, rows_of_a_nic_give_its_rate_alone) {
    for (const double start_s : {0.0, 7e-6}) {
        const Calibration calibration = calibrate_from(aurora(), messages("nic", start_s, 22e9), optimus());
        EXPECT_NEAR(machine_of(calibration).node.nic_bytes_per_s, 22e9, 1e6);
        EXPECT_EQ(machine_of(calibration).node.nic_latency_s, models::load_machine(aurora()).node.nic_latency_s);
        ASSERT_EQ(calibration.changes.size(), 1U);
        EXPECT_TRUE(calibration.warnings.empty()) << calibration.warnings.front();
    }
}

// What one rank's transport moves is the stack's rank_bandwidth: advice, as --set takes it, and no word to the machine,
// whose NICs eight such ranks would otherwise slow.
TEST(CalibrateFrom, what_one_rank_moves_is_not_the_nic) {
    const Calibration calibration = calibrate_from(aurora(), messages("rank", 30e-6, 5.8e9), optimus());
    const models::Machine before = models::load_machine(aurora()), after = machine_of(calibration);
    for (std::size_t i = 0; i < before.constants.size(); ++i) {
        EXPECT_EQ(after.constants[i].value, before.constants[i].value) << before.constants[i].path;
    }
    EXPECT_TRUE(calibration.changes.empty());
    ASSERT_EQ(calibration.advice.size(), 1U);
    const ConstantChange& advised = calibration.advice.front();
    EXPECT_EQ(advised.now.path, "stack.transport.entries.dlcomm-2026.rank_bandwidth");
    EXPECT_EQ(advised.before.value, 6.2e9);
    EXPECT_NEAR(advised.now.value, 5.8e9, 1e6);
    EXPECT_EQ(advised.now.kind, ConstantKind::kFitted);
    EXPECT_EQ(advised.rows, "4 rows of link rank");
    EXPECT_EQ(advised.verdict, "good");
    const std::string set = "transport.entries.dlcomm-2026.rank_bandwidth";
    EXPECT_TRUE(any_holds(calibration.warnings, "--set 'stack." + set + "=5.8 GB/s'")) << calibration.warnings.front();
    EXPECT_TRUE(any_holds(calibration.warnings, "scale_out_message"));
    JsonDocument stack = JsonDocument::load("stacks/optimus.json");
    stack.set(set, "5.8 GB/s");
    EXPECT_EQ(models::load_stack(stack).rank_bytes_per_s, 5.8e9);
}

// 6.2 GB/s beside two copies at 54 GB/s are 1 / (1 / 6.2 + 2 / 54) = 5.04 GB/s, which the simulator takes apart, too.
TEST(CalibrateFrom, a_rank_that_stages_whole_buffers_moves_more_than_is_seen) {
    const double seen = 1 / (1 / 6.2e9 + 2 / 54e9);
    const Calibration calibration = calibrate_from(aurora(), messages("rank", 30e-6, seen), optimus("pytorch-2025"));
    ASSERT_EQ(calibration.advice.size(), 1U);
    EXPECT_EQ(calibration.advice.front().now.path, "stack.transport.entries.pytorch-2025.rank_bandwidth");
    EXPECT_NEAR(calibration.advice.front().now.value, 6.2e9, 1e6);
    const Calibration copies_alone = calibrate_from(aurora(), messages("rank", 30e-6, 28e9), optimus("pytorch-2025"));
    EXPECT_TRUE(copies_alone.advice.empty());
}

// A rank that is as fast as the NIC shows no limit of its own; nor does one whose NIC hangs on the device.
TEST(CalibrateFrom, a_rank_as_fast_as_its_nic_advises_nothing) {
    const Calibration fast = calibrate_from(aurora(), messages("rank", 30e-6, 22.5e9), optimus());
    EXPECT_TRUE(fast.advice.empty());
    EXPECT_TRUE(any_holds(fast.warnings, "does not tell rank_bandwidth")) << fast.warnings.front();
    const Calibration on_device =
        calibrate_from(JsonDocument::load("machines/dgx-h100.json"), messages("rank", 10e-6, 20e9), optimus());
    EXPECT_TRUE(on_device.advice.empty());
    EXPECT_TRUE(any_holds(on_device.warnings, "NICs hang on the device")) << on_device.warnings.front();
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
        EXPECT_LE(change.low, change.now.value * (1 + 1e-5));
        EXPECT_GE(change.high, change.now.value * (1 - 1e-5));
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
    EXPECT_EQ(changed.size(), 12U);
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

// Every column and name is one that is read, and every constant of which the script speaks comes out.
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
    expect(machine.tile.attention_efficiency, 0.3);
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
    EXPECT_EQ(points, rows.size());  // none is left out
    EXPECT_EQ(calibration.changes.size(), 9U);
}

// Causal forward 2 S^2 d FLOP a head and sequence, backward 2.5 times as many, at 0.4 of the rate.
TEST(CalibrateFrom, attention_gives_its_share_of_the_rate) {
    std::vector<models::Measurement> rows{row("attention", "forward", 0), row("attention", "backward", 0)};
    for (models::Measurement& measurement : rows) {
        measurement.precision = "bf16";
        measurement.rows = 2048, measurement.depth = 128, measurement.groups = 64, measurement.active = 12;
        const double flop = 2.0 * 2048 * 2048 * 128 * 64 * (measurement.name == "backward" ? 2.5 : 1);
        measurement.seconds = flop / (205.3e12 * 0.4);
    }
    const models::Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
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
    const auto rows = models::load_measurements("machines/measurements/aurora-pytorch-2025.csv");
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
