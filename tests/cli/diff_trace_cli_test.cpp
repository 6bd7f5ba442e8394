/// @file auspex diff PLAN TRACE, as people call it.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::testing_cli {
namespace {

const std::string kTorch = "tests/compare/kineto/torch/";
const std::string kInputs =
    " --machine " + kTorch + "machine.json --stack " + kTorch + "stack.json --workload " + kTorch + "workload.json";
const std::string kTrace = kTorch + "rank0.pt.trace.json.gz";
const std::string kDiff = "diff " + kTorch + "plan.json " + kTrace + kInputs;

class DiffTraceCli : public testing::Test, protected Runner {};

TEST_F(DiffTraceCli, prints_losses_operations_what_is_left_and_constants) {
    const Outcome outcome = run(kDiff);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    for (const char* part : {"Where the step goes", "useful_compute", "gate_up_projection", "lm_head",
                             "Kernels that match no operation", "Constants that would explain the difference",
                             "stack.kernels.gemm_efficiency", "note: the trace has no device"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
    }
}

TEST_F(DiffTraceCli, json_has_the_documented_keys_and_losses_that_sum_to_the_step) {
    const Outcome outcome = run(kDiff + " --step 4 --json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const JsonDocument document = JsonDocument::parse(outcome.out, "out");
    const JsonValue root = document.root();
    double measured = 0, predicted = 0;
    for (const JsonValue& loss : root.at("losses").elements()) {
        measured += loss.at("measured_s").as_number(0, 1e9);
        predicted += loss.at("predicted_s").as_number(0, 1e9);
    }
    EXPECT_NEAR(measured, root.at("measured_s").as_number(0, 1e9), 1e-9);
    EXPECT_NEAR(predicted, root.at("predicted_s").as_number(0, 1e9), 1e-9);
    EXPECT_EQ(root.at("ranks").elements().front().at("step").as_integer(0, 100), 4);
    for (const char* key : {"trace", "device", "tiles", "explained_s", "operations", "unmatched_kernels", "constants",
                            "notes", "machine", "plan"}) {
        EXPECT_TRUE(root.find(key)) << key;
    }
}

TEST_F(DiffTraceCli, writes_a_page_and_a_table) {
    const std::string folder = folder_ + "page";
    EXPECT_EQ(run(kDiff + " --out " + folder).exit_code, 0);
    const std::string page = text_of(folder + "/index.html");
    EXPECT_NE(page.find("measured, "), std::string::npos);
    EXPECT_NE(page.find("predicted, "), std::string::npos);
    EXPECT_NE(page.find("What matches nothing"), std::string::npos);
    EXPECT_TRUE(text_of(folder + "/operations.csv").starts_with("operation,booked_as,expected,matched"));
}

TEST_F(DiffTraceCli, refuses_what_it_cannot_compare) {
    EXPECT_EQ(fault_of_refusal("diff " + kTorch + "plan.json " + kTrace, {"found a trace without --machine"}), "");
    EXPECT_EQ(fault_of_refusal(kDiff + " --plan toy-pp2-ep2", {"--plan", "found beside a trace"}), "");
    EXPECT_EQ(fault_of_refusal(kDiff + " --step 99", {"--step 99", "found no such step", "which has 3, 4"}), "");
    EXPECT_EQ(fault_of_refusal(kDiff + " --rank 7", {"found rank 7", "expected one below 1"}), "");
    EXPECT_EQ(fault_of_refusal(kDiff + " --tiles 2", {"found a run of 1 rank", "expected 2"}), "");
    EXPECT_EQ(fault_of_refusal("diff " + kTorch + "plan.json " + folder_ + kInputs, {"found no file whose name ends"}),
              "");
    const std::string ours = write("ours.json", R"({"traceEvents":[{"ph":"M","name":"x","pid":0,"tid":0}]})");
    EXPECT_EQ(fault_of_refusal("diff " + kTorch + "plan.json " + ours + kInputs, {"no operation of PyTorch"}), "");
    const std::string prediction = write("a.json", R"({"step_time_s": 1})");
    EXPECT_EQ(fault_of_refusal("diff " + prediction + " " + prediction + " --tiles 4",
                               {"--tiles", "found with two saved results"}),
              "");
}

}  // namespace
}  // namespace auspex::testing_cli
