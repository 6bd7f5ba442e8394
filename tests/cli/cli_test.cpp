/// @file The program as people call it: help, exit codes, one-line errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class Cli : public testing::Test, protected testing_cli::Runner {
 protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
};

const std::string kMula = "--machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b ";

TEST_F(Cli, help_and_version_succeed) {
    EXPECT_EQ(run("--version").out.rfind("auspex ", 0), 0U);
    EXPECT_EQ(run("").exit_code, 0);
    for (const char* command : {"describe", "predict", "scale", "ablate", "program", "collective"}) {
        EXPECT_NE(run("--help").out.find(command), std::string::npos);
        const Outcome help = run(std::string(command) + " --help");
        EXPECT_EQ(help.exit_code, 0);
        EXPECT_NE(help.out.find(std::string("Example:\n  auspex ") + command), std::string::npos) << help.out;
    }
}

TEST_F(Cli, the_version_names_commit_and_trainer) {
    const Outcome version = run("--version --json");
    ASSERT_EQ(version.exit_code, 0) << version.error;
    const JsonDocument document = JsonDocument::parse(version.out, "version");
    // Empty where the sources are no clone.
    EXPECT_EQ(document.root().at("commit").as_string().empty(), document.root().at("commit_date").as_string().empty());
    EXPECT_EQ(document.root().at("trainer").as_string(), std::string(AUSPEX_BINARY) + "-mpi");
    EXPECT_EQ(run("version --json").out, version.out);
    expect_refused("--version --jsn", {"jsn"});
}

TEST_F(Cli, completion_knows_the_names_of_every_role) {
    for (const auto& [role, name] :
         {std::pair{"machine", "aurora"}, std::pair{"stack", "optimus"}, std::pair{"workload", "toy-moe"},
          std::pair{"plan", "toy-dp4"}, std::pair{"layouts", "one-node"}, std::pair{"measurements", "aurora"}}) {
        const std::string names = "\n" + run(std::string("completion names --role ") + role).out;
        EXPECT_NE(names.find(std::string("\n") + name + "\n"), std::string::npos) << role << names;
    }
    expect_refused("completion names --role planet", {"--role", "planet", "machine, stack, workload, plan"});
    expect_refused("compare --layouts two-nodes", {"--layouts two-nodes", "nodes, one-node"});
    expect_refused("calibrate --from borealis --machine aurora --out " + folder_ + "new.json",
                   {"--from borealis", "aurora"});
}

TEST_F(Cli, wrong_words_on_the_command_line_are_refused) {
    expect_refused("prdict", {"prdict", "predict"});
    expect_refused("describe", {"no --workload"});
    expect_refused("describe --workload", {"workload"});
    expect_refused("describe --workload=", {"workload"});
    expect_refused("describe --workload mula-1b --nope 1", {"nope"});
    expect_refused("describe --workload mula-1b stray", {"stray"});
    expect_refused("describ --workload mula-1b", {"describ", "did you mean describe?"});
    expect_refused("describe --wokload mula-1b", {"--wokload", "did you mean --workload?"});
    expect_refused("predict --gpus 8", {"--gpus", "did you mean --tiles?"});
    expect_refused("describe --model mula-1b", {"--model", "did you mean --workload?"});
    expect_refused("describe --workload mula-1", {"mula-1", "did you mean mula-1b?"});
    expect_refused("describe --workload mula-1b --set workload.laeyrs=3", {"laeyrs", "did you mean layers?"});
    expect_refused("describe --workload mula-1b --workload mula-1b", {"workload"});
    expect_refused("describe --work mula-1b", {"work"});
    expect_refused("describe --workload mula-1b --json=1", {"json"});
    expect_refused("scale " + kMula + "--tiles 768 --mode sideways", {"sideways", "weak"});
    expect_refused("predict " + kMula + "--tokens many", {"--tokens", "many"});
}

TEST_F(Cli, an_unknown_name_lists_what_is_there) {
    expect_refused("describe --workload mula-2b", {"--workload mula-2b", "mula-220b-a10b", "gpt3-175b"});
    expect_refused("predict --machine borealis --stack optimus --workload mula-1b --plan mula-1b",
                   {"borealis", "aurora", "frontier"});
}

