/// @file auspex import and auspex emit as people call them.
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>

#include "base/json.hpp"
#include "base/units.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class ExchangeCli : public testing::Test, protected testing_cli::Runner {
 protected:
    static std::string config(const std::string& model) {
        return std::string(AUSPEX_SOURCE_DIR) + "/tests/interop/configs/" + model + "/config.json";
    }
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
};

// A config in, a layout out, a script to submit, and the same plan read back from it.
TEST_F(ExchangeCli, from_a_config_to_a_job_and_back) {
    const std::string model = folder_ + "model.json", job = folder_ + "job.pbs", plan = folder_ + "plan.json";
    const Outcome imported =
        run("import hf '" + config("Mixtral-8x7B-v0.1") + "' --sequence-length 4096 --out '" + model + "'");
    ASSERT_EQ(imported.exit_code, 0) << imported.error;
    const std::string folder = std::string(AUSPEX_SOURCE_DIR) + "/tests/interop/configs/Mixtral-8x7B-v0.1";
    EXPECT_EQ(run("import hf '" + folder + "' --sequence-length 4096").exit_code, 0);
    EXPECT_NE(imported.out.find(
                  "46.7 billion parameters, 12.88 billion active a token, 12.75 billion without the input embedding"),
              std::string::npos)
        << imported.out;
    const std::string inputs =
        " --machine aurora --stack megatron-deepspeed --workload '" + model +
        "' --plan mixtral-8x7b --set plan.pp=8 --set 'plan.rank_order=[\"pp\", \"dp\", \"ep\", \"tp\"]' --tiles 192";
    const Outcome predicted = run("predict --json" + inputs);
    ASSERT_EQ(predicted.exit_code, 0) << predicted.error;
    const Outcome emitted = run("emit --format megatron-lm --job pbs --steps 100 --out '" + job + "'" + inputs);
    ASSERT_EQ(emitted.exit_code, 0) << emitted.error;
    const std::string script = testing_cli::text_of(job);
    EXPECT_NE(script.find("#PBS -l select=16\n"), std::string::npos) << script;
    EXPECT_NE(script.find("mpiexec -n 192 --ppn 12 --cpu-bind list:1-8:9-16:17-24:25-32:33-40:41-48:53-60:"),
              std::string::npos)
        << script;
    EXPECT_GT(script.find("--moe-router-force-load-balancing"), script.find("TRIAL=(")) << script;
    EXPECT_NE(emitted.out.find("note: the array TRIAL"), std::string::npos) << emitted.out;
    ASSERT_EQ(run("import megatron '" + job + "' --out '" + plan + "'").exit_code, 0);
    const Outcome again = run("predict --json --machine aurora --stack megatron-deepspeed --workload '" + model +
                              "' --plan '" + plan + "' --tiles 192");
    ASSERT_EQ(again.exit_code, 0) << again.error;
    EXPECT_EQ(JsonDocument::parse(again.out, "again").root().at("step_time_s").as_number(0, 1e6),
              JsonDocument::parse(predicted.out, "first").root().at("step_time_s").as_number(0, 1e6));
}

// What a search with --format finds, emit takes; without it the best plan recomputes attention, which Megatron-LM
// cannot without the rest of a layer.
TEST_F(ExchangeCli, a_searched_plan_is_one_that_its_framework_takes) {
    const std::string model = folder_ + "model.json", plan = folder_ + "plan.json";
    ASSERT_EQ(run("import hf '" + config("Qwen3-30B-A3B") + "' --sequence-length 4096 --out '" + model + "'").exit_code,
              0);
    const std::string job = " --machine aurora --set 'machine.tile.hbm_capacity=64 GB' --stack megatron-deepspeed" +
                            std::string(" --workload '") + model + "' --tiles 96";
    const std::string search =
        "plan --global-batch 96 --where pp=2,tp=1,ep=2,virtual_stages=1,stages=even --out '" + plan + "'" + job;
    const std::string emit = "emit --format megatron-lm --job pbs --steps 10 --plan '" + plan + "'" + job;
    ASSERT_EQ(run(search).exit_code, 0);
    EXPECT_NE(run(emit).error.find("$.recompute: found \"attention\" without others"), std::string::npos);
    ASSERT_EQ(run(search + " --format megatron-lm").exit_code, 0);
    const Outcome emitted = run(emit);
    EXPECT_EQ(emitted.exit_code, 0) << emitted.error;
    EXPECT_NE(run(search + " --format megatron-ln").error.find("did you mean"), std::string::npos);
}

