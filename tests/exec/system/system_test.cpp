/// @file What the system says, and limits: control groups of both versions, cores, caches.
#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/system/caches.hpp"
#include "exec/system/computer.hpp"
#include "exec/system/control_groups.hpp"
#include "exec/system/cores.hpp"

namespace auspex::exec {
namespace {

namespace fs = std::filesystem;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// Made-up files of a process and of the groups that are mounted below the folder.
class Groups : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "auspex groups XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << text;
    }
    /// A line of mountinfo; spaces stand there as \040.
    [[nodiscard]] std::string mount(const std::string& root, const std::string& at, const std::string& type,
                                    const std::string& options) const {
        std::string point = (folder_ / at).string();
        for (std::size_t space = point.find(' '); space != std::string::npos; space = point.find(' ')) {
            point.replace(space, 1, "\\040");
        }
        return "31 30 0:28 " + root + " " + point + " rw,relatime shared:9 - " + type + " source " + options + "\n";
    }
    [[nodiscard]] GroupLimits limits() const { return group_limits(folder_.string()); }

    fs::path folder_;
};

TEST_F(Groups, nothing_limits_where_nothing_can_be_read) {
    EXPECT_EQ(limits().memory_bytes, kNone);
    EXPECT_EQ(limits().cores, kNone);
    write("cgroup", "rubbish\n0:\n\n0::/a\n");
    write("mountinfo", "rubbish - \n" + mount("/", "v2", "cgroup2", "rw") + "1 2 3\n");
    EXPECT_EQ(limits().memory_bytes, kNone);
    write("v2/a/memory.max", "many\n");
    write("v2/a/cpu.max", "\n");
    EXPECT_EQ(limits().memory_bytes, kNone);
    EXPECT_EQ(limits().cores, kNone);
}

// The tightest of the groups from the process's up to the root counts; "max" is no limit.
TEST_F(Groups, version_2) {
    write("cgroup", "0::/job/step\n");
    write("mountinfo", mount("/", "v2", "cgroup2", "rw"));
    write("v2/memory.max", "8000000000\n");
    write("v2/job/memory.max", "3000000000\n");
    write("v2/job/step/memory.max", "max\n");
    write("v2/job/cpu.max", "150000 100000\n");
    write("v2/job/step/cpu.max", "max 100000\n");
    EXPECT_EQ(limits().memory_bytes, 3e9);
    EXPECT_EQ(limits().cores, 1.5);
}

TEST_F(Groups, version_1_has_a_hierarchy_for_each_controller) {
    write("cgroup", "3:memory:/job\n2:cpu,cpuacct:/slow\n1:name=systemd:/\n0::/\n");
    write("mountinfo", mount("/", "memory", "cgroup", "rw,memory") + mount("/", "cpu", "cgroup", "rw,cpu,cpuacct") +
                           mount("/", "unified", "cgroup2", "rw"));
    write("memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(limits().memory_bytes, kNone) << "the largest number of pages stands for no limit";
    write("memory/job/memory.limit_in_bytes", "2000000000\n");
    write("cpu/slow/cpu.cfs_quota_us", "50000\n");
    write("cpu/slow/cpu.cfs_period_us", "100000\n");
    write("cpu/cpu.cfs_quota_us", "-1\n");
    write("cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(limits().memory_bytes, 2e9);
    EXPECT_EQ(limits().cores, 0.5);
}

// A container's mount shows its own group as "/box"; the process's path is below it, or, in a namespace, does not name
// it.
TEST_F(Groups, a_container_sees_its_group_at_the_mount_point) {
    write("mountinfo", mount("/box", "v2", "cgroup2", "rw"));
    write("v2/memory.max", "5000000000\n");
    write("v2/inner/memory.max", "4000000000\n");
    for (const auto& [path, expected] : {std::pair("/box", 5e9), {"/box/inner", 4e9}, {"/", 5e9}, {"/../other", 5e9}}) {
        write("cgroup", std::string("0::") + path + "\n");
        EXPECT_EQ(limits().memory_bytes, expected) << path;
    }
}

TEST(Cores, there_is_one_at_least_and_a_thread_stays_where_it_is_put) {
    const std::vector<int> cores = allowed_cores();
    ASSERT_FALSE(cores.empty());
    std::thread([&] {
        ASSERT_TRUE(pin_to_core(cores.back()));
        EXPECT_EQ(allowed_cores(), std::vector<int>{cores.back()});
        constexpr int kNoCore = 100'000;
        EXPECT_FALSE(pin_to_core(kNoCore));
    }).join();
    EXPECT_EQ(allowed_cores(), cores);
}

TEST(Cores, of_1500_with_holes_all_are_found) {
    constexpr std::size_t kCores = 1500, kOffline = 7;  // every seventh
    std::vector<int> online;
    for (std::size_t core = 0; core < kCores; ++core) {
        if (core % kOffline != 0) {
            online.push_back(static_cast<int>(core));
        }
    }
    const auto read = [&](std::size_t bytes, cpu_set_t* mask) {
        if (bytes * 8 < kCores) {
            errno = EINVAL;
            return -1;
        }
        for (const int core : online) {
            CPU_SET_S(static_cast<std::size_t>(core), bytes, mask);
        }
        return 0;
    };
    EXPECT_EQ(affinity_cores(read), online);
}

TEST(Computer, has_a_name_a_system_and_memory) {
    const Computer computer = this_computer();
    EXPECT_FALSE(computer.model.empty());
    EXPECT_FALSE(computer.kernel.empty());
    EXPECT_GT(computer.memory_bytes, 1e6);
    EXPECT_LE(computer.memory_bytes, group_limits().memory_bytes);
}

// hwloc takes another computer's description from a file: one core with a first and second level of its own, and a
// third.
TEST_F(Groups, caches_are_told_from_the_core_outwards) {
    constexpr const char* kHead =
        R"(<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="1000000"/>)";
    const auto cache = [](int level, int bytes, int number) {
        return "<object type=\"L" + std::to_string(level) +
               "Cache\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"" +
               std::to_string(number) + "\" cache_size=\"" + std::to_string(bytes) + "\" depth=\"" +
               std::to_string(level) + "\" cache_linesize=\"64\" cache_associativity=\"8\" cache_type=\"" +
               (level == 1 ? "1" : "0") + "\">";
    };
    constexpr const char* kCore =
        R"(<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="7">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="8"/></object>)";
    if (allowed_cores().front() != 0) {
        GTEST_SKIP() << "this process may not use core 0, which the description has";
    }
    const auto told = [&](const std::string& caches, const std::string& ends) {
        write("topology.xml", kHead + caches + kCore + ends + "</object></topology>\n");
        setenv("HWLOC_XMLFILE", (folder_ / "topology.xml").c_str(), 1);
        const ReportedCaches found = reported_caches();
        unsetenv("HWLOC_XMLFILE");
        return found;
    };
    const ReportedCaches three =
        told(cache(3, 33554432, 3) + cache(2, 1048576, 4) + cache(1, 49152, 5), "</object></object></object>");
    EXPECT_EQ(three.own_bytes, 1048576);
    EXPECT_EQ(three.last_level_bytes, 33554432);
    const ReportedCaches one = told(cache(1, 65536, 3), "</object>");
    EXPECT_EQ(one.own_bytes, 0);
    EXPECT_EQ(one.last_level_bytes, 65536);
    const ReportedCaches none = told("", "");
    EXPECT_EQ(none.own_bytes, 0);
    EXPECT_EQ(none.last_level_bytes, 0);
}

}  // namespace
}  // namespace auspex::exec