TEST_F(Cli, tiles_that_cannot_be_are_refused) {
    for (const char* tiles : {"0", "-12", "x", "12x", "1e3", "''", "99999999999", "3.5", "384,768"}) {
        expect_refused("predict " + kMula + "--tiles " + tiles, {"--tiles"});
    }
    for (const char* tiles : {"384,,768", "768,384", "384,384", "384,", ","}) {
        expect_refused("scale " + kMula + "--tiles " + tiles, {"--tiles"});
    }
    expect_refused("predict " + kMula + "--tiles 3073", {"mula-220b-a10b.json", "3073"});
    expect_refused("scale " + kMula + "--tiles 384,769", {"mula-220b-a10b.json", "769"});
}

TEST_F(Cli, a_grid_that_does_not_match_the_model_is_refused) {
    expect_refused("predict " + kMula + "--set plan.ep=7", {"$.ep", "240", "7"});
    expect_refused("predict " + kMula + "--set plan.pp=65 --set plan.dp=1", {"65", "64"});
    expect_refused("predict " + kMula + "--set plan.tp=7 --set plan.etp=1", {"$.tp", "24"});
}

TEST_F(Cli, overrides_are_strict) {
    expect_refused("predict " + kMula + "--set plan.nope=1", {"plans/mula-220b-a10b.json", "nope", "allowed"});
    expect_refused("predict " + kMula + "--set plan.nope.deep=1", {"$.nope", "keys there"});
    expect_refused("predict " + kMula + "--set nope.pp=1", {"nope", "machine, stack, workload, plan"});
    expect_refused("predict " + kMula + "--set plan.pp", {"--set plan.pp", "ROLE.PATH=VALUE"});
    expect_refused("predict " + kMula + "--set =", {"--set"});
    expect_refused("predict " + kMula + "--set plan.pp=", {"$.pp"});
    expect_refused("predict " + kMula + "--set plan.schedule=2f2b", {"$.schedule", "2f2b", "gpipe"});
    expect_refused("describe --workload mula-1b --set plan.pp=4", {"plan.pp=4"});
}

TEST_F(Cli, messages_name_the_flag_at_fault) {
    expect_refused("predict " + kMula + "--set plan.pp=65", {"(with --set plan.pp)", "$.pp", "65"});
    expect_refused("predict " + kMula + "--tiles 3100", {"--tiles", "3100", "3072 and 3168"});
    expect_refused("predict " + kMula + "--set 'plan.recompute=[\"norm\"'", {"$.recompute", "not valid JSON"});
    expect_refused("scale " + kMula + "--tiles 384,768 --set plan.dp=4", {"--set plan.dp=4", "--tiles"});
    expect_refused("scale " + kMula + "--tiles 384,2208 --mode strong", {"2208", "these would do: ", "1536"});
    expect_refused("scale " + kMula + "--tiles 384 --out ''", {"--out", "empty"});
    const std::string toy = "predict --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2 --trace ";
    expect_refused(toy + "/tmp", {"--trace /tmp", "directory"});
    expect_refused(toy + "/no/such/x", {"--trace", "no folder /no/such"});
}

TEST_F(Cli, a_wrong_unit_or_range_names_the_place) {
    expect_refused(
        "predict " + kMula + "--set 'machine.node.nic.bandwidth=20 Gb'",
        {"machines/aurora.json (with --set machine.node.nic.bandwidth): $.node.nic.bandwidth", "20 Gb", "GB/s"});
    expect_refused("predict " + kMula + "--set 'machine.node.nic.bandwidth=-20 GB/s'",
                   {"$.node.nic.bandwidth", "-20 GB/s"});
    expect_refused("predict " + kMula + "--set machine.node.nic.bandwidth=20", {"$.node.nic.bandwidth", "20"});
}

