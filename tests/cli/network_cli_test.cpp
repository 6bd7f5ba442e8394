/// @file `collective` and `fabric` as people call them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class NetworkCli : public testing::Test, protected testing_cli::Runner {
 protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
};

const std::string kAllReduce = "collective --machine aurora --stack optimus --kind all-reduce --bytes 1MiB --ranks 96 ";

TEST_F(NetworkCli, a_collective_gives_time_phases_and_bus_bandwidth) {
    const Outcome outcome = run(kAllReduce + "--algorithm ring --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "collective");
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("algorithm").as_string(), "ring");
    EXPECT_EQ(root.at("levels").as_integer(1, 3), 2) << "of the stack's rule";
    EXPECT_EQ(root.at("kind").as_string(), "all-reduce");
    EXPECT_EQ(root.at("nodes").as_integer(1, 100), 8);
    const double time_s = root.at("time_s").as_number(0, 1);
    double phases_s = 0;
    for (const JsonValue& phase : root.at("phases").elements()) {
        phases_s += phase.at("time_s").as_number(0, 1);
        EXPECT_NEAR(phase.at("time_s").as_number(0, 1),
                    phase.at("latency_s").as_number(0, 1) + phase.at("reduction_s").as_number(0, 1) +
                        phase.at("bytes").as_number(0, 1e9) / phase.at("rate_bytes_per_s").as_number(1, 1e15),
                    1e-14);
    }
    EXPECT_NEAR(phases_s, time_s, 1e-12);
    // 2 (n - 1)/n B / t.
    EXPECT_NEAR(root.at("bus_bandwidth_bytes_per_s").as_number(0, 1e15), 2 * 95.0 / 96 * 1048576 / time_s, 1);
    bool is_among = false;
    for (const JsonValue& other : root.at("alternatives").elements()) {
        is_among = is_among || other.at("time_s").as_number(0, 10) == time_s;
    }
    EXPECT_TRUE(is_among);
}

TEST_F(NetworkCli, spellings_of_kinds_and_sizes_mean_the_same) {
    const std::string flags = " --machine aurora --ranks 24 --json";
    const std::string expected = run("collective --kind all-to-all --bytes 1048576" + flags).out;
    EXPECT_FALSE(expected.empty());
    for (const char* same : {"--kind alltoall --bytes 1MiB", "--kind all_to_all --bytes '1024 KiB'"}) {
        EXPECT_EQ(run("collective " + std::string(same) + flags).out, expected) << same;
    }
}

TEST_F(NetworkCli, groups_of_a_collective_share_links_unless_one_is_alone) {
    const auto time_s = [&](const std::string& flags) {
        const Outcome outcome = run("collective --machine aurora --kind all-reduce --bytes 64MiB --json " + flags);
        const auto document = JsonDocument::parse(outcome.out, "collective");
        return document.root().at("time_s").as_number(0, 10);
    };
    const std::string one_a_node = "--ranks 96 --groups-of 8 --stride 12 --set stack.transport.use=pytorch-2025 ";
    EXPECT_LT(time_s(one_a_node + "--alone"), time_s(one_a_node)) << "copies of a node share PCIe";
    EXPECT_LE(time_s("--ranks 3072 --algorithm auto"), time_s("--ranks 3072"));
    EXPECT_NE(time_s("--ranks 3072 --placement random"), time_s("--ranks 3072 --placement contiguous"));
}

