/// @file What a job is, as people say it: --nodes, --global-batch, --scenario; auspex list.
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kJob = " --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b";

class JobCli : public testing::Test, protected testing_cli::Runner {
 protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
    /// A number that the command prints at the top of its JSON.
    double number(const std::string& arguments, const char* key) const {
        const Outcome outcome = run(arguments + " --json");
        EXPECT_EQ(outcome.exit_code, 0) << arguments << ": " << outcome.error;
        return outcome.exit_code == 0 ? JsonDocument::parse(outcome.out, "out").root().at(key).as_number(0, 1e30) : -1;
    }
};

// A node of Aurora has 12 tiles: 16 nodes are 192 tiles.
TEST_F(JobCli, nodes_are_tiles_of_the_machine) {
    EXPECT_EQ(number("predict --no-sensitivity --nodes 16" + kJob, "tiles"), 192);
    EXPECT_EQ(number("predict --no-sensitivity --nodes 16" + kJob, "step_time_s"),
              number("predict --no-sensitivity --tiles 192" + kJob, "step_time_s"));
    const Outcome scaled = run("scale --no-sensitivity --json --nodes 8,16" + kJob);
    ASSERT_EQ(scaled.exit_code, 0) << scaled.error;
    EXPECT_EQ(JsonDocument::parse(scaled.out, "out").root().at("points").elements().at(1).at("tiles").as_number(0, 1e9),
              192);
    const std::string inputs = " --machine aurora --stack optimus --workload mula-20b-a2b";
    EXPECT_EQ(run("diff mula-20b-a2b mula-20b-a2b --json --nodes 16" + inputs).out,
              run("diff mula-20b-a2b mula-20b-a2b --json --tiles 192" + inputs).out);
    const Outcome described =
        run("describe --json --workload mula-20b-a2b --plan mula-20b-a2b --machine aurora --nodes 16");
    ASSERT_EQ(described.exit_code, 0) << described.error;
    EXPECT_EQ(JsonDocument::parse(described.out, "out").root().at("plan").at("tiles").as_number(0, 1e9), 192);
    expect_refused("describe --workload mula-20b-a2b --plan mula-20b-a2b --nodes 16", {"--nodes", "without --machine"});
    expect_refused("describe --workload mula-20b-a2b --plan mula-20b-a2b --machine aurora",
                   {"--machine", "without --nodes"});
    const std::string search =
        "plan --machine aurora --stack optimus --workload mula-7b-a1b --top 1 --where pp=1,tp=1 ";
    EXPECT_EQ(number(search + "--nodes 2 --global-batch 24", "tiles"), 24);
    expect_refused("predict --nodes 16 --tiles 192" + kJob, {"--nodes", "found beside --tiles"});
    expect_refused("predict --nodes 0" + kJob, {"--nodes", "\"0\""});
    expect_refused("predict --nodes 9999999" + kJob, {"--nodes", "119999988 tiles", "16777216"});
    expect_refused("scale" + kJob, {"found no --tiles"});
    // 1 node x 12 tiles, and a plan whose grid needs 48 at least: blamed on what was given.
    expect_refused("predict --nodes 1 --set plan.ep=48" + kJob, {"--nodes with plans/mula-20b-a2b.json"});
}

// pp=5 and batches of a sequence a tile: what has plans is said in nodes, and of whole ones.
TEST_F(JobCli, what_a_search_finds_near_is_in_nodes_too) {
    const std::string search = "plan --machine aurora --workload mula-7b-a1b --where pp=5 ";
    const std::string by_nodes = run(search + "--nodes 4").error, by_tiles = run(search + "--tiles 48").error;
    EXPECT_NE(by_nodes.find("--nodes 4 with --global-batch 48: "), std::string::npos) << by_nodes;
    EXPECT_NE(by_nodes.find("--nodes 5 with this batch"), std::string::npos) << by_nodes;
    EXPECT_NE(by_tiles.find("--tiles 48 with --global-batch 48: "), std::string::npos) << by_tiles;
    EXPECT_NE(by_tiles.find("--tiles 40 with this batch"), std::string::npos) << by_tiles;
}

