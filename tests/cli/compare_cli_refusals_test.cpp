/// @file What auspex compare refuses before it runs anything.
#include <gtest/gtest.h>

#include <filesystem>

#include "compare_cli_fixture.hpp"

namespace auspex::cli {
namespace {

class CompareCliRefusals : public testing::Test, protected testing_cli::CompareRunner {};

TEST_F(CompareCliRefusals, wrong_flags_are_refused) {
    EXPECT_EQ(fault_of_refusal("compare", {"--plans", "--layouts"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --machine dgx-a100", {"dgx-a100", "host section"}), "")
        << "the workload is toy-moe";
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --steps 2", {"--steps", "at least 3"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --steps 0", {"--steps", "at least 3"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --repeat 0", {"--repeat", "\"0\""}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --resume", {"--resume", "--out"}), "");
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --machine dgx-a100",
                               {"dgx-a100.json", "host section", "auspex calibrate without --from"}),
              "");
}

TEST_F(CompareCliRefusals, this_computers_machine_file_has_to_be_made) {
    const std::string file = folder_ + "local.json";
    EXPECT_EQ(fault_of_refusal("compare --plans toy-dp4 --workload toy-moe --machine " + file,
                               {"local.json", "no such file", "auspex calibrate"}),
              "");
    EXPECT_EQ(fault_of_refusal("predict --stack auspex --workload toy-moe --plan toy-dp4 --machine " + file,
                               {"local.json", "no such file", "auspex calibrate"}),
              "");
}

TEST_F(CompareCliRefusals, layouts_files_are_read_strictly) {
    const auto refused = [this](const std::string& text, std::initializer_list<const char*> words) {
        return fault_of_refusal("compare --layouts " + write("list.json", text), words);
    };
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"]})", {"list.json", "layouts"}), "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "plans": {}}]})", {"plans", "allowed"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a/b", "plan": {"dp": 1}}]})",
                      {"layouts[0].name", "a/b", "letters"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "plan": {"dq": 1}}]})",
                      {"list.json, layout a", "dq"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "workload": "b", "plan": {"dp": 1}}]})",
                      {"layouts[0].workload", "workloads"}),
              "");
}

TEST_F(CompareCliRefusals, plans_that_do_not_fit_their_workload_are_named) {
    const std::string to = "compare --machine " + machine() + " ";
    EXPECT_EQ(fault_of_refusal(to + "--plans toy-ep2-dp2@toy-dense", {"toy-ep2-dp2", "ep"}), "");
    EXPECT_EQ(fault_of_refusal(to + "--plans toy-dp4@toy-moe plans/toy-dp4.json@toy-moe", {"toy-dp4", "twice"}), "");
}

TEST_F(CompareCliRefusals, layouts_say_what_is_wrong_with_them) {
    const auto refused = [this](const std::string& text, std::initializer_list<const char*> words) {
        return fault_of_refusal("compare --layouts " + write("list.json", text), words);
    };
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": "a", "plan": {"dp": 1, "precision": null}}]})",
                      {"list.json, layout a", "precision", "found null", "fp32"}),
              "");
    const std::string name(300, 'x');
    EXPECT_EQ(refused(R"({"workloads": [")" + name + R"("], "layouts": [{"name": "a", "plan": {"dp": 1}}]})",
                      {"list.json: $.workloads[0]", "300 characters", "100"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["toy-moe"], "layouts": [{"name": ")" + name + R"(", "plan": {"dp": 1}}]})",
                      {"layouts[0].name", "100 at most"}),
              "");
    EXPECT_EQ(refused(R"({"workloads": ["no-moe"], "layouts": [{"name": "a", "plan": {"dp": 1}}]})",
                      {"list.json: found no such file", "workloads/no-moe.json"}),
              "");
}

