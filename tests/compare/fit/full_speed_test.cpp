/// @file Rows of slowed cores, some or most of a file: calibration finds the computer at its full speed all the same.
#include "compare/fit/cost_models/full_speed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "made_up_host.hpp"
#include "models/core_speed.hpp"

namespace auspex::fit {
namespace {

using namespace made_up_host;

constexpr double kFull_s = 2.2e-3;  ///< made_up's probe

bool is_of_core(const models::Measurement& row) {
    return row.kind == "message" || row.kind == "collective" || (row.kind == "kernel" && row.where == "cache") ||
           row.name == "pass" || row.name == "turn";
}

/// The row as cores take it that need `slow` times as long.
models::Measurement slowed(models::Measurement row, double slow) {
    row.source = models::own_source(slow * kFull_s);
    if (is_of_core(row)) {
        row.seconds *= slow;
    } else if (row.kind == "kernel") {
        row.seconds += (slow - 1) * kernel_s({models::CpuKernel::kCopy, row.rows, row.columns});
    }
    return row;
}

/// `share` of the rows are slowed by 1.15 to 1.6, each by itself; the others have a probe of full speed beside them.
std::vector<models::Measurement> some_slowed(const std::vector<models::Measurement>& rows, double share, Rng& random) {
    std::vector<models::Measurement> taken;
    for (const models::Measurement& row : rows) {
        const bool has_probe = is_of_core(row) || row.kind == "kernel" || row.name == "copy";
        taken.push_back(has_probe ? slowed(row, random.uniform() < share ? 1.15 + 0.45 * random.uniform() : 1) : row);
    }
    return taken;
}

TEST(FullSpeed, rows_of_slowed_cores_are_as_at_full_speed) {
    const std::vector<models::Measurement> rows = made_up(true);
    Rng random(5);
    for (const double share : {0.0, 0.3, 0.9, 1.0}) {
        const std::vector<models::Measurement> found = at_full_speed(some_slowed(rows, share, random));
        ASSERT_EQ(found.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            // Probes stand in the file to a nanosecond.
            EXPECT_NEAR(found[i].seconds, rows[i].seconds, 2e-6 * rows[i].seconds) << rows[i].kind << rows[i].name;
        }
    }
}

/// The probe beside a typical row of full speed is not the fastest: rows count as that one does.
TEST(FullSpeed, the_typical_probe_at_full_speed_is_the_measure) {
    models::Measurement probe = host_row("probe", 0, 1e-3, 2);
    models::Measurement calm = message_row("send", "near", 8, 1e-6), slow = message_row("send", "near", 16, 1.5e-6);
    calm.source = models::own_source(1.05e-3);
    slow.source = models::own_source(1.575e-3);
    const std::vector<models::Measurement> found = at_full_speed({probe, calm, slow});
    EXPECT_DOUBLE_EQ(found[1].seconds, 1e-6);
    EXPECT_NEAR(found[2].seconds, 1e-6, 1e-15);
}

TEST(FullSpeed, without_a_probe_nothing_is_slowed) {
    std::vector<models::Measurement> rows{slowed(message_row("send", "near", 8, 1e-6), 1.5)};
    EXPECT_EQ(at_full_speed(rows).front().seconds, 1.5e-6);
    rows.push_back(host_row("probe", 0, kFull_s, 2));
    EXPECT_NEAR(at_full_speed(rows).front().seconds, 1e-6, 1e-12);
}

/// A row from memory loses what the same call lost in the cache, and is never shorter than it.
TEST(FullSpeed, memory_does_not_wait_for_cores) {
    const models::CpuCall call{models::CpuKernel::kCopy, 1, 1024};
    const models::Measurement probe = host_row("probe", 0, kFull_s, 2), near = kernel_row(call, "cache", 1, 1e-6);
    models::Measurement far = kernel_row(call, "memory", 1, 3e-6);
    far.source = models::own_source(1.5 * kFull_s);
    EXPECT_NEAR(at_full_speed({probe, near, far}).back().seconds, 2.5e-6, 1e-15);
    far.seconds = 1.2e-6;
    EXPECT_NEAR(at_full_speed({probe, near, far}).back().seconds, 1e-6, 1e-15);
    EXPECT_EQ(at_full_speed({probe, far}).back().seconds, 1.2e-6);
}

/// Three of four rows were taken before a neighbour went away.
TEST(FullSpeed, a_calibration_on_slowed_cores_finds_the_same_computer) {
    Rng random(7);
    const std::vector<models::Measurement> rows = made_up(false);
    const auto machine = [](const std::vector<models::Measurement>& taken) {
        return machine_of(calibrate_cpu("made-up", taken, trainer_stack()));
    };
    const models::CpuModel calm = machine(rows).cpu, found = machine(some_slowed(rows, 0.75, random)).cpu;
    EXPECT_NEAR(found.busy_speed / calm.busy_speed, 1, 1e-3);
    EXPECT_NEAR(found.core_memory_bytes_per_s / calm.core_memory_bytes_per_s, 1, 1e-3);
    EXPECT_NEAR(found.intra_node.send_s / calm.intra_node.send_s, 1, 1e-3);
    EXPECT_NEAR(found.intra_node.receive_byte_s / calm.intra_node.receive_byte_s, 1, 1e-3);
    EXPECT_NEAR(found.context_switch_s / calm.context_switch_s, 1, 2e-3);
    EXPECT_EQ(found.probe_s, calm.probe_s);
    const models::CpuCall call{models::CpuKernel::kGemmForward, 100, 320, 200};
    EXPECT_NEAR(cpu_seconds(found, call, models::CpuPrecision::kFp32) / kernel_s(call), 1, 1e-3);
}

}  // namespace
}  // namespace auspex::fit
