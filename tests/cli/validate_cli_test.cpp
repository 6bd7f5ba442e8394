/// @file auspex validate: what it predicts is what auspex predict does, what it cannot is said, bad files are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class ValidateCli : public testing::Test, protected testing_cli::Runner {
 protected:
    static std::string file_with(const std::string& text) {
        const std::string file = testing::TempDir() + "auspex-validate-cases.json";
        std::ofstream(file) << text;
        return file;
    }
};

/// Llama 3 8B on one node of 8 H100, as shipped files have it, and the same on a GPU that no file has.
constexpr const char* kCases = R"([
 {"id": "llama", "source": "made up", "hardware": {"gpu": "H100-SXM-80GB", "gpus_per_node": 8}, "gpus": 8,
  "precision": "bf16", "framework": "Megatron-Core",
  "model": {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256,
            "activation": "swiglu", "seq": 4096},
  "plan": {"tp": 2, "micro_batch": 1, "global_batch": 16, "seq_parallel": true, "zero": "1", "recompute": "full"},
  "measured": {"step_time_s": 1, "peak_mem_gib": 60}},
 {"id": "elsewhere", "source": "made up", "hardware": {"gpu": "Abacus"}, "gpus": 8, "framework": "Megatron-Core",
  "model": {"layers": 1, "hidden": 8, "heads": 1, "ffn": 8, "vocab": 8, "seq": 8}, "plan": {"global_batch": 8},
  "measured": {}}])";

TEST_F(ValidateCli, a_case_is_predicted_as_its_inputs_are) {
    const Outcome found = run("validate --cases " + file_with(kCases) + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    const JsonValue root = document.root();
    const JsonValue one = root.at("cases").elements().at(0);
    const Outcome alone = run(
        "predict --machine dgx-h100 --stack megatron-core --tiles 8 --json --advice 0 --workload '{\"source\": \"m\", "
        "\"layers\": 32, \"hidden_size\": 4096, \"heads\": 32, \"kv_heads\": 8, \"intermediate_size\": 14336, "
        "\"vocab_size\": 128256, \"sequence_length\": 4096}' --plan '{\"source\": \"m\", \"dp\": 4, \"tp\": 2, "
        "\"sequence_parallel\": true, \"micro_batches\": 4, \"recompute\": [\"layer\"], \"optimizer\": \"sharded\", "
        "\"gradient_dtype\": \"fp32\", \"overlap\": [\"dp\", \"tp\"], \"rank_order\": [\"pp\", \"dp\", \"ep\", "
        "\"tp\"]}'");
    ASSERT_EQ(alone.exit_code, 0) << alone.error;
    const JsonDocument prediction = JsonDocument::parse(alone.out, "predict");
    const double step_s = prediction.root().at("step_time_s").as_number(0, 100);
    EXPECT_DOUBLE_EQ(one.at("predicted_step_s").as_number(0, 100), step_s);
    EXPECT_DOUBLE_EQ(one.at("error").as_number(-1, 100), step_s - 1);
    EXPECT_EQ(one.at("measured_from").as_string(), "step");
    EXPECT_FALSE(one.at("fitted").as_bool());
    EXPECT_LT(one.at("interval_s").elements().at(0).as_number(0, 100), step_s);
    const JsonValue unmapped = root.at("unmapped").elements().at(0);
    EXPECT_EQ(unmapped.at("id").as_string(), "elsewhere");
    EXPECT_NE(unmapped.at("why").as_string().find("Abacus"), std::string::npos);
    EXPECT_EQ(root.at("summary").at("all").at("n").as_integer(0, 9), 1);
    EXPECT_EQ(root.at("summary").at("machine dgx-h100").at("memory_n").as_integer(0, 9), 1);
}

TEST_F(ValidateCli, the_table_names_all_cases) {
    const Outcome found = run("validate --cases " + file_with(kCases));
    EXPECT_EQ(found.exit_code, 0) << found.error;
    for (const char* const text : {"llama", "verified", "not mapped: elsewhere: found GPU \"Abacus\""}) {
        EXPECT_NE(found.out.find(text), std::string::npos) << text << "\n" << found.out;
    }
}

// AERIS, whose windows the keys of cases have no words for: 720 to 10,080 nodes, |error| at most 12 % and 8 % in the
// mean.
TEST_F(ValidateCli, cases_that_name_files_are_predicted_as_these_say) {
    const Outcome found = run("validate --cases tests/published/runs/aeris.json --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    const auto cases = document.root().at("cases").elements();
    ASSERT_EQ(cases.size(), 6U);
    for (const JsonValue& one : cases) {
        EXPECT_LE(std::abs(one.at("error").as_number(-1, 10)), 0.12) << one.at("id").as_string();
    }
    EXPECT_LE(document.root().at("summary").at("all").at("mape").as_number(0, 10), 0.08);
}

TEST_F(ValidateCli, bad_input_is_one_error) {
    for (const std::string& text :
         {std::string("[]"), std::string("{}"), std::string("[{\"id\": 5}]"), std::string("[")}) {
        const Outcome found = run("validate --cases " + file_with(text));
        EXPECT_EQ(found.exit_code, 2) << text;
        EXPECT_EQ(found.out, "");
    }
    EXPECT_EQ(run("validate --cases no-such-file.json").exit_code, 2);
    EXPECT_EQ(run("validate").exit_code, 2);
    EXPECT_EQ(run("validate --cases " + file_with(kCases) + " --set plan.tp=2").exit_code, 2);
}

/// FLOP of X-MoE are counted in a way that its source does not say.
TEST_F(ValidateCli, cases_of_frontier_and_lumi_are_mapped_where_they_have_a_time) {
    const Outcome found =
        run("validate --cases tests/published/runs/frontier.json tests/published/runs/lumi.json --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    EXPECT_EQ(document.root().at("cases").elements().size(), 5U);
    EXPECT_EQ(document.root().at("unmapped").elements().size(), 4U);
}

}  // namespace
}  // namespace auspex::cli