TEST_F(CompareCliRefusals, plans_and_workloads_are_named_as_they_were_typed) {
    const std::string to = "compare --machine " + machine() + " --plans ";
    EXPECT_EQ(fault_of_refusal(to + "toy-dp4@", {"--plans toy-dp4@: ", "workload behind"}), "");
    EXPECT_EQ(fault_of_refusal(to + "@toy-moe", {"--plans @toy-moe: ", "plan before"}), "");
    EXPECT_EQ(fault_of_refusal(to + "toy-dp0@toy-moe", {"--plans toy-dp0@toy-moe: found no such file"}), "");
    EXPECT_EQ(fault_of_refusal(to + "toy-dp4@no-moe", {"--plans toy-dp4@no-moe: found no such file"}), "");
    EXPECT_EQ(fault_of_refusal(to + "toy-dp4 --workload no-moe", {"--workload no-moe: found no such file"}), "");
    // The last @ is the one.
    EXPECT_EQ(fault_of_refusal(to + folder_ + "a@b/plan.json@toy-moe", {"a@b/plan.json: found no such file"}), "");
    std::filesystem::create_directories(folder_ + "a@b");
    const std::string plan = write("a@b/plan.json", R"({"dp": 1, "precision": null})");
    EXPECT_EQ(fault_of_refusal(to + plan + " --workload toy-moe", {"a@b/plan.json", "precision"}), "");
}

TEST_F(CompareCliRefusals, layouts_run_on_the_nodes_that_they_are_predicted_on) {
    const std::string to = "compare --plans toy-dp4@toy-moe --machine " + machine();
    const std::string two = write("two", "a\na\nb\nb\n"), other = write("other", "a slots=3\nb\n");
    EXPECT_EQ(fault_of_refusal(to + " --hostfile " + two,
                               {"host.json: found nodes of 8 ranks", "4 ranks of toy-dp4 on toy-moe would be 1 node;",
                                "expected 2 nodes (2 + 2 ranks)", "auspex calibrate --hostfile", "--machine"}),
              "");
    const std::string of_two_ranks = " --set machine.node.tiles=2 --set machine.node.nic.count=2";
    EXPECT_EQ(fault_of_refusal(to + of_two_ranks, {"found nodes of 2 ranks", "would be 2 nodes (2 + 2 ranks)",
                                                   "expected 1 node", "without --hostfile"}),
              "");
    EXPECT_EQ(fault_of_refusal(to + of_two_ranks + " --hostfile " + other,
                               {"would be 2 nodes (2 + 2 ranks)", "expected 2 nodes (3 + 1 ranks)"}),
              "");
    EXPECT_EQ(fault_of_refusal(to + " --hostfile " + write("three", "a\nb # c\n\na\n"),
                               {"--hostfile", "found 3 slots", "at least 4"}),
              "");
    EXPECT_EQ(fault_of_refusal(to + " --hostfile " + write("once", "a\nb\nb\nb\n"),
                               {"--hostfile", "found \"a\" once", "slots=1"}),
              "");
    EXPECT_EQ(fault_of_refusal(to + " --hostfile " + folder_ + "none", {"--hostfile", "found no host"}), "");
}

TEST_F(CompareCliRefusals, places_that_cannot_be_written_to_are_refused_at_the_start) {
    const std::string arguments = one_layout() + " --repeat 1", out = folder_ + "report/";
    for (const char* file : {"index.html", "comparison.json", "cases.csv", "cases.jsonl", "traces/toy-moe-one.json"}) {
        std::filesystem::create_directories(out + file);
        EXPECT_EQ(fault_of_refusal(arguments, {file, "found a folder", "expected a file"}), "");
        EXPECT_TRUE(records().empty());
        std::filesystem::remove_all(out);
    }
    setenv("TMPDIR", (folder_ + "none").c_str(), 1);
    EXPECT_EQ(fault_of_refusal(arguments, {"TMPDIR=", "none: found no such folder"}), "");
    unsetenv("TMPDIR");
}

}  // namespace
}  // namespace auspex::cli