// global batch = micro_batch_size x micro_batches x data_parallel; data_parallel = tiles / (pp tp cp).
TEST_F(JobCli, a_global_batch_gives_the_micro_batches) {
    const std::string job = "predict --no-sensitivity --tiles 96" + kJob;
    EXPECT_EQ(number(job + " --global-batch 768", "global_batch"), 768);
    EXPECT_EQ(number(job + " --global-batch 768", "step_time_s"),
              number(job + " --set plan.micro_batches=8", "step_time_s"));
    // of several sizes, of the first: 4 micro-batches on 96, and so on 192 tiles in weak scaling
    const Outcome scaled = run("scale --no-sensitivity --json --tiles 96,192 --global-batch 384" + kJob);
    ASSERT_EQ(scaled.exit_code, 0) << scaled.error;
    const JsonDocument document = JsonDocument::parse(scaled.out, "out");
    const auto points = document.root().at("points").elements();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].at("global_batch").as_number(0, 1e9), 384);
    EXPECT_EQ(points[1].at("global_batch").as_number(0, 1e9), 768);
    expect_refused(job + " --global-batch 100", {"--global-batch", "found 100", "multiple of 96", "96 or 192"});
    expect_refused(job + " --global-batch 50", {"found 50", "such as 96"});
    expect_refused(job + " --global-batch 96 --set plan.micro_batches=1", {"--global-batch", "plan.micro_batches"});
}

// What is suggested works.
TEST_F(JobCli, interleaved_stages_take_whole_rounds_of_micro_batches) {
    const std::string job = "predict --no-sensitivity --tiles 96" + kJob +
                            " --set plan.pp=4 --set plan.virtual_stages=2 --set plan.schedule=interleaved-1f1b";
    expect_refused(job + " --global-batch 120", {"multiple of 96", "x pp 4", "96 or 192"});
    EXPECT_EQ(number(job + " --global-batch 192", "global_batch"), 192);
}

TEST_F(JobCli, without_sensitivity_there_is_no_interval) {
    const Outcome json = run("predict --no-sensitivity --json --tiles 96" + kJob);
    EXPECT_EQ(json.out.find("step_time_interval_s"), std::string::npos) << json.out;
    const Outcome text = run("predict --no-sensitivity --tiles 96" + kJob);
    EXPECT_EQ(text.out.find("interval"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("leans on"), std::string::npos) << text.out;
    EXPECT_NE(run("predict --tiles 96" + kJob).out.find("90 % interval"), std::string::npos);
    expect_refused("scale --tiles 96 --no-sensitivity --out " + folder_ + "report" + kJob,
                   {"--no-sensitivity", "--out"});
}

// Written, moved and read, a scenario gives the step that its flags give, to the digit; the command line goes first.
TEST_F(JobCli, a_scenario_holds_all_inputs) {
    const std::string flags =
        kJob + " --nodes 8 --global-batch 192 --tokens 1T --set machine.node.nic.count=4 --set plan.pp=2";
    const std::string file = folder_ + "job.json";
    ASSERT_EQ(run("scenario --out '" + file + "'" + flags).exit_code, 0);
    const std::string scenario = " --scenario '" + file + "'";
    for (const char* key : {"step_time_s", "run_time_s", "tiles", "global_batch"}) {
        EXPECT_EQ(number("predict" + scenario, key), number("predict" + flags, key)) << key;
    }
    EXPECT_EQ(number("predict --tiles 48" + scenario, "tiles"), 48);
    EXPECT_EQ(number("predict --set plan.pp=4 --global-batch 96" + scenario, "pp"), 4);
    EXPECT_EQ(number("predict --machine dgx-h100 --stack bare --nodes 12" + scenario, "tiles"), 96);
    EXPECT_NE(run("memory" + scenario).out.find("mula-20b-a2b"), std::string::npos);
    const JsonDocument again = JsonDocument::load(file);
    EXPECT_EQ(again.root().at("machine").at("name").as_string(), "aurora");
    EXPECT_EQ(again.root().at("plan").at("content").at("pp").as_integer(1, 100), 2);
}

TEST_F(JobCli, a_scenario_by_hand_names_files_beside_it) {
    std::ofstream(folder_ + "plan.json") << testing_cli::text_of(std::string(AUSPEX_SOURCE_DIR) +
                                                                 "/plans/mula-20b-a2b.json");
    const std::string file = write("s.json", R"({"machine": "aurora", "stack": "optimus", "workload": "mula-20b-a2b",
        "plan": "plan.json", "tiles": [96, 192], "set": {"plan.recompute": ["norm"], "plan.micro_batches": 2}})");
    EXPECT_EQ(
        number("predict --no-sensitivity --tiles 96 --scenario '" + file + "'", "step_time_s"),
        number(
            "predict --no-sensitivity --tiles 96 --set 'plan.recompute=[\"norm\"]' --set plan.micro_batches=2" + kJob,
            "step_time_s"));
    EXPECT_EQ(run("scale --no-sensitivity --scenario '" + file + "'").exit_code, 0);
    expect_refused("predict --scenario '" + file + "'", {"--scenario ", "--tiles", "96,192"});
}