TEST_F(Cli, files_that_cannot_be_read_are_refused) {
    const std::string good = text_of(std::string(AUSPEX_SOURCE_DIR) + "/workloads/mula-1b.json");
    ASSERT_GT(good.size(), 100U);
    expect_refused("describe --workload " + write("empty.json", ""), {"empty.json", "empty file"});
    expect_refused("describe --workload " + write("cut.json", good.substr(0, good.size() / 2)),
                   {"cut.json", "line ", "column "});
    expect_refused("describe --workload " + write("key.json", "{\"nope\": 1," + good.substr(1)),
                   {"key.json", "nope", "allowed"});
    expect_refused("describe --workload " + write("list.json", "[]"), {"list.json", "object"});
    expect_refused("describe --workload workloads", {"directory"});
    expect_refused("describe --workload workloads/no-such.json", {"workloads/no-such.json", "no such file"});
    expect_refused("describe --workload \"$(printf 'no\\nfile.json')\"", {"no such file"});
}

TEST_F(Cli, every_workload_is_described_in_json_and_text) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(AUSPEX_SOURCE_DIR) + "/workloads")) {
        const std::string name = entry.path().stem().string();
        const Outcome json = run("describe --json --workload " + name);
        ASSERT_EQ(json.exit_code, 0) << json.error;
        const auto document = JsonDocument::parse(json.out, name);
        const JsonValue parameters = document.root().at("parameters");
        const double total = parameters.at("total").at("total").as_number(1, 1e15);
        EXPECT_LE(parameters.at("active").at("total").as_number(1, 1e15), total);
        EXPECT_EQ(document.root().at("bytes").at("weights_bf16").as_number(1, 1e16), 2 * total);
        EXPECT_EQ(document.root().at("bytes").at("training_state").as_number(1, 1e16), 16 * total);
        EXPECT_EQ(document.root().at("flop_per_token").at("training").as_number(1, 1e15),
                  3 * document.root().at("flop_per_token").at("forward").as_number(1, 1e15));
        EXPECT_NE(run("describe --workload " + name).out.find(name), std::string::npos);
    }
}

TEST_F(Cli, the_hash_is_that_of_the_file_and_overrides_are_listed) {
    const std::string file = write("hash.json", text_of(std::string(AUSPEX_SOURCE_DIR) + "/workloads/toy-moe.json"));
    const Outcome outcome = run("describe --json --set workload.layers=4 --workload '" + file + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "describe");
    EXPECT_EQ(document.root().at("sha256").as_string(), JsonDocument::load(file).sha256());
    EXPECT_EQ(document.root().at("overrides").elements().at(0).as_string(), "workload.layers=4");
}

