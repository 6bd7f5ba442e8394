/// @file How jobs start on a machine, read from its file.
#include "models/jobs/launch_settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::models {
namespace {

JsonDocument file(const std::string& folder, const std::string& name) {
    return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + folder + "/" + name + ".json");
}

TEST(LaunchSettings, every_shipped_machine_says_how_its_jobs_start) {
    for (const char* name : {"aurora", "frontier", "lumi", "dgx-a100", "dgx-h100", "hf-h100", "mi300x"}) {
        const JsonDocument machine = file("machines", name);
        const LaunchSettings settings = launch_settings_of(machine);
        EXPECT_TRUE(settings.is_known) << name;
        EXPECT_EQ(settings.batch == BatchSystem::kPbs, std::string(name) == "aurora");
        const int tiles = load_machine(machine).node.tiles;
        EXPECT_TRUE(settings.cores.empty() || settings.cores.size() == static_cast<std::size_t>(tiles)) << name;
        std::vector<int> all;
        for (const std::string& cores : settings.cores) {
            const std::vector<int> own = core_numbers(cores, name);
            all.insert(all.end(), own.begin(), own.end());
        }
        std::sort(all.begin(), all.end());
        EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << name << ": no core of two ranks";
        for (const EnvironmentVariable& variable : settings.environment) {
            EXPECT_FALSE(variable.text.source.empty()) << variable.name;
        }
    }
}

// The masks of the LUMI user guide: 7e000000000000 are cores 49 to 54, those of GCD 0.
TEST(LaunchSettings, cores_of_lumi_are_those_of_its_guide) {
    const LaunchSettings lumi = launch_settings_of(file("machines", "lumi"));
    const std::vector<std::uint64_t> masks{0x7e000000000000, 0x7e00000000000000, 0x7e0000,      0x7e000000, 0x7e,
                                           0x7e00,           0x7e00000000,       0x7e0000000000};
    ASSERT_EQ(lumi.cores.size(), masks.size());
    for (std::size_t tile = 0; tile < masks.size(); ++tile) {
        std::uint64_t mask = 0;
        for (const int core : core_numbers(lumi.cores[tile], "lumi")) {
            mask |= std::uint64_t{1} << core;
        }
        EXPECT_EQ(mask, masks[tile]) << tile;
    }
}

// 91 nodes and fewer have 2 h on Frontier, 92 have 6 h; on Aurora prod passes 512 nodes on to tiny, 513 to small.
TEST(LaunchSettings, limits_are_those_of_the_nodes) {
    constexpr double kHour_s = 3600;
    const auto hours = [&](const LaunchSettings& settings, int nodes) {
        return walltime_limit(settings, nodes).value_or(WalltimeLimit{}).walltime_s / kHour_s;
    };
    const LaunchSettings frontier = launch_settings_of(file("machines", "frontier"));
    for (const auto& [nodes, limit] : std::vector<std::pair<int, double>>{
             {1, 2}, {91, 2}, {92, 6}, {183, 6}, {184, 12}, {1882, 12}, {9472, 12}, {9473, 0}}) {
        EXPECT_EQ(hours(frontier, nodes), limit) << nodes;
    }
    const LaunchSettings aurora = launch_settings_of(file("machines", "aurora"));
    for (const auto& [nodes, limit] : std::vector<std::pair<int, double>>{
             {512, 6}, {513, 12}, {1024, 12}, {1025, 18}, {2048, 18}, {2049, 24}, {10624, 24}}) {
        EXPECT_EQ(hours(aurora, nodes), limit) << nodes;
    }
    EXPECT_FALSE(walltime_limit(launch_settings_of(file("machines", "dgx-h100")), 1));
}

TEST(LaunchSettings, stacks_say_what_they_set) {
    const Environment oneccl = environment_of(file("stacks", "oneccl"));
    ASSERT_EQ(oneccl.size(), 3U);
    EXPECT_EQ(oneccl[0].name, "CCL_ALLREDUCE_SCALEOUT");
    EXPECT_EQ(oneccl[0].text.value, "direct:0-1048576;rabenseifner:1048577-max");
    EXPECT_EQ(oneccl[0].text.kind, ConstantKind::kSpecified);
    EXPECT_TRUE(environment_of(file("stacks", "bare")).empty());
}

TEST(LaunchSettings, what_is_wrong_is_named) {
    const auto fault = [](const char* path, const char* value) {
        JsonDocument machine = file("machines", "aurora");
        try {
            machine.set(path, value);
            static_cast<void>(load_machine(machine));
            static_cast<void>(launch_settings_of(machine));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    const auto names = [](const std::string& message, const char* words) {
        return message.find(words) != std::string::npos;
    };
    EXPECT_EQ(fault("launch.batch", "slurm"), "accepted");
    EXPECT_PRED2(names, fault("launch.batch", "lsf"), "$.launch.batch: found \"lsf\"");
    EXPECT_PRED2(names, fault("launch.platform", "metal"), "$.launch.platform");
    EXPECT_PRED2(names, fault("launch.launcher", R"({"value": "mpiexec {np}", "source": "x", "kind": "assumed"})"),
                 "$.launch.launcher.value: found \"mpiexec {np}\"");
    EXPECT_PRED2(names, fault("launch.launcher", "mpiexec\n-n 1"), "$.launch.launcher.value");
    EXPECT_PRED2(names, fault("launch.cores", R"(["0-7"])"), "cores of each of the 12 tiles");
    EXPECT_PRED2(names, fault("launch.environment", R"({"A B": {"value": "1", "source": "x", "kind": "assumed"}})"),
                 "\"A B\"");
    EXPECT_PRED2(names, fault("launch.environment", R"({"A": "1"})"), "$.launch.environment.A");
    EXPECT_PRED2(names, fault("launch.speed", "1"), "launch");
    EXPECT_PRED2(names, fault("launch.rank", R"({"value": "a b", "source": "x", "kind": "assumed"})"),
                 "$.launch.rank.value");
    const auto limits = [&](const std::string& list) {
        return fault("launch.walltime_limits",
                     (R"({"source": "x", "kind": "assumed", "value": )" + list + "}").c_str());
    };
    EXPECT_EQ(limits(R"([{"up_to_nodes": 2, "walltime": "90 min"}])"), "accepted");
    EXPECT_PRED2(names, limits(R"([{"up_to_nodes": 2, "walltime": "90 s"}])"), "[0].walltime: found \"90 s\"");
    EXPECT_PRED2(names, limits(R"([{"up_to_nodes": 2, "walltime": "1 h"}, {"up_to_nodes": 2, "walltime": "2 h"}])"),
                 "[1].up_to_nodes: found 2; expected more than the 2");
    EXPECT_PRED2(names, limits(R"([{"walltime": "1 h"}])"), "up_to_nodes");
    EXPECT_PRED2(names, limits(R"([{"up_to_nodes": 2, "walltime": "1 h", "queue": "x"}])"), "queue");
    JsonDocument smaller = file("machines", "aurora");
    smaller.set("node.tiles", "8");
    EXPECT_EQ(load_machine(smaller).node.tiles, 8);  // a what-if, for which no script can be written
    EXPECT_THROW(static_cast<void>(launch_settings_of(smaller)), InputError);
    for (const char* cores : {"", "7-0", "0-", "a", "0-4096", "1,,2", "-1", "0-4095,0-4095"}) {
        EXPECT_THROW(static_cast<void>(core_numbers(cores, "cores")), InputError) << cores;
    }
    EXPECT_EQ(core_numbers("0-2,8", "cores"), (std::vector<int>{0, 1, 2, 8}));
}

}  // namespace
}  // namespace auspex::models
