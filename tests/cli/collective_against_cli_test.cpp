/// @file auspex collective --against: published rows predicted as the command predicts them, counted, and refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class CollectiveAgainstCli : public testing::Test, protected testing_cli::Runner {
 protected:
    /// What the command itself predicts.
    double time_of(const std::string& flags) const {
        const Outcome found = run("collective --stack bare --json " + flags);
        EXPECT_EQ(found.exit_code, 0) << found.error;
        return JsonDocument::parse(found.out, "collective").root().at("time_s").as_number(0, 10);
    }
    JsonDocument against(const std::string& file, const std::string& flags = "--stack bare") const {
        const Outcome found = run("collective --against " + file + " --json " + flags);
        EXPECT_EQ(found.exit_code, 0) << found.error;
        return JsonDocument::parse(found.out, "against");
    }
};

constexpr const char* kRows = R"([
  {"machine": "Frontier", "library": "RCCL", "kind": "all_gather", "nodes": 4, "ranks": 32, "bytes": 67108864,
   "algorithm": "ring", "value": 0.8, "unit": "ms", "source": "made up", "fitted": true},
  {"machine": "Aurora", "library": "Cray-MPICH 8.1", "kind": "all_reduce", "nodes": 4, "ranks": 4, "bytes": 1048576,
   "algorithm": "ring_mpich", "value": 300, "unit": "us"},
  {"machine": "Frontier", "library": "Cray-MPICH", "kind": "all_to_all", "nodes": 2, "ranks": 16, "bytes": 1024,
   "value": 60, "unit": "us", "note": "OSU size: per pair"},
  {"machine": "Frontier", "library": "RCCL", "kind": "all_reduce", "nodes": 3, "ranks": 7, "bytes": 8, "value": 9,
   "unit": "us"},
  {"machine": "Nowhere", "library": "RCCL", "kind": "all_reduce", "nodes": 4, "ranks": 32, "bytes": 8, "value": 9,
   "unit": "us"},
  {"machine": "Frontier", "kind": "groups", "value": 74, "unit": "groups"}])";

TEST_F(CollectiveAgainstCli, every_row_is_predicted_as_the_command_with_its_flags_predicts_it) {
    const JsonDocument document = against(write("rows.json", kRows));
    const auto rows = document.root().at("rows").elements();
    ASSERT_EQ(rows.size(), 3U);
    const double predicted[] = {
        time_of("--machine frontier --kind all-gather --ranks 32 --bytes 64MiB"),
        time_of("--machine aurora --kind all-reduce --ranks 48 --groups-of 4 --stride 12 --alone --bytes 1MiB "
                "--algorithm ring"),
        time_of("--machine frontier --kind all-to-all --ranks 16 --bytes 16KiB")};
    const double measured[] = {0.8e-3, 300e-6, 60e-6};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].at("predicted_s").as_number(0, 10), predicted[i]) << i;
        EXPECT_DOUBLE_EQ(rows[i].at("measured_s").as_number(0, 10), measured[i]) << i;
        EXPECT_DOUBLE_EQ(rows[i].at("error").as_number(-1, 1e9), predicted[i] / measured[i] - 1) << i;
        EXPECT_EQ(rows[i].at("fitted").as_bool(), i == 0);
    }
    EXPECT_EQ(rows[1].at("played").as_string(), "ring, 1 level");
}

// HewlettPackard/shs-docs, fabric validation of a machine with 8 NICs a node: medians in GB/s a node. What a loaded
// node keeps where its partners lie in its group, and in four groups, is to be within 15 %.
TEST_F(CollectiveAgainstCli, a_loaded_node_falls_from_switch_to_group_to_four_groups_as_measured) {
    const std::vector<std::pair<std::string, double>> measured{
        {"bisection_bw_per_node", 70.07},  {"bisection_bw_per_node", 60.06},  {"bisection_bw_per_node", 36.06},
        {"all_to_all_bw_per_node", 110.6}, {"all_to_all_bw_per_node", 80.65}, {"all_to_all_bw_per_node", 44.7}};
    const char* const nodes[] = {"switch level", "group level (4 groups)", "system level, 128 nodes over 4 groups"};
    std::string text;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        text += std::string(i == 0 ? "[" : ",") +
                R"({"machine": "HPE 8-NIC system", "library": "Cray-MPICH dgnettest", "nodes": 128, "ranks": 1024,
                    "bytes": 131072, "unit": "GB/s per node", "kind": ")" +
                measured[i].first + R"(", "algorithm": ")" + nodes[i % 3] + R"(", "value": )" +
                std::to_string(measured[i].second) + "}";
    }
    const JsonDocument document = against(write("loaded.json", text + "]"), "");
    const auto rows = document.root().at("rows").elements();
    ASSERT_EQ(rows.size(), measured.size());
    const auto predicted = [&](std::size_t i) {
        return measured[i].second / (1 + rows[i].at("error").as_number(-1, 10));
    };
    for (std::size_t i = 0; i < measured.size(); ++i) {
        if (i % 3 != 0) {
            const double fall = measured[i].second / measured[i - 1].second;
            EXPECT_NEAR(predicted(i) / predicted(i - 1), fall, 0.15 * fall) << i;
        }
        EXPECT_NEAR(rows[i].at("error").as_number(-1, 10), 0, 0.35) << i;
    }
}