TEST_F(NetworkCli, a_sweep_over_sizes_is_a_table_and_three_files) {
    const Outcome outcome = run(
        "collective --machine aurora --kind broadcast --ranks 96 --bytes 8:1KiB --json --out '" + folder_ + "sweep'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "collective");
    const auto sweep = document.root().at("sweep").elements();
    ASSERT_EQ(sweep.size(), 8U);
    for (std::size_t i = 0; i < sweep.size(); ++i) {
        EXPECT_EQ(sweep[i].at("bytes").as_integer(1, 1024), 8 << i);
    }
    const std::string csv = text_of(folder_ + "sweep/sweep.csv");
    EXPECT_EQ(csv.rfind("bytes,algorithm,levels,chosen,time_s,", 0), 0U);
    std::size_t chosen = 0;
    for (std::size_t at = csv.find(",true,"); at != std::string::npos; at = csv.find(",true,", at + 1)) {
        ++chosen;
    }
    EXPECT_EQ(chosen, sweep.size());
    const std::string svg = text_of(folder_ + "sweep/sweep.svg");
    for (const char* curve : {"as chosen", "ring", "double-binary-tree", "bus bandwidth"}) {
        EXPECT_NE(svg.find(curve), std::string::npos) << curve;
    }
    EXPECT_NE(text_of(folder_ + "sweep/sweep.md").find("| 1 KiB |"), std::string::npos);
}

// One rank a node: what the first place receives, 10 / H(10, 1) = 3.41 times the mean, comes through its own transport.
TEST_F(NetworkCli, an_uneven_exchange_waits_for_the_busiest_receiver) {
    const std::string flags =
        "collective --json --machine aurora --kind all-to-all --ranks 120 --groups-of 10 --stride 12 --alone "
        "--algorithm direct --bytes 1GiB ";
    const auto time_of = [&](const std::string& more) {
        const auto document = JsonDocument::parse(run(flags + more).out, "collective");
        const auto phases = document.root().at("phases").elements();
        return phases.back().at("time_s").as_number(0, 100) - phases.back().at("latency_s").as_number(0, 100);
    };
    double harmonic = 0;
    for (int i = 1; i <= 10; ++i) {
        harmonic += 1.0 / i;
    }
    EXPECT_NEAR(time_of("--zipf 1") / time_of(""), 10 / harmonic, 1e-6);
    expect_refused("collective --machine aurora --kind broadcast --bytes 8 --ranks 12 --zipf 1", {"--zipf"});
    expect_refused(flags + "--zipf 0", {"--zipf", "0"});
}

TEST_F(NetworkCli, a_collective_says_which_groups_act_and_how_nodes_are_placed) {
    const std::string flags =
        "collective --machine aurora --kind all-gather --bytes 1MiB --ranks 96 --groups-of 4 --stride 12 --alone "
        "--placement scheduled --seed 9";
    const auto document = JsonDocument::parse(run(flags + " --json").out, "collective");
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("stride").as_integer(1, 100), 12);
    EXPECT_TRUE(root.at("alone").as_bool());
    EXPECT_EQ(root.at("placement").as_string(), "scheduled");
    EXPECT_EQ(root.at("seed").as_integer(0, 100), 9);
    const Outcome text = run(flags);
    for (const char* words : {"the first of 24 groups alone, over 4 ranks 12 apart", "placement scheduled (seed 9)"}) {
        EXPECT_NE(text.out.find(words), std::string::npos) << text.out;
    }
    EXPECT_NE(run(flags).out, run(flags + "9").out) << "another seed";
}

