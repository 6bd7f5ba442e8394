/// @file Attention measured by kernel: curves of the kernels that a table names.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "calibrate_from_fixture.hpp"
#include "models/attention/attention_choice.hpp"
#include "models/kernel_cost.hpp"

namespace auspex::fit {
namespace {

using namespace testing_fit;

JsonDocument h100() { return JsonDocument::load("machines/dgx-h100.json"); }

/// 2 (backward 5) S^2 d FLOP for each of 64 heads at `efficiency` of `rate`.
models::Measurement attention(const char* name, const char* kernel, double sequence, double head, double efficiency,
                              double rate, int active) {
    models::Measurement measured = row("attention", name, 0);
    measured.precision = "bf16", measured.where = kernel;
    measured.rows = sequence, measured.depth = head, measured.groups = 64, measured.active = active;
    const std::string text = name;
    const double products = text == "forward" ? 2 : text == "backward" ? 5 : 7;
    measured.seconds = products * sequence * sequence * head * 64 / (rate * efficiency);
    return measured;
}

std::string refusal(const JsonDocument& machine, const std::vector<models::Measurement>& rows) {
    try {
        static_cast<void>(calibrate_from(machine, rows, optimus()));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

// Causal forward 2 S^2 d FLOP a head and sequence, backward 2.5 times as many, at 0.4 of the rate: of a machine that
// has one kernel without a name, whether the table names it or not.
TEST(CalibrateFrom, attention_gives_its_share_of_the_rate) {
    for (const char* const kernel : {"", "sdpa"}) {
        std::vector<models::Measurement> rows{attention("forward", kernel, 2048, 128, 0.4, 205.3e12, 12),
                                              attention("backward", kernel, 2048, 128, 0.4, 205.3e12, 12)};
        const models::Machine machine = machine_of(calibrate_from(aurora(), rows, optimus()));
        ASSERT_EQ(machine.tile.attention_kernels.size(), 1);
        EXPECT_EQ(machine.tile.attention_kernels.front().name, "");
        EXPECT_NEAR(machine.tile.attention_kernels.front().efficiency, 0.4, 1e-5);
        rows[0].groups = 0;
        EXPECT_NE(refusal(aurora(), rows).find("groups"), std::string::npos);
    }
}

// Forward at 0.6 and backward at 0.3 take 2 / 0.6 + 5 / 0.3 = 20 for 7 FLOP: 0.35 for a step.
TEST(CalibrateFrom, attention_of_both_directions_counts_together) {
    const std::vector<models::Measurement> rows{attention("forward", "", 2048, 128, 0.6, 205.3e12, 12),
                                                attention("backward", "", 2048, 128, 0.3, 205.3e12, 12)};
    const Calibration calibration = calibrate_from(aurora(), rows, optimus());
    EXPECT_NEAR(machine_of(calibration).tile.attention_kernels.front().efficiency, 0.35, 1e-5);
    EXPECT_EQ(fit_of(calibration, "attention", "forward+backward").points.size(), 1);
}

// 0.5 S / (S + 700), for heads of 64 times (64 / 94) / (128 / 158): all three come back, for the kernel of that name;
// another that the machine has stays, and one that it has not joins it.
TEST(CalibrateFrom, attention_made_by_the_law_gives_the_curve_of_its_kernel) {
    const double rate = models::load_machine(h100()).tile.gemm_bf16_flop_per_s;
    for (const char* const kernel : {"flash-attention-2", "flash-attention-9"}) {
        const models::AttentionKernel law{kernel, 0.5, 700, 30};
        std::vector<models::Measurement> rows;
        for (const double sequence : {1024.0, 4096.0, 16384.0}) {
            for (const double head : {64.0, 128.0}) {
                const double efficiency = models::attention_efficiency(law, sequence, head);
                rows.push_back(attention("forward+backward", kernel, sequence, head, efficiency, rate, 8));
            }
        }
        const Calibration calibration = calibrate_from(h100(), rows, optimus());
        const models::Tile tile = machine_of(calibration).tile;
        const models::AttentionKernel* const found = models::find_attention_kernel(tile, kernel);
        ASSERT_NE(found, nullptr);
        EXPECT_NEAR(found->efficiency, 0.5, 1e-4);
        EXPECT_NEAR(found->half_sequence, 700, 0.5);
        EXPECT_NEAR(found->half_head, 30, 0.1);
        EXPECT_EQ(models::find_attention_kernel(tile, "cudnn")->efficiency, 0.835);
        const std::string place = std::string("machine.tile.attention_kernels.") + kernel;
        EXPECT_EQ(change_of(calibration, place + ".efficiency").verdict, "good");
        EXPECT_EQ(change_of(calibration, place + ".half_head").now.value, found->half_head);
        EXPECT_FALSE(fit_of(calibration, "attention", "forward+backward").is_poor);
    }
}

// Constants that a file leaves out join it: Aurora's has no half_sequence, an MI355X's kernel neither.
TEST(CalibrateFrom, attention_of_several_lengths_gives_a_machine_its_half_sequence) {
    std::vector<models::Measurement> rows;
    for (const double sequence : {1024.0, 4096.0, 16384.0}) {
        const double efficiency = models::attention_efficiency({"", 0.3, 500, 0}, sequence, 128);
        rows.push_back(attention("forward+backward", "", sequence, 128, efficiency, 205.3e12, 12));
    }
    const models::AttentionKernel of_aurora =
        machine_of(calibrate_from(aurora(), rows, optimus())).tile.attention_kernels.front();
    EXPECT_NEAR(of_aurora.efficiency, 0.3, 1e-4);
    EXPECT_NEAR(of_aurora.half_sequence, 500, 0.5);
    const models::Tile mi355x =
        machine_of(calibrate_from(JsonDocument::load("machines/mi355x.json"),
                                  models::load_measurements("machines/measurements/mi355x.csv"), optimus()))
            .tile;
    EXPECT_GT(models::find_attention_kernel(mi355x, "aiter")->half_sequence, 0);
    EXPECT_NE(models::find_attention_kernel(mi355x, "hipkittens"), nullptr);
}

// What cuDNN and flash-attention 2 take on an H100 for both directions of a step: curves within 6 % of every shape, and
// the machine's own.
TEST(CalibrateFrom, an_h100s_table_gives_the_curves_of_its_machine) {
    const auto rows = models::load_measurements("machines/measurements/h100-sxm.csv");
    const models::Tile before = models::load_machine(h100()).tile;
    const Calibration calibration = calibrate_from(h100(), rows, optimus());
    const models::Tile after = machine_of(calibration).tile;
    for (const char* const name : {"cudnn", "flash-attention-2"}) {
        for (const double sequence : {2048.0, 4096.0, 8192.0}) {
            for (const double head : {64.0, 128.0}) {
                const auto rate = [&](const models::Tile& tile) {
                    return tile.gemm_bf16_flop_per_s *
                           attention_efficiency(*models::find_attention_kernel(tile, name), sequence, head);
                };
                EXPECT_NEAR(rate(after) / rate(before), 1, 0.06) << name << ", " << sequence << " tokens, " << head;
            }
        }
    }
}

TEST(CalibrateFrom, attention_whose_kernel_is_not_told_is_refused) {
    const models::Measurement unnamed = attention("forward", "", 2048, 128, 0.4, 684e12, 8);
    EXPECT_NE(refusal(h100(), {unnamed}).find("expected one of cudnn, flash-attention-2 of machine dgx-h100"),
              std::string::npos);
    const std::vector<models::Measurement> two{attention("forward", "a", 2048, 128, 0.4, 205e12, 12),
                                               attention("forward", "b", 2048, 128, 0.4, 205e12, 12)};
    EXPECT_NE(refusal(aurora(), two).find("tile.attention_efficiency"), std::string::npos);
}

}  // namespace
}  // namespace auspex::fit