TEST_F(CollectiveAgainstCli, the_summary_counts_fitted_rows_apart_and_tells_why_others_are_not_predicted) {
    const JsonDocument document = against(write("rows.json", kRows));
    const JsonValue summary = document.root().at("summary"), missing = document.root().at("not_predicted");
    EXPECT_EQ(summary.at("n").as_integer(0, 9), 3);
    EXPECT_EQ(summary.at("fitted").at("n").as_integer(0, 9), 1);
    EXPECT_EQ(summary.at("not_fitted").at("n").as_integer(0, 9), 2);
    EXPECT_EQ(summary.at("by_kind").keys().size(), 3U);
    EXPECT_EQ(summary.at("not_fitted").at("by_machine").at("Aurora").at("n").as_integer(0, 9), 1);
    EXPECT_EQ(missing.keys().size(), 3U);
    EXPECT_EQ(missing.at("machine \"Nowhere\" is unknown").as_integer(0, 9), 1);
    EXPECT_EQ(missing.at("kind \"groups\" is no collective that is simulated").as_integer(0, 9), 1);
    EXPECT_TRUE(missing.find("frontier: 7 ranks on 3 nodes cannot be spread evenly over 8 tiles a node"));
    const Outcome text = run("collective --stack bare --against " + folder_ + "rows.json");
    EXPECT_EQ(text.exit_code, 0) << text.error;
    for (const char* const word :
         {"3 of 6 rows", "Rows that gave no constant", "(fitted)", "all_to_all", "up to 64 MiB", "Nowhere"}) {
        EXPECT_NE(text.out.find(word), std::string::npos) << word << text.out;
    }
}

TEST_F(CollectiveAgainstCli, names_come_from_a_table_and_files_that_are_not_there_are_counted) {
    for (const char* const folder : {"machines/published", "stacks", "workloads", "plans"}) {
        std::filesystem::create_directories(folder_ + "data/" + folder);
    }
    static_cast<void>(write("data/machines/published/collectives.json", R"({
        "machines": [{"text": "Frontier", "machine": "frontier"}, {"text": "Aurora", "machine": "none-such"}],
        "libraries": [{"text": "RCCL", "stack": "none-such", "algorithms": {"*": "rules"}},
                      {"text": "Cray", "stack": "bare", "algorithms": {"*": "rules"}}],
        "sizes": [{"note": "OSU", "times_ranks": []}], "fitted": [{"kind": "all_to_all"}]})"));
    setenv("AUSPEX_DATA", (folder_ + "data").c_str(), 1);
    const JsonDocument document = against(write("rows.json", kRows), "");
    unsetenv("AUSPEX_DATA");
    const JsonValue root = document.root();
    ASSERT_EQ(root.at("rows").elements().size(), 1U);
    EXPECT_TRUE(root.at("rows").elements().front().at("fitted").as_bool());
    EXPECT_EQ(root.at("not_predicted").at("no stack file none-such").as_integer(0, 9), 2);
    EXPECT_EQ(root.at("not_predicted").at("no machine file none-such").as_integer(0, 9), 1);
}