TEST_F(NetworkCli, without_a_stack_a_note_says_that_the_wires_are_alone) {
    const std::string flags = "collective --machine dgx-h100 --kind all-reduce --bytes 1MiB --ranks 64";
    const auto notes = [&](const std::string& more) {
        const auto document = JsonDocument::parse(run(flags + more + " --json").out, "collective");
        return document.root().at("notes").elements().size();
    };
    EXPECT_EQ(notes(""), 1U);
    EXPECT_EQ(notes(" --stack bare"), 0U);
    const Outcome text = run(flags);
    EXPECT_NE(text.out.find("Note: no stack named: wires alone"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("(no measured transport)"), std::string::npos) << text.out;
}

TEST_F(NetworkCli, one_size_makes_the_files_of_a_sweep_too) {
    ASSERT_EQ(run(kAllReduce + "--out '" + folder_ + "one'").exit_code, 0);
    for (const char* file : {"sweep.csv", "sweep.md", "sweep.svg"}) {
        EXPECT_GT(text_of(folder_ + "one/" + file).size(), 100U) << file;
    }
}

TEST_F(NetworkCli, the_help_of_out_names_the_files_of_the_command) {
    const std::vector<std::pair<std::string, std::string>> files{
        {"scale", "points.csv"}, {"place", "placements.csv"}, {"collective", "sweep.csv"}, {"fabric", "fabric.svg"}};
    for (const auto& [command, file] : files) {
        const std::string help = run(command + " --help").out;
        EXPECT_NE(help.find(file), std::string::npos) << command;
        EXPECT_EQ(help.find("index.html") != std::string::npos, command != "fabric") << command;
    }
}

TEST_F(NetworkCli, stated_totals_must_match_unless_the_machine_was_changed) {
    EXPECT_EQ(run("fabric --machine aurora").exit_code, 0);
    const Outcome wrong = run("fabric --machine aurora --set machine.fabric.stated.nics.value=90000");
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_NE(wrong.out.find("MISMATCH"), std::string::npos);
    const std::string smaller =
        "fabric --machine aurora --set machine.fabric.groups=32 --set machine.fabric.max_nodes=2048";
    const Outcome what_if = run(smaller);
    EXPECT_EQ(what_if.exit_code, 0) << what_if.error;
    EXPECT_EQ(what_if.out.find("MISMATCH"), std::string::npos);
    const auto document = JsonDocument::parse(run(smaller + " --json").out, "fabric");
    EXPECT_TRUE(document.root().at("what_if").as_bool());
    expect_refused("fabric --machine aurora --set machine.fabric.groups=32", {"max_nodes", "2048"});
}

// Leaves taper to a half, pods to a half of that.
TEST_F(NetworkCli, the_taper_of_a_pod_is_given_over_its_nics_and_over_its_leaves) {
    const Outcome outcome =
        run("fabric --machine dgx-h100 --set machine.fabric.taper.value=0.5 --set machine.fabric.pod_taper.value=0.5 "
            "--json");
    const auto document = JsonDocument::parse(outcome.out, "fabric");
    EXPECT_DOUBLE_EQ(document.root().at("pod_taper_of_nics").as_number(0, 1), 0.25);
    EXPECT_DOUBLE_EQ(document.root().at("pod_taper_of_uplinks").as_number(0, 1), 0.5);
}

TEST_F(NetworkCli, a_collective_that_cannot_be_is_refused) {
    expect_refused(kAllReduce + "--algorithm bruck", {"--algorithm", "bruck", "ring, recursive-doubling"});
    expect_refused(kAllReduce + "--groups-of 7", {"--groups-of", "7", "96"});
    expect_refused(kAllReduce + "--groups-of 1", {"--groups-of", "2 or more"});
    expect_refused(kAllReduce + "--stride 5", {"--stride", "96"});
    expect_refused(kAllReduce + "--levels 3", {"--levels", "1 group", "ring with 2"});
    expect_refused(kAllReduce + "--levels 4", {"--levels", "1, 2 or 3"});
    expect_refused(kAllReduce + "--placement 0-7,7", {"placement", "node 7 twice"});
    expect_refused(kAllReduce + "--placement 3-0", {"--placement", "3-0", "0-31,64-95"});
    expect_refused(kAllReduce + "--placement list", {"--placement", "scattered"});
    expect_refused(kAllReduce + "--set plan.pp=4", {"plan", "machine, stack"});
    const std::string on_aurora = "collective --machine aurora --ranks 96 ";
    expect_refused(on_aurora + "--kind sum --bytes 8", {"--kind", "all-reduce"});
    expect_refused(on_aurora + "--kind all-reduce", {"--bytes"});
    expect_refused(on_aurora + "--kind reduce-scatter --bytes 8 --algorithm multi-ring --groups-of 6",
                   {"--algorithm", "ring with 1"});
    for (const char* bytes : {"0", "-8", "1.5", "8:4", "8,4", ":", "8,", "1Gib", "1e400", "many"}) {
        expect_refused(on_aurora + "--kind all-reduce --bytes " + bytes, {"--bytes"});
    }
    expect_refused(on_aurora + "--kind all-reduce --bytes 8,4", {"found 4 after 8; expected rising sizes"});
    expect_refused(on_aurora + "--kind all-reduce --bytes 8..9", {"found \"8..9\""});
    expect_refused(on_aurora + "--kind all-reduce --bytes 8 --levels 0", {"--levels", "\"0\"", "1, 2 or 3"});
    expect_refused(on_aurora + "--kind all-reduce --bytes 8 --seed 2", {"--seed", "random or scheduled"});
    for (const char* flag : {"--bytes 8", "--algorithm auto", "--levels 1", "--out /tmp/x"}) {
        expect_refused(on_aurora + "--kind barrier " + flag, {"barrier"});
    }
    expect_refused("collective --machine aurora --kind all-reduce --bytes 8 --ranks 127489", {"--ranks", "127488"});
    expect_refused("collective --machine aurora --kind all-reduce --bytes 8 --ranks 0", {"--ranks", "0"});
}

}  // namespace
}  // namespace auspex::cli
