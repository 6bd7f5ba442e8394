/// @file What would help, what changes nothing, and how many tiles there are: as predict and scale say them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kJob = " --machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b";

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

class AdviceCli : public testing::Test, protected testing_cli::Runner {
 protected:
    JsonDocument json(const std::string& arguments) const {
        const Outcome outcome = run(arguments + " --json");
        EXPECT_EQ(outcome.exit_code, 0) << arguments << ": " << outcome.error;
        return JsonDocument::parse(outcome.exit_code == 0 ? outcome.out : "{}", "out");
    }
    double step_s(const std::string& arguments) const {
        return json("predict --no-sensitivity" + arguments).root().at("step_time_s").as_number(0, 1e30);
    }
};

// What is listed is what --set takes, and gives the step that it says.
TEST_F(AdviceCli, changes_are_what_set_takes) {
    const JsonDocument document = json("predict --tiles 6144 --advice 20" + kJob);
    const JsonValue advice = document.root().at("advice");
    int had = 0;
    for (const JsonValue& change : advice.at("plan").elements()) {
        std::string sets;
        for (const JsonValue& set : change.at("set").elements()) {
            sets += (sets.empty() ? " --set '" : " ") + set.as_string();
        }
        sets += "'";
        EXPECT_EQ(step_s(" --tiles 6144" + kJob + sets), change.at("step_time_s").as_number(0, 1e9)) << sets;
        ++had;
    }
    EXPECT_GE(had, 3);
    const Outcome text = run("predict --tiles 6144 --advice 1" + kJob);
    EXPECT_TRUE(has(text.out, "What would help")) << text.out;
    EXPECT_TRUE(has(text.out, "plan.schedule=interleaved-1f1b plan.virtual_stages=4")) << text.out;
    EXPECT_FALSE(has(text.out, "plan.recompute=[]")) << text.out;  // the second
    EXPECT_TRUE(has(text.out, "stack optimus does not offer dispatch \"hierarchical-alltoall\"")) << text.out;
}

// A recipe of narrow products changes results, and says so; back from one, --set is told so, too.
TEST_F(AdviceCli, narrow_products_are_what_set_takes_and_change_what_is_computed) {
    const std::string by_any = " --machine dgx-h100 --workload llama3-70b --plan llama3-70b --set plan.micro_batches=8";
    const std::string job = by_any + " --stack megatron-core";
    const Outcome text = run("predict" + job);
    ASSERT_EQ(text.exit_code, 0) << text.error;
    EXPECT_TRUE(has(text.out, "\n  plan.fp8=tensorwise  ")) << text.out;
    EXPECT_TRUE(has(text.out, "\n  plan.fp8=blockwise  ")) << text.out;
    EXPECT_TRUE(has(text.out, "\n    changes what is computed\n")) << text.out;
    const std::string slow = job + " --set 'machine.tile.gemm_fp8=300 TF/s' --set plan.fp8=";
    const JsonDocument document = json("predict --advice 20" + slow + "tensorwise");
    double step = 0;
    for (const JsonValue& change : document.root().at("advice").at("plan").elements()) {
        const std::vector<JsonValue> sets = change.at("set").elements();
        if (sets.size() == 1 && sets.front().as_string() == "plan.fp8=none") {
            EXPECT_TRUE(change.at("changes_results").as_bool());
            step = change.at("step_time_s").as_number(0, 1e9);
        }
    }
    EXPECT_GT(step, 0);
    EXPECT_EQ(step_s(slow + "none"), step);
    EXPECT_TRUE(has(run("scale --tiles 384" + job).out, "plan.fp8=tensorwise (+")) << "of the largest size";
    EXPECT_TRUE(has(run("predict --no-sensitivity --stack nccl --set plan.fp8=blockwise" + by_any).out,
                    "a what-if: stack nccl does not offer fp8 \"blockwise\""));
}