// PCCL's and PICO's measurements of Frontier and LUMI (sources in the rows), and HPE's of a machine with 8 NICs a node:
// at least 300 rows that gave no constant, median error at most 15 %, 90th percentile at most 35 %.
TEST_F(CollectiveAgainstCli, slingshot_rows_that_gave_no_constant) {
    const JsonDocument document = against(AUSPEX_SOURCE_DIR "/tests/published/slingshot-collectives.json", "");
    const JsonValue all = document.root().at("summary").at("not_fitted");
    EXPECT_EQ(document.root().at("rows").elements().size(), 390U);
    EXPECT_GE(all.at("n").as_integer(0, 1000), 300);
    EXPECT_LE(all.at("median_abs_error").as_number(0, 10), 0.15);
    EXPECT_LE(all.at("p90_abs_error").as_number(0, 10), 0.35);
}

// The algorithm that a row of oneCCL names is played, whatever the stack's rule would take.
TEST_F(CollectiveAgainstCli, algorithms_of_oneccl_are_those_that_rows_name) {
    const std::string rows = write("ccl.json", R"([
        {"machine": "Aurora", "library": "oneCCL", "kind": "all_reduce", "nodes": 8192, "ranks": 98304,
         "bytes": 1073741824, "algorithm": "ring", "value": 1165, "unit": "ms"},
        {"machine": "Aurora", "library": "oneCCL", "kind": "all_reduce", "nodes": 8192, "ranks": 98304,
         "bytes": 1073741824, "algorithm": "double tree", "value": 291.3, "unit": "ms"}])");
    const JsonDocument document = against(rows, "");
    for (const JsonValue& row : document.root().at("rows").elements()) {
        EXPECT_NEAR(row.at("error").as_number(-1, 10), 0, 0.1) << row.at("algorithm").as_string();
    }
}

TEST_F(CollectiveAgainstCli, machines_and_stacks_may_be_named_by_their_files) {
    const auto rows_of = [this](const char* machine, const char* library) {
        return write("files.json", std::string(R"([{"machine": ")") + machine + R"(", "library": ")" + library +
                                       R"(", "kind": "all_reduce", "nodes": 2, "ranks": 16, "bytes": 1048576,
            "value": 60, "unit": "us", "note": "total buffer; made up"}])");
    };
    const JsonDocument document = against(rows_of("dgx-h100", "bare"), "");
    const auto rows = document.root().at("rows").elements();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].at("predicted_s").as_number(0, 10),
              time_of("--machine dgx-h100 --kind all-reduce --ranks 16 --bytes 1MiB"));
    for (const auto& [machine, library, unknown] : {std::tuple("dgx-h100 or so", "bare", "machine \"dgx-h100 or so\""),
                                                    {"dgx-h100", "barely", "library \"barely\""}}) {
        EXPECT_EQ(fault_of_refusal("collective --against " + rows_of(machine, library),
                                   {"no row that can be predicted", unknown, "Frontier", "dgx-h100", "RCCL"}),
                  "");
    }
}

TEST_F(CollectiveAgainstCli, the_table_of_names_is_no_machine) {
    EXPECT_EQ(run("completion names --role published-names").out, "collectives\nruns\nspread\n");
    const std::string machines = run("completion names --role machine").out;
    EXPECT_EQ(machines.find("collectives"), std::string::npos);
    EXPECT_EQ(machines.find("published"), std::string::npos);
}

TEST_F(CollectiveAgainstCli, what_it_cannot_read_or_take_is_refused_in_one_line) {
    const std::string rows = write("rows.json", kRows);
    const std::string slip = write("slip.json", R"([{"machine": "Frontier", "library": "RCCL", "kind": "all_reduce",
        "nodes": 1, "ranks": 8, "bytes": 8, "value": -2, "unit": "us"}])");
    const std::string against = "collective --against ";
    EXPECT_EQ(fault_of_refusal(against + slip, {"slip.json: $[0].value", "found -2"}), "");
    EXPECT_EQ(fault_of_refusal(against + folder_ + "none.json", {"none.json"}), "");
    EXPECT_EQ(fault_of_refusal(against + rows + " --machine aurora", {"--machine", "--against"}), "");
    EXPECT_EQ(fault_of_refusal(against + rows + " --ranks 8", {"--ranks", "--against"}), "");
    EXPECT_EQ(fault_of_refusal(against + rows + " --stack none-such", {"none-such"}), "");
    EXPECT_EQ(fault_of_refusal(against + rows + " --set plan.pp=2", {"plan.pp"}), "");
    EXPECT_EQ(fault_of_refusal(against + rows + " --stack bare --set stack.nothing.at=2", {"nothing"}), "");
}

}  // namespace
}  // namespace auspex::cli