// 8 nodes of 12 tiles; the batch of 384 sequences over 384 replicas of the dense part, 256 nodes; a scenario holds all
// of it.
TEST_F(ExchangeCli, a_plan_goes_out_by_nodes_batch_and_scenario) {
    const auto text = [this](const std::string& arguments) {
        const Outcome outcome = run("emit --json --format megatron-lm " + arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return outcome.exit_code == 0 ? JsonDocument::parse(outcome.out, "out").root().at("text").as_string() : "";
    };
    const std::string inputs =
        "--machine aurora --workload mixtral-8x7b --plan mixtral-8x7b --set plan.pp=8 --set 'plan.rank_order=[\"pp\", "
        "\"dp\", \"ep\", \"tp\"]' ";
    const auto arguments_of = [](const std::string& settings) { return settings.substr(settings.find("--")); };
    EXPECT_NE(text(inputs + "--nodes 16 --global-batch 48").find("--global-batch-size 48"), std::string::npos);
    const std::string scenario = folder_ + "job.json";
    ASSERT_EQ(run("scenario --stack megatron-deepspeed --nodes 16 --out '" + scenario + "' " + inputs).exit_code, 0);
    EXPECT_EQ(arguments_of(text("--scenario '" + scenario + "'")), arguments_of(text(inputs + "--tiles 192")));
}

TEST_F(ExchangeCli, a_config_is_a_workload_as_it_is) {
    const Outcome described =
        run("describe --json --workload '" + config("Qwen3-30B-A3B") + "' --set workload.sequence_length=4096");
    ASSERT_EQ(described.exit_code, 0) << described.error;
    EXPECT_EQ(JsonDocument::parse(described.out, "out").root().at("name").as_string(), "Qwen3-30B-A3B");
    const Outcome shorter = run("describe --json --workload '" + config("Qwen3-30B-A3B") +
                                "' --set workload.sequence_length=4096 --set workload.num_hidden_layers=24");
    EXPECT_NE(shorter.out, described.out);
}

// b - a of every row; rows of losses sum to the change of the step.
TEST_F(ExchangeCli, two_predictions_side_by_side) {
    const std::string a = folder_ + "a.json", b = folder_ + "b.json";
    const std::string predict =
        "predict --json --machine aurora --stack optimus --workload mula-20b-a2b --plan mula-20b-a2b --tiles 96";
    const Outcome first = run(predict), second = run(predict + " --set plan.micro_batches=16");
    std::ofstream(a) << first.out;
    std::ofstream(b) << second.out;
    const Outcome difference = run("diff '" + a + "' '" + b + "' --json");
    ASSERT_EQ(difference.exit_code, 0) << difference.error;
    const JsonDocument json = JsonDocument::parse(difference.out, "out");
    double of_losses = 0;
    for (const JsonValue& row : json.root().at("losses").elements()) {
        of_losses += row.at("after").as_number(0, 1e9) - row.at("before").as_number(0, 1e9);
    }
    const JsonValue step = json.root().at("totals").elements().at(0);
    EXPECT_NEAR(of_losses, step.at("after").as_number(0, 1e9) - step.at("before").as_number(0, 1e9), 1e-9);
    EXPECT_EQ(json.root().at("inputs").elements().at(0).at("name").as_string(), "overrides");
    EXPECT_NE(run("diff '" + a + "' '" + b + "'").out.find("global_batch"), std::string::npos);
    EXPECT_NE(run("diff '" + a + "' '" + a + "'").out.find("the same inputs"), std::string::npos);
    expect_refused("diff '" + a + "'", {"--after"});
    expect_refused("diff '" + a + "' plans/toy-dp4.json", {"a saved result", "toy-dp4.json a plan", "two of one kind"});
}

// What a benchmark prints, as rows; a machine calibrated with them; the same rows predicted.
TEST_F(ExchangeCli, measurements_of_others_calibrate_a_machine) {
    const std::string rates = write("osu_bw.txt",
                                    "# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n512   100.00\n"
                                    "1048576   40000.00\n8388608   45000.00\n");
    const std::string rows = folder_ + "rows.csv", machine = folder_ + "machine.json";
    const Outcome imported = run("import osu '" + rates + "' --link nic --out '" + rows + "' --json");
    ASSERT_EQ(imported.exit_code, 0) << imported.error;
    EXPECT_EQ(JsonDocument::parse(imported.out, "out").root().at("rows").as_integer(0, 100), 2);
    const Outcome calibrated =
        run("calibrate --from '" + rows + "' --machine dgx-h100 --stack bare --out '" + machine + "'");
    ASSERT_EQ(calibrated.exit_code, 0) << calibrated.error;
    // two rows carry no law: their median, 42.5 GB/s
    EXPECT_DOUBLE_EQ(JsonDocument::load(machine)
                         .root()
                         .at("node")
                         .at("nic")
                         .at("bandwidth")
                         .at("value")
                         .as_quantity(Dimension::kBytesPerSecond, 0, 1e12),
                     42.5e9);
    const std::string times = write("osu_allreduce.txt",
                                    "# OSU MPI-CUDA Allreduce Latency Test v7.2\n# Size       Avg Latency(us)\n"
                                    "1048576   60.00\n134217728   900.00\n");
    const std::string published = folder_ + "rows.json";
    ASSERT_EQ(run("import osu '" + times + "' --ranks 16 --nodes 2 --machine Frontier --library RCCL --out '" +
                  published + "'")
                  .exit_code,
              0);
    const Outcome against = run("collective --against '" + published + "'");
    ASSERT_EQ(against.exit_code, 0) << against.error;
    EXPECT_NE(against.out.find("2 of 2 rows"), std::string::npos) << against.out;
    expect_refused("import osu '" + times + "' --ranks 16", {"--nodes"});
    expect_refused("import osu '" + times + "' --ranks 16 --nodes 2 --library RCCL", {"--library", "--machine"});
    expect_refused("import osu '" + rates + "' --link nic --machine Frontier --library RCCL",
                   {"--library", "two ranks"});
    expect_refused("import nccl-tests README.md", {"README.md", "nThread"});
}

TEST_F(ExchangeCli, what_is_missing_or_not_modelled_is_said) {
    expect_refused("describe --workload '" + config("Qwen3-8B") + "'", {"sequence_length", "40960"});
    EXPECT_EQ(run("import hf '" + config("DeepSeek-V3") + "' --sequence-length 4096").exit_code, 0);  // with its module
    expect_refused("import hf workloads/toy-moe.json", {"model_type", "Hugging Face"});
    expect_refused("import hf", {"--config"});
    expect_refused("import hf a.json b.json", {"stray", "b.json"});
    expect_refused("import megatron README.md", {"README.md", "expected"});
    expect_refused("emit --format slang --workload toy-moe --plan toy-pp2-ep2", {"slang", "megatron-lm"});
    expect_refused("emit --format megatron-lm --workload toy-moe --plan toy-pp2-ep2 --job pbs",
                   {"--machine", "--steps"});
    expect_refused("emit --format megatron-lm --workload toy-moe --plan toy-pp2-ep2 --set plan.schedule=gpipe",
                   {"schedule", "gpipe", "Megatron-LM"});
    const std::string no_ranks = folder_ + "no-ranks.sh";
    std::ofstream(no_ranks) << "ARGS=(--bf16)\n";
    expect_refused("import megatron '" + no_ranks + "'", {"--tiles", "ranks"});
}

}  // namespace
}  // namespace auspex::cli
