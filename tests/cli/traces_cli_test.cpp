/// @file Traces out and in as people call them.
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

const std::string kToy = " --machine aurora --stack optimus --workload toy-moe --plan toy-pp2-ep2";

class TracesCli : public testing::Test, protected testing_cli::Runner {
 protected:
    void expect_refused(const std::string& arguments, std::initializer_list<const char*> words) const {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    }
};

TEST_F(TracesCli, a_name_chooses_the_format) {
    const std::string json = folder_ + "step.json", proto = folder_ + "step.pftrace";
    for (const std::string& file : {json, proto}) {
        const Outcome outcome = run("predict" + kToy + " --trace '" + file + "'");
        ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
        EXPECT_NE(outcome.out.find("The trace is in " + file), std::string::npos);
    }
    EXPECT_TRUE(testing_cli::text_of(json).starts_with("{\"displayTimeUnit\""));
    EXPECT_TRUE(testing_cli::text_of(proto).starts_with("\x0a"));
    EXPECT_NE(testing_cli::text_of(proto).find("a predicted step, not a measured one"), std::string::npos);
}

TEST_F(TracesCli, of_ranks_of_the_unfolded_lens) {
    const std::string file = folder_ + "ranks.json";
    const Outcome outcome =
        run("predict" + kToy + " --lens unfolded --samples 2 --trace-ranks 3,0,3 --trace '" + file + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const std::string trace = testing_cli::text_of(file);
    EXPECT_NE(trace.find("\"rank 3\""), std::string::npos);
    EXPECT_EQ(trace.find("\"rank 1\""), std::string::npos);
    ASSERT_EQ(run("predict" + kToy + " --lens unfolded --trace-ranks slowest --trace '" + file + "'").exit_code, 0);
    EXPECT_NE(testing_cli::text_of(file).find("\"rank "), std::string::npos);
    expect_refused("predict" + kToy + " --lens unfolded --trace '" + file + "'", {"--trace-ranks slowest"});
    expect_refused("predict" + kToy + " --trace-ranks 0 --trace '" + file + "'", {"without --lens unfolded"});
    expect_refused("predict" + kToy + " --lens unfolded --trace-ranks 0,x --trace '" + file + "'",
                   {"--trace-ranks", "found \"x\""});
    expect_refused("predict" + kToy + " --lens unfolded --trace-ranks 4 --trace '" + file + "'",
                   {"found rank 4; expected 0 to 3"});
}

/// Out and in again: the step that was predicted, but for what microseconds cut off.
TEST_F(TracesCli, chakra_out_and_in) {
    const std::string traces = folder_ + "chakra";
    const std::string quiet = kToy + " --json --set machine.noise.network_jitter=0";
    const Outcome out = run("predict" + quiet + " --chakra '" + traces + "'");
    ASSERT_EQ(out.exit_code, 0) << out.error;
    const JsonDocument predicted = JsonDocument::parse(out.out, "out");
    EXPECT_EQ(predicted.root().at("chakra").at("files").as_integer(0, 99), 4);
    const Outcome in = run("import chakra '" + traces +
                           "' --machine aurora --stack optimus --json --set machine.noise.network_jitter=0");
    ASSERT_EQ(in.exit_code, 0) << in.error;
    const JsonDocument played = JsonDocument::parse(in.out, "in");
    EXPECT_EQ(played.root().at("trace_nodes").as_integer(0, 1'000'000),
              predicted.root().at("chakra").at("nodes").as_integer(0, 1'000'000));
    const double expected = predicted.root().at("step_time_s").as_number(0, 10);
    EXPECT_NEAR(played.root().at("step_time_s").as_number(0, 10), expected, expected * 5e-3);
    double sum = 0;
    for (const char* part : {"compute_s", "communication_s", "idle_s"}) {
        sum += played.root().at("by_rank").elements().front().at(part).as_number(0, 10);
    }
    EXPECT_NEAR(sum, played.root().at("step_time_s").as_number(0, 10), 1e-9);
    expect_refused("predict" + kToy + " --chakra '" + traces + "'", {"expected a folder without traces"});
    expect_refused("predict" + kToy + " --chakra '" + folder_ + "more' --chakra-limit '1 KB'",
                   {"expected at most 1 KB", "--chakra-roles"});
    expect_refused("predict" + kToy + " --chakra-roles", {"found without --chakra"});
}

TEST_F(TracesCli, chakra_in_says_where_the_time_goes) {
    const std::string traces = folder_ + "roles", file = folder_ + "played.pftrace";
    ASSERT_EQ(run("predict" + kToy + " --chakra-roles --chakra '" + traces + "'").exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(traces + "/roles.json"));
    const Outcome in = run("import chakra '" + traces + "' --machine aurora --stack optimus --one-communication " +
                           "--trace-ranks 1 --trace '" + file + "'");
    ASSERT_EQ(in.exit_code, 0) << in.error;
    EXPECT_NE(in.out.find("communication"), std::string::npos) << in.out;
    EXPECT_NE(in.out.find("nodes/s"), std::string::npos) << in.out;
    EXPECT_NE(testing_cli::text_of(file).find("rank 1"), std::string::npos);
    expect_refused("import chakra '" + traces + "' --machine aurora --stack optimus --durations guessed",
                   {"--durations", "recorded or roofline"});
    expect_refused("import chakra '" + folder_ + "nowhere' --machine aurora --stack optimus", {"found no such folder"});
    expect_refused("import chakra '" + traces + "' --machine aurora --stack optimus --set plan.dp=1", {"plan"});
    expect_refused("import chakra '" + traces + "' --machine aurora --stack optimus --trace-ranks 0",
                   {"without --trace"});
}

TEST_F(TracesCli, the_order_of_a_pipeline_as_csv) {
    const std::string file = folder_ + "order.csv";
    const Outcome outcome = run("program" + kToy + " --set plan.micro_batches=2 --pipeline-csv '" + file + "'");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(testing_cli::text_of(file), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    EXPECT_NE(outcome.out.find("2 pipeline ranks, 2 stages, 4 passes each"), std::string::npos) << outcome.out;
    expect_refused("program" + kToy + " --check-executor --pipeline-csv '" + file + "'", {"--check-executor"});
}

}  // namespace
}  // namespace auspex::cli