TEST_F(JobCli, scenarios_are_read_strictly) {
    const auto refuse = [&](const std::string& text, std::initializer_list<const char*> words) {
        expect_refused("predict --scenario '" + write("bad.json", text) + "'", words);
    };
    refuse(R"({"machin": "aurora"})", {"bad.json: $", "machin"});
    refuse(R"({"machine": 7})", {"$.machine", "found 7"});
    refuse(R"({"machine": {"name": "a/b", "content": {}}})", {"$.machine.name"});
    refuse(R"({"machine": {"name": "a"}})", {"$.machine", "content"});
    refuse(R"({"tiles": 96, "nodes": 8})", {"$.nodes", "not both"});
    refuse(R"({"tiles": -1})", {"$.tiles"});
    refuse(R"({"set": ["plan.pp=4"]})", {"$.set", "an object"});
    refuse(R"({"machine": "aurora", "stack": "optimus", "workload": "mula-20b-a2b", "plan": "mula-20b-a2b",
               "set": {"plan.ppp": 4}})",
           {"plan.ppp"});
    refuse(R"({"machine": "aurora", "stack": "optimus", "workload": "mula-20b-a2b",
               "plan": {"name": "own", "content": {"pp": "two"}}})",
           {"bad.json#plan/own.json: $", "two"});
    refuse(R"({"machine": "aurora"})", {"found no --stack"});
    expect_refused("predict --scenario nowhere.json", {"nowhere.json"});
}

TEST_F(JobCli, what_there_is_is_listed) {
    const Outcome all = run("list"), machines = run("list machines");
    EXPECT_NE(all.out.find("mula-220b-a10b"), std::string::npos) << all.out;
    EXPECT_NE(machines.out.find("aurora"), std::string::npos) << machines.out;
    EXPECT_EQ(machines.out.find("optimus"), std::string::npos) << machines.out;
    const Outcome json = run("list workloads --json");
    const JsonDocument document = JsonDocument::parse(json.out, "out");
    bool has_olmoe = false;
    for (const JsonValue& row : document.root().at("workloads").elements()) {
        has_olmoe = has_olmoe || (row.at("name").as_string() == "olmoe-1b-7b" &&
                                  row.at("file").as_string().ends_with("workloads/olmoe-1b-7b.json") &&
                                  row.at("text").as_string().starts_with("6.9"));
    }
    EXPECT_TRUE(has_olmoe) << json.out;
    expect_refused("list machinery", {"machinery", "machines, stacks, workloads, plans"});
    expect_refused("list machines machinery", {"machinery", "one or several of"});
    EXPECT_EQ(run("list plans machines --json").out, run("list machines plans --json").out);
    EXPECT_NE(run("list machines plans").out.find("\nplans"), std::string::npos);
}

}  // namespace
}  // namespace auspex::cli
