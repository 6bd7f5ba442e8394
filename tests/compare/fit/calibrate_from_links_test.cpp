/// @file Another machine's links: rates, starts, and what is the stack's and not the machine's.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "calibrate_from_fixture.hpp"

namespace auspex::fit {
namespace {

using namespace testing_fit;

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
    JsonDocument stack = models::with_communication(JsonDocument::load("stacks/optimus.json"));
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

}  // namespace
}  // namespace auspex::fit