TEST_F(Cli, names_resolve_from_any_folder) {
    const Outcome outcome =
        run("--version >/dev/null && cd / && '" + std::string(AUSPEX_BINARY) + "' describe --workload mula-1b");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

/// Published runs on H100 have stack megatron-core; none on Aurora has optimus, which takes those of the machine.
/// Quadrature of logarithms around the step.
TEST_F(Cli, predict_says_how_far_published_runs_were_off) {
    for (const auto& [machine, stack, scope] :
         {std::array{"dgx-a100", "megatron-lm", "stack and machine"}, std::array{"aurora", "optimus", "machine"}}) {
        const std::string job = std::string("--machine ") + machine +
                                " --workload mula-7b-a1b --plan mula-7b-a1b --tiles 48 --advice 0 --stack ";
        const Outcome outcome = run("predict --json " + job + stack);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
        const auto document = JsonDocument::parse(outcome.out, "predict");
        const JsonValue root = document.root(), spread = root.at("published_spread");
        EXPECT_EQ(spread.at("of").as_string(), scope);
        EXPECT_GE(spread.at("runs").as_integer(1, 10000), 5);
        const double step = root.at("step_time_s").as_number(0, 1e6);
        const double narrow = root.at("step_time_interval_s").elements().at(1).as_number(0, 1e6);
        const double wide = root.at("step_time_interval_with_spread_s").elements().at(1).as_number(0, 1e6);
        EXPECT_NEAR(std::log(wide / step),
                    std::hypot(std::log(narrow / step), 1.64485 * spread.at("sigma").as_number(0, 9)), 1e-4);
        const bool is_enough = spread.at("sigma").as_number(0, 9) == 0;  // of constants alone
        EXPECT_NE(
            run("predict " + job + stack).out.find(is_enough ? "enough for nine of ten" : "unexplained spread of "),
            std::string::npos);
    }
    const Outcome quick = run("predict --json --no-sensitivity --advice 0 " + kMula + "--tiles 384");
    EXPECT_EQ(quick.out.find("published_spread"), std::string::npos);  // without an interval there is none
}

TEST_F(Cli, predict_prints_the_documented_keys) {
    const Outcome outcome = run("predict --json --tokens 1e9 " + kMula + "--tiles 384");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "predict");
    const JsonValue root = document.root();
    for (const char* key : {"tiles",
                            "dp",
                            "data_parallel",
                            "global_batch",
                            "step_time_s",
                            "step_time_interval_s",
                            "tokens_per_s",
                            "tokens_per_s_per_tile",
                            "tflops_per_tile",
                            "mfu",
                            "hfu",
                            "memory",
                            "losses",
                            "forward_backward_s",
                            "optimizer_s",
                            "executor_proven",
                            "operations",
                            "events",
                            "elapsed_s",
                            "top_constants",
                            "node_hours"}) {
        EXPECT_TRUE(root.find(key)) << key;
    }
    for (const char* key : {"peak_bytes", "capacity_bytes", "fits", "by_label", "by_stage"}) {
        EXPECT_TRUE(root.at("memory").find(key)) << key;
    }
    for (const char* key : {"machine", "stack", "workload", "plan", "overrides", "version"}) {
        EXPECT_TRUE(root.find(key)) << key;
    }
    double sum = 0;
    for (const char* key :
         {"useful_compute", "recompute", "bubble", "exposed_tp", "exposed_ep", "exposed_dp", "exposed_pp", "exposed_cp",
          "exposed_host", "optimizer", "imbalance", "jitter", "waiting", "host_bound"}) {
        sum += root.at("losses").at(key).as_number(0, 1e6);
    }
    const double step = root.at("step_time_s").as_number(0, 1e6);
    EXPECT_NEAR(sum, step, 1e-9 * step) << "the losses sum to the step";
    EXPECT_EQ(root.at("tiles").as_integer(384, 384), 384);
    EXPECT_EQ(root.at("dp").as_integer(4, 4), 4) << "384 tiles = pp 8 x ep 12 x dp 4";
}

TEST_F(Cli, scale_writes_its_report_and_prints_its_points) {
    const Outcome outcome = run("scale --json " + kMula + "--tiles 384,768 --out '" + folder_ + "report'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "") << "no progress line where stderr is no terminal";
    const auto document = JsonDocument::parse(outcome.out, "scale");
    const auto points = document.root().at("points").elements();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].at("efficiency").as_number(0, 2), 1);
    EXPECT_EQ(points[1].at("tiles").as_integer(0, 10000), 768);
    EXPECT_DOUBLE_EQ(points[1].at("efficiency").as_number(0, 2),
                     points[1].at("tokens_per_s_per_tile").as_number(0, 1e9) /
                         points[0].at("tokens_per_s_per_tile").as_number(0, 1e9));
    for (const char* file : {"index.html", "report.md", "points.csv"}) {
        EXPECT_GT(text_of(folder_ + "report/" + file).size(), 100U) << file;
    }
    expect_refused("scale " + kMula + "--tiles 384 --out /proc/nope", {"/proc/nope"});
}

TEST_F(Cli, the_unfolded_lens_gives_percentiles_and_the_error_of_the_folded_one) {
    const std::string flags = "predict --json " + kMula + "--tiles 192 --lens unfolded ";
    const Outcome outcome = run(flags + "--seed 3 --samples 4");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "unfolded");
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("lens").as_string(), "unfolded");
    EXPECT_EQ(root.at("samples").elements().size(), 4U);
    const JsonValue percentiles = root.at("percentiles");
    const auto at = [&](const char* key) { return percentiles.at(key).as_number(0, 1e3); };
    EXPECT_LE(at("min"), at("p5"));
    EXPECT_LE(at("p5"), at("p50"));
    EXPECT_LE(at("p50"), at("p95"));
    EXPECT_LE(at("p95"), at("max"));
    EXPECT_NEAR(root.at("folded_error").as_number(-1, 1),
                root.at("folded_step_time_s").as_number(0, 1e3) / root.at("step_time_s").as_number(0, 1e3) - 1, 1e-12);
    const Outcome slow = run(flags + "--seed 3 --samples 1 --slow 'tile 17=0.5'");
    EXPECT_GT(JsonDocument::parse(slow.out, "slow").root().at("step_time_s").as_number(0, 1e3), 1.02 * at("max"));
    expect_refused("predict " + kMula + "--tiles 192 --samples 4", {"--samples", "--lens unfolded"});
    expect_refused("predict " + kMula + "--tiles 192 --lens sideways", {"--lens", "sideways", "folded"});
    expect_refused(flags + "--samples 0", {"--samples", "0"});
    expect_refused(flags + "--slow 'tile 5000=0.5'", {"--slow", "tile 5000"});
    expect_refused(flags + "--slow 'tile 5=1.5'", {"--slow", "1.5"});
}