// Stages first is the order that DeepSpeed has; that it has no pipeline with experts is no matter of the order.
TEST_F(AdviceCli, an_order_of_ranks_answers_for_itself_alone) {
    const std::string job = " --machine aurora --stack megatron-deepspeed --workload mixtral-8x7b --plan mixtral-8x7b";
    const JsonDocument document = json("predict --advice 20" + job);
    int orders = 0;
    for (const JsonValue& change : document.root().at("advice").at("plan").elements()) {
        if (change.at("field").as_string() == "rank_order") {
            ++orders;
            EXPECT_EQ(change.at("stack_lacks").as_string(), "");
            EXPECT_EQ(change.at("emit_refuses").as_string(), "");
        }
    }
    EXPECT_EQ(orders, 1);
    EXPECT_TRUE(has(run("predict --tiles 6144 --advice 5" + kJob).out,
                    R"(    auspex emit --format optimus does not write rank_order ["pp", "dp", "ep", "tp"])"));
}

TEST_F(AdviceCli, is_left_out_where_it_is_not_wanted_and_refused_where_there_is_none) {
    for (const char* flag : {" --advice 0", " --no-sensitivity"}) {
        EXPECT_FALSE(json("predict --tiles 384" + kJob + flag).root().find("advice")) << flag;
        EXPECT_FALSE(has(run("predict --tiles 384" + kJob + flag).out, "What would help")) << flag;
    }
    EXPECT_TRUE(json("predict --tiles 384 --no-sensitivity --advice 2" + kJob).root().find("advice"));
    EXPECT_EQ(fault_of_refusal("predict --tiles 384 --advice some" + kJob, {"--advice", "\"some\"", "0 to 100"}), "");
    EXPECT_EQ(fault_of_refusal("predict --machine reports/local-calibration/machine.json --stack auspex --workload "
                               "toy-dense --plan toy-dp4 --advice 3",
                               {"--advice", "host"}),
              "");
}

TEST_F(AdviceCli, scale_shows_waterfalls_by_size_and_what_would_help_the_largest) {
    const Outcome text = run("scale --tiles 384,768" + kJob);
    ASSERT_EQ(text.exit_code, 0) << text.error;
    EXPECT_TRUE(has(text.out, "the first line is MFU")) << text.out;
    EXPECT_TRUE(has(text.out, "On 768 tiles would help, each by itself: plan.schedule=")) << text.out;
    const JsonDocument document = json("scale --tiles 384,768" + kJob);
    EXPECT_EQ(document.root().at("advice_tiles").as_integer(0, 10'000), 768);
    EXPECT_GT(document.root().at("advice").at("plan").elements().size(), 0U);
    EXPECT_FALSE(json("scale --tiles 384 --advice 0" + kJob).root().find("advice"));
}

// dp 32 x pp 8 x ep 12 are 3,072 tiles; with ep 24 there are twice as many, unless --tiles says how many.
TEST_F(AdviceCli, a_set_that_changes_the_tiles_says_so) {
    const std::string note = "with plan.ep=24 the job has 6,144 tiles, not the 3,072 of the plan's file: dp stays 32";
    EXPECT_TRUE(has(run("predict --set plan.ep=24" + kJob).out, note));
    EXPECT_FALSE(has(run("predict --set plan.ep=24 --tiles 3072" + kJob).out, "the job has"));
    EXPECT_FALSE(has(run("predict --set plan.micro_batches=4" + kJob).out, "the job has"));
}

TEST_F(AdviceCli, a_set_that_changes_nothing_says_so_and_what_binds) {
    const std::string idle = "predict --tiles 384 --set 'machine.node.pcie_bandwidth=9 TB/s'" + kJob;
    const Outcome text = run(idle);
    ASSERT_EQ(text.exit_code, 0) << text.error;
    EXPECT_TRUE(has(text.out, "changes nothing: step and memory are the same without it; most of its time is bound by"))
        << text.out;
    EXPECT_FALSE(has(run("predict --tiles 384 --set 'machine.tile.hbm_bandwidth=2 TB/s'" + kJob).out,
                     "changes nothing: step and memory"));
}

}  // namespace
}  // namespace auspex::cli
