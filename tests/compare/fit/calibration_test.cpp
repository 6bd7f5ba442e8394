/// @file A computer that is made up: calibration finds what its rows were made with, and writes a file that loads.
#include "compare/fit/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"
#include "compare/fit/cost_models/verdict.hpp"
#include "made_up_host.hpp"

namespace auspex::fit {
namespace {

using namespace made_up_host;

TEST(Calibration, finds_the_constants_that_its_rows_were_made_with) {
    const Calibration calibration = calibrate_cpu("made-up", made_up(false), trainer_stack());
    const models::Machine machine = machine_of(calibration);
    const models::CpuModel& cpu = machine.cpu;
    EXPECT_EQ(machine.name, "made-up");
    EXPECT_EQ(cpu.cores, 2);
    EXPECT_NEAR(cpu.quantum_s, 4e-3, 1e-9);
    EXPECT_NEAR(cpu.busy_speed, kBusy, 1e-3);
    EXPECT_NEAR(cpu.cache_bytes / kCache, 1, 1e-6);
    EXPECT_NEAR(cpu.core_memory_bytes_per_s / kCoreMemory, 1, 1e-3);
    const models::CpuKernelCost& copy = cpu.kernel_costs[0][static_cast<std::size_t>(models::CpuKernel::kCopy)];
    EXPECT_NEAR(copy.capacity_bytes / kReach, 1, 1e-6);
    EXPECT_NEAR(copy.miss_byte_s / kFarByte, 1, 1e-3);
    // Copies of one core move 40 GB/s from the cache whatever the others do: two cores, twice that.
    EXPECT_NEAR(cpu.cache_bytes_per_s / 80e9, 1, 1e-3);
    EXPECT_NEAR(cpu.memory_bytes_per_s / 25e9, 1, 1e-3);
    EXPECT_NEAR(calibration.probe_s, 2.2e-3, 1e-12);
    EXPECT_NEAR(cpu.probe_s, 2.2e-3, 1e-8);
    const models::CpuCall call{models::CpuKernel::kGemmForward, 100, 320, 200};
    EXPECT_NEAR(cpu_seconds(cpu, call, models::CpuPrecision::kFp32) / kernel_s(call), 1, 1e-3);
    EXPECT_FALSE(cpu.kernel_costs[1][0].known);
}

TEST(Calibration, takes_messages_apart) {
    const models::MessageCosts near =
        machine_of(calibrate_cpu("made-up", made_up(false), trainer_stack())).cpu.intra_node;
    const models::CpuModel cpu = machine_of(calibrate_cpu("made-up", made_up(false), trainer_stack())).cpu;
    EXPECT_NEAR(near.send_s / kSend, 1, 0.02);
    EXPECT_NEAR(near.receive_s / kReceive, 1, 0.02);
    EXPECT_NEAR(near.send_byte_s / kSendByte, 1, 0.05);
    EXPECT_NEAR(near.receive_byte_s / kReceiveByte, 1, 0.02);
    EXPECT_NEAR(near.rendezvous_s / kRendezvous, 1, 0.02);
    EXPECT_EQ(near.latency_s, 0);
    EXPECT_LT(near.buffered_bytes, near.eager_bytes);
    EXPECT_NEAR(cpu.poll_s / kPoll, 1, 0.1);
    EXPECT_NEAR(cpu.context_switch_s / kSwitch, 1, 0.05);
}

// ping_pong = send + receive + switch there, and passes of a token tell the switch.
TEST(Calibration, on_one_core_a_ping_pong_waits_for_the_switch) {
    std::vector<models::Measurement> rows = made_up(false);
    for (models::Measurement& row : rows) {
        if (row.where == "near") {
            row.where = "shared";
            row.seconds += row.name == "ping_pong" ? kSwitch - kPoll / 2 : 0;
        }
    }
    const Calibration calibration = calibrate_cpu("made-up", rows, trainer_stack());
    const models::CpuModel cpu = machine_of(calibration).cpu;
    EXPECT_NEAR(cpu.intra_node.send_s / kSend, 1, 0.02);
    EXPECT_NEAR(cpu.intra_node.send_byte_s / kSendByte, 1, 0.05);
    EXPECT_NEAR(cpu.intra_node.receive_byte_s / kReceiveByte, 1, 0.02);
    EXPECT_EQ(cpu.intra_node.receive_s, cpu.intra_node.send_s);
    EXPECT_EQ(cpu.poll_s, 0);
    EXPECT_NEAR((cpu.context_switch_s + 2 * cpu.intra_node.send_s) / (kSwitch + kSend + kReceive), 1, 0.02);
    EXPECT_TRUE(std::ranges::any_of(calibration.fits, [](const FitQuality& fit) { return fit.name == "shared"; }));
}

TEST(Calibration, turns_tell_what_others_push_out) {
    const models::CpuModel cpu = machine_of(calibrate_cpu("made-up", made_up(false), trainer_stack())).cpu;
    EXPECT_NEAR(cpu.core_capacity_bytes / kCoreReach, 1, 1e-6);
    EXPECT_NEAR(cpu.reload_byte_s / kRefillByte, 1, 1e-6);
}

TEST(Calibration, far_messages_give_the_wire) {
    // 1 / nic = 8 ns a byte; latency and the look of a waiting process stand apart.
    const models::Machine machine = machine_of(calibrate_cpu("made-up", made_up(true), trainer_stack()));
    EXPECT_EQ(machine.fabric.max_nodes, 2);
    EXPECT_EQ(machine.cpu.nodes_per_computer, 2);
    EXPECT_NEAR(machine.node.nic_bytes_per_s / 125e6, 1, 0.02);
    EXPECT_NEAR(machine.cpu.inter_node.latency_s / 20e-6, 1, 0.05);
    EXPECT_NEAR(machine.cpu.inter_node.send_s / kSend, 1, 0.2);
    EXPECT_NEAR(machine.cpu.inter_node.rendezvous_s, kRendezvous, 0.5e-6);
}

TEST(Calibration, every_number_says_where_it_is_from) {
    const models::Machine machine = machine_of(calibrate_cpu("made-up", made_up(false), trainer_stack()));
    int of_host = 0;
    for (const Constant& constant : machine.constants) {
        EXPECT_FALSE(constant.source.empty()) << constant.path;
        if (constant.path.starts_with("machine.host.kernels.")) {
            ++of_host;
            EXPECT_NE(constant.source.find("auspex calibrate on Made-up CPU, 2026-11-21"), std::string::npos);
            EXPECT_EQ(constant.kind, ConstantKind::kFitted);
        }
    }
    EXPECT_EQ(of_host, 7 + 4) << "a product of seven terms; a copy of two, with far bytes and their reach";
}

TEST(Calibration, a_verdict_names_the_worst_shape) {
    FitQuality quality;
    quality.kind = "kernel";
    for (int i = 0; i < 20; ++i) {
        quality.points.push_back(kernel_row({models::CpuKernel::kGemmForward, 16, 32, 48}, "cache", 1, 1e-6));
        quality.predicted.push_back(1.01e-6);
    }
    judge_timings(quality);
    EXPECT_EQ(quality.verdict, "good");
    quality.points[3].rows = 64;
    quality.predicted[3] = 0.75e-6;
    judge_timings(quality);
    EXPECT_EQ(quality.verdict, "poor: off by -25 % at 64 x 32 x 48");
    quality.predicted[3] = 0.2e-6;
    judge_timings(quality);
    EXPECT_EQ(quality.verdict, "good; 1 outlier, the farthest 64 x 32 x 48, -80 %");
    EXPECT_NEAR(quality.worst_error, 0.01, 1e-9);
    EXPECT_NEAR(quality.farthest_error, 0.8, 1e-9);
    // One in ten is too many of eight.
    quality.points.resize(8);
    quality.predicted.resize(8);
    judge_timings(quality);
    EXPECT_TRUE(quality.is_poor);
    EXPECT_EQ(quality.verdict, "poor: too many outliers (1 of 8), the farthest 64 x 32 x 48, -80 %");
}

const FitQuality* fit_of(const Calibration& calibration, const std::string& name) {
    const auto found = std::find_if(calibration.fits.begin(), calibration.fits.end(),
                                    [&](const FitQuality& fit) { return fit.name == name; });
    return found == calibration.fits.end() ? nullptr : &*found;
}

TEST(Calibration, what_cores_share_has_verdicts) {
    std::vector<models::Measurement> rows = made_up(false);
    const Calibration good = calibrate_cpu("made-up", rows, trainer_stack());
    for (const char* name : {"copies_alone", "copies_together", "busy_cores", "passes", "turns"}) {
        const FitQuality* const fit = fit_of(good, name);
        ASSERT_NE(fit, nullptr) << name;
        EXPECT_EQ(fit->kind, "sharing") << name;
        EXPECT_EQ(fit->verdict, "good") << name;
    }
    // A refill that does not grow with what was pushed out: the law cannot say that, and its verdict does.
    int number = 0;
    for (models::Measurement& row : rows) {
        if (row.name == "turn" && row.active > 1) {
            row.seconds *= ++number % 2 == 0 ? 1.5 : 1;
        }
    }
    const Calibration poor = calibrate_cpu("made-up", rows, trainer_stack());
    ASSERT_NE(fit_of(poor, "turns"), nullptr);
    EXPECT_TRUE(fit_of(poor, "turns")->is_poor);
    EXPECT_TRUE(std::ranges::any_of(poor.warnings, [](const auto& text) { return text.starts_with("turns: poor"); }));
}

/// busy_speed = time alone / time with all cores busy, both timed in the same way: a law that says something else of
/// the same call does not count.
TEST(Calibration, a_timing_alone_counts_before_the_law) {
    std::vector<models::Measurement> rows = made_up(false);
    const models::CpuCall shared{models::CpuKernel::kGemmForward, 64, 512, 192};
    const double alone_s = 1.1 * kernel_s(shared);
    std::erase_if(rows, [&](const models::Measurement& row) {
        return row.kind == "kernel" && row.rows == shared.rows && row.columns == shared.columns &&
               row.depth == shared.depth;
    });
    rows.push_back(kernel_row(shared, "cache", 1, alone_s));
    rows.push_back(kernel_row(shared, "cache", 2, alone_s / kBusy));
    const models::CpuModel cpu = machine_of(calibrate_cpu("made-up", rows, trainer_stack())).cpu;
    EXPECT_NEAR(cpu.busy_speed, kBusy, 1e-6);
}

TEST(Calibration, one_precision_is_enough) {
    std::vector<models::Measurement> rows = made_up(false);
    for (models::Measurement& row : rows) {
        row.precision = row.kind == "kernel" && row.active == 1 ? "bf16" : row.precision;
    }
    // What ranks share is timed in fp32, of which there is neither a law nor a timing alone: it tells nothing.
    const Calibration calibration = calibrate_cpu("made-up", rows, trainer_stack());
    const models::Machine machine = machine_of(calibration);
    EXPECT_FALSE(machine.cpu.kernel_costs[0][0].known);
    EXPECT_TRUE(machine.cpu.kernel_costs[1][0].known);
    EXPECT_EQ(machine.cpu.busy_speed, 1);
    EXPECT_NEAR(machine.cpu.intra_node.send_s / kSend, 1, 0.02);
    EXPECT_GT(machine.tile.gemm_fp32_flop_per_s, 0);
    // With timings alone it does, law or not.
    const models::CpuCall shared{models::CpuKernel::kGemmForward, 64, 512, 192};
    rows.push_back(kernel_row(shared, "cache", 1, kernel_s(shared)));
    EXPECT_NEAR(machine_of(calibrate_cpu("made-up", rows, trainer_stack())).cpu.busy_speed, kBusy, 1e-3);
    // Two copies of fp32 that ranks shared make no law of two terms: nothing would be left to say how good it is.
    for (const double bytes : {60e3, 4e6}) {
        const models::CpuCall copy{models::CpuKernel::kCopy, 1, bytes};
        rows.push_back(kernel_row(copy, "cache", 1, 2 * kernel_s(copy)));
    }
    const models::CpuModel cpu = machine_of(calibrate_cpu("made-up", rows, trainer_stack())).cpu;
    EXPECT_FALSE(cpu.kernel_costs[0][static_cast<std::size_t>(models::CpuKernel::kCopy)].known);
    EXPECT_NEAR(cpu.intra_node.send_s / kSend, 1, 0.02);
    // Collectives of fp32 cannot be played without laws of it.
    models::Measurement collective = row_of("collective", "all_reduce");
    collective.bytes = 1024, collective.seconds = 1e-5, collective.active = collective.ranks = 2;
    rows.push_back(collective);
    const Calibration unchecked = calibrate_cpu("made-up", rows, trainer_stack());
    EXPECT_EQ(fit_of(unchecked, "all_reduce"), nullptr);
    EXPECT_TRUE(std::ranges::any_of(unchecked.warnings,
                                    [](const auto& text) { return text.starts_with("collectives are not checked"); }));
}

/// Whatever is taken from the file, what is left makes a machine file that loads, or one error that says what is
/// missing.
TEST(Calibration, thin_measurements_end_in_a_file_or_in_one_error) {
    const std::vector<models::Measurement> all = made_up(true);
    int files = 0, errors = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Rng random(seed);
        std::vector<models::Measurement> rows = all;
        const double kept = 0.3 + 0.7 * random.uniform();
        std::erase_if(rows, [&](const models::Measurement& row) {
            return row.name != "computer" && row.name != "last_level_cache" && random.uniform() > kept;
        });
        try {
            static_cast<void>(machine_of(calibrate_cpu("made-up", rows, trainer_stack())));
            ++files;
        } catch (const InputError& error) {
            const std::string text = error.what();
            EXPECT_TRUE(text.starts_with("measurements: found ")) << text;
            EXPECT_NE(text.find("; expected "), std::string::npos) << text;
            ++errors;
        }
    }
    EXPECT_GT(files, 5);
    EXPECT_GT(errors, 5);
}

TEST(Calibration, the_fastest_session_says_what_full_speed_is) {
    std::vector<models::Measurement> rows = made_up(false);
    rows.push_back(host_row("probe", 0, 2.9e-3, 2));  // a later session, on slowed cores
    EXPECT_NEAR(calibrate_cpu("made-up", rows, trainer_stack()).probe_s, 2.2e-3, 1e-12);
    rows.push_back(host_row("probe", 0, 2.0e-3, 2));
    EXPECT_NEAR(calibrate_cpu("made-up", rows, trainer_stack()).probe_s, 2.0e-3, 1e-12);
}

TEST(Calibration, what_other_work_had_of_the_cores_at_worst_is_kept) {
    std::vector<models::Measurement> rows = made_up(false);
    const auto load = [&rows] {
        const std::string text = calibrate_cpu("made-up", rows, trainer_stack()).machine_json;
        return models::load_machine(JsonDocument::parse(text, "made-up.json")).cpu.background_load;
    };
    EXPECT_EQ(load(), 0);
    rows.push_back(host_row("background", 0, 0.125, 2));
    rows.push_back(host_row("background", 0, 0.375, 2));
    rows.push_back(host_row("background", 0, 0.25, 2));
    EXPECT_EQ(load(), 0.375);
}

TEST(Calibration, missing_rows_are_named) {
    const auto fault_without = [](const std::string& name) {
        std::vector<models::Measurement> rows = made_up(false);
        std::erase_if(rows, [&](const models::Measurement& row) { return row.name == name; });
        try {
            static_cast<void>(calibrate_cpu("made-up", rows, trainer_stack()));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const char* name : {"computer", "probe", "copy", "ping_pong", "gemm_forward"}) {
        EXPECT_NE(fault_without(name).find(name), std::string::npos) << name << ": " << fault_without(name);
    }
    // What could not be measured is assumed, or taken as 0, with one warning each.
    const auto warnings_without = [](const std::string& name) {
        std::vector<models::Measurement> some = made_up(false);
        std::erase_if(some, [&](const models::Measurement& row) { return row.name == name; });
        std::string found;
        for (const std::string& warning : calibrate_cpu("made-up", some, trainer_stack()).warnings) {
            found += warning.find("\"" + name + "\"") != std::string::npos ? warning + "\n" : "";
        }
        return found;
    };
    for (const auto& [name, taken] :
         {std::pair{"slice", "3 ms are assumed"}, std::pair{"pass", "1 us is assumed"}, std::pair{"turn", "taken as 0"},
          std::pair{"stream", "sending takes is assumed"}}) {
        const std::string warning = warnings_without(name);
        EXPECT_NE(warning.find(taken), std::string::npos) << name << ": " << warning;
        EXPECT_EQ(std::ranges::count(warning, '\n'), 1) << warning;
    }
    const Calibration few = calibrate_cpu("made-up", made_up(false), trainer_stack());
    EXPECT_EQ(
        std::ranges::count_if(few.warnings, [](const auto& text) { return text.find("more kernels") != text.npos; }),
        1);
    // More ranks than cores were not there: assumed, with a warning.
    std::vector<models::Measurement> rows = made_up(false);
    std::erase_if(rows, [](const models::Measurement& row) { return row.name == "slice"; });
    const Calibration calibration = calibrate_cpu("made-up", rows, trainer_stack());
    EXPECT_TRUE(std::any_of(calibration.warnings.begin(), calibration.warnings.end(), [](const std::string& warning) {
        return warning.find("3 ms are assumed") != std::string::npos;
    }));
}

// Copies say where the cache ends. The system's word bounds it, where a sweep does not contradict; without either 32
// MiB do.
TEST(Calibration, the_last_level_needs_no_word_of_the_system) {
    const auto with_told = [](double told_bytes, bool has_sweep) {
        std::vector<models::Measurement> rows = made_up(false);
        std::erase_if(rows, [](const models::Measurement& row) { return row.name == "last_level_cache"; });
        if (told_bytes > 0) {
            rows.push_back(host_row("last_level_cache", told_bytes, 0, 1));
        }
        for (double bytes = 16'384; has_sweep && bytes <= 512 * kMi; bytes *= std::sqrt(2)) {
            rows.push_back(host_row("sweep", bytes, bytes * (1 / 40e9 + missed(kCache, bytes) / kCoreMemory), 1));
        }
        return rows;
    };
    const auto cache_of = [](const std::vector<models::Measurement>& rows, std::string& warnings) {
        const Calibration calibration = calibrate_cpu("made-up", rows, trainer_stack());
        warnings.clear();
        for (const std::string& warning : calibration.warnings) {
            warnings += warning.find("last-level cache") != std::string::npos ? warning + "\n" : "";
        }
        return machine_of(calibration).cpu.cache_bytes;
    };
    std::string warnings;
    EXPECT_NEAR(cache_of(with_told(kCache, true), warnings) / kCache, 1, 0.02);
    EXPECT_EQ(warnings, "");
    EXPECT_NEAR(cache_of(with_told(0, true), warnings) / kCache, 1, 0.05);
    EXPECT_NE(warnings.find("does not say how large it is, copies take longer from"), std::string::npos) << warnings;
    EXPECT_NEAR(cache_of(with_told(16 * kCache, true), warnings) / kCache, 1, 0.05);
    EXPECT_NE(warnings.find("its end is fitted"), std::string::npos) << warnings;
    EXPECT_NEAR(cache_of(with_told(0, false), warnings) / kCache, 1, 0.05);
    EXPECT_NE(warnings.find("is assumed"), std::string::npos) << warnings;
}

/// Rows from which no machine file can be made are named, not the file that was not written.
TEST(Calibration, rows_that_make_no_machine_are_named_by_their_kind) {
    for (const auto& [name, path] :
         {std::pair{"pass", "host.switch"}, std::pair{"slice", "host.core_slice"}, std::pair{"probe", "host.probe"}}) {
        std::vector<models::Measurement> rows = made_up(false);
        for (models::Measurement& row : rows) {
            row.seconds = row.name == name && row.kind == "host" ? 1e9 : row.seconds;
        }
        try {
            static_cast<void>(calibrate_cpu("made-up", rows, trainer_stack()));
            ADD_FAILURE() << name;
        } catch (const InputError& error) {
            const std::string text = error.what();
            EXPECT_TRUE(text.starts_with("measurements: ")) << text;
            EXPECT_NE(text.find("rows of kind \"host\" named \"" + std::string(name) + "\""), std::string::npos)
                << text;
            EXPECT_NE(text.find(path), std::string::npos) << text;
            EXPECT_EQ(text.find("made-up.json"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace auspex::fit