TEST_F(Cli, placements_are_compared_in_the_order_in_which_they_are_asked_for) {
    const Outcome outcome =
        run("place --json " + kMula + "--tiles 1536 --placements random,contiguous --out '" + folder_ + "placement'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "place");
    const auto placements = document.root().at("placements").elements();
    ASSERT_EQ(placements.size(), 2U);
    EXPECT_EQ(placements[0].at("placement").as_string(), "random");
    EXPECT_GT(placements[0].at("groups_touched").as_integer(0, 166), 30);
    EXPECT_EQ(placements[1].at("groups_touched").as_integer(0, 166), 2);
    EXPECT_FALSE(placements[1].at("link_use").elements().empty());
    EXPECT_GT(text_of(folder_ + "placement/report.md").size(), 100U);
    expect_refused("place " + kMula + "--placements contiguous,best", {"--placements", "best", "scattered"});
    expect_refused("place " + kMula + "--placements random,random", {"--placements", "twice"});
    expect_refused("place " + kMula + "--placements scheduled:2", {"--placements", "0.001 to 1"});
    expect_refused("place " + kMula + "--placements contiguous:1", {"--placements", "contiguous:1"});
    EXPECT_EQ(run("place " + kMula + "--tiles 384 --placements random:1,random:2,scheduled:0.3:4").exit_code, 0);
}

TEST_F(Cli, ablate_has_its_four_rows_and_the_baseline_is_one) {
    const Outcome outcome =
        run("ablate --json --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const auto document = JsonDocument::parse(outcome.out, "ablate");
    const auto rows = document.root().at("rows").elements();
    ASSERT_EQ(rows.size(), 4U);
    constexpr std::array kNames{"baseline", "fused-experts", "ep-aware", "both"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].at("name").as_string(), kNames[i]);
        EXPECT_TRUE(rows[i].at("fits").as_bool());
        const double step = rows[i].at("step_time_s").as_number(0, 1e6);
        EXPECT_NEAR(rows[i].at("speedup_training").as_number(0, 1e3),
                    rows[0].at("step_time_s").as_number(0, 1e6) / step, 1e-9);
    }
}

TEST_F(Cli, a_trace_is_one_json_document) {
    const std::string file = folder_ + "step.json";
    const Outcome outcome =
        run("predict --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2 --trace '" + file + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_FALSE(JsonDocument::load(file).root().at("traceEvents").elements().empty());
    expect_refused(
        "predict --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2 --trace /no/such/folder/x",
        {"--trace"});
}

TEST_F(Cli, a_program_names_the_stages_of_the_expert_block) {
    const Outcome outcome = run("program --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_GT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 20);
    EXPECT_EQ(outcome.out.rfind("# ", 0), 0U) << "a legend first";
    const Outcome json = run("program --json --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2");
    ASSERT_EQ(json.exit_code, 0) << json.error;
    const auto document = JsonDocument::parse(json.out, "program");
    const auto blocks = document.root().at("blocks").elements();
    EXPECT_EQ(document.root().at("roles").elements().size(), 2U) << "pp = 2";
    EXPECT_EQ(blocks.at(0).at("operations").elements().at(0).at("kind").as_string(), "embedding");
    for (const JsonValue& role : document.root().at("roles").elements()) {
        for (const JsonValue& use : role.at("order").elements()) {
            EXPECT_LT(use.at("block").as_integer(0, 1000), static_cast<std::int64_t>(blocks.size()));
        }
    }
}

}  // namespace
}  // namespace auspex::cli
