/// @file auspex validate: what it predicts is what auspex predict does, what it cannot is said, bad files are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"
#include "models/published/published_spread.hpp"

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

TEST_F(ValidateCli, a_setting_that_no_file_takes_is_an_error_and_no_case_that_is_not_mapped) {
    for (const std::string setting : {"stack.nosuch=1", "machine.tile.hbm_capacity=banana"}) {
        const Outcome found = run("validate --cases " + file_with(kCases) + " --set " + setting);
        EXPECT_EQ(found.exit_code, 2) << setting;
        EXPECT_NE(found.error.find(setting.substr(setting.find('.') + 1, 4)), std::string::npos) << found.error;
    }
}

/// A release of one stack: cases of another are not mapped, and the reason names the file.
TEST_F(ValidateCli, a_setting_that_some_files_take_leaves_the_others_cases_out) {
    std::string cases = kCases;
    cases.replace(cases.find("\"Abacus\""), 8, "\"H100-SXM-80GB\", \"gpus_per_node\": 8");
    cases.replace(cases.rfind("Megatron-Core"), 13, "TorchTitan");
    cases.replace(cases.rfind("{}}]"), 3, R"({"step_time_s": 1}, "precision": "bf16"})");
    const Outcome found = run("validate --cases " + file_with(cases) + " --json --set stack.releases.use=mcore-2024");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    ASSERT_EQ(document.root().at("cases").elements().size(), 1U);
    EXPECT_EQ(document.root().at("cases").elements()[0].at("id").as_string(), "llama");
    ASSERT_EQ(document.root().at("unmapped").elements().size(), 1U);
    const std::string why = document.root().at("unmapped").elements()[0].at("why").as_string();
    EXPECT_NE(why.find("pytorch-fsdp.json: $.releases.use: found \"mcore-2024\""), std::string::npos) << why;
}

TEST_F(ValidateCli, places_that_are_not_there_are_said_with_their_flag) {
    const std::string cases = file_with(kCases);
    for (const auto& [flags, fault] : std::vector<std::pair<std::string, std::string>>{
             {"--cases nowhere", "--cases nowhere: found no such file or folder"},
             {"--cases " + cases + " --machines nowhere", "--machines nowhere: found no such folder"},
             {"--cases " + cases + " --stacks nowhere", "--stacks nowhere: found no such folder"}}) {
        const Outcome found = run("validate " + flags);
        EXPECT_EQ(found.exit_code, 2) << flags;
        EXPECT_NE(found.error.find(fault), std::string::npos) << found.error;
    }
}

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

/// The command of a case, as the report has it, gives the step that the report has.
TEST_F(ValidateCli, a_report_has_what_predicts_each_case_again) {
    const std::string folder = testing::TempDir() + "auspex-validate-report";
    std::filesystem::remove_all(folder);
    const Outcome found = run("validate --cases " + file_with(kCases) + " --out " + folder);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    EXPECT_NE(found.out.find("The report is in " + folder), std::string::npos) << found.out;
    for (const char* const file : {"index.html", "report.md", "validation.csv", "validation.json"}) {
        EXPECT_TRUE(std::filesystem::exists(folder + "/" + file)) << file;
    }
    const JsonDocument document = JsonDocument::load(folder + "/validation.json");
    const JsonValue one = document.root().at("cases").elements().at(0);
    const std::string command = one.at("command").as_string();
    ASSERT_EQ(command.substr(0, 7), "auspex ");
    const Outcome again = run(command.substr(7) + " --json --advice 0");
    ASSERT_EQ(again.exit_code, 0) << again.error;
    const JsonDocument prediction = JsonDocument::parse(again.out, "predict");
    EXPECT_EQ(prediction.root().at("step_time_s").as_number(0, 100), one.at("predicted_step_s").as_number(0, 100));
}

/// Six cases of two sources, off by as much as their measured times say: written, read back by predict.
TEST_F(ValidateCli, spreads_are_written_to_a_file) {
    std::string cases = "[";
    for (int i = 0; i < 6; ++i) {
        std::string one(kCases);
        one = one.substr(1, one.find("{\"id\": \"elsewhere\"") - 4);
        one.replace(one.find("\"llama\""), 7,
                    "\"llama" + std::to_string(i) + "\", \"source_key\": \"" + (i < 3 ? "a" : "b") + "\"");
        cases += (i > 0 ? "," : "") + one;
    }
    const std::string file = testing::TempDir() + "auspex-spread.json";
    const Outcome found = run("validate --cases " + file_with(cases + "]") + " --write-spread " + file);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const std::vector<models::PublishedSpread> spreads = models::load_spreads(JsonDocument::load(file));
    ASSERT_EQ(spreads.size(), 4U);
    EXPECT_EQ(spreads[0].runs, 6);
    EXPECT_EQ(spreads[0].sources, 2);
    EXPECT_EQ(models::find_spread(spreads, "megatron-core", "dgx-h100")->machine, "dgx-h100");
}

/// Without a fitted constant the error is that of the same case with --set: torchtitan on Aurora has three.
TEST_F(ValidateCli, a_report_says_what_fitted_constants_are_worth) {
    const std::string cases = R"([{"id": "t", "source": "made up", "machine": "Aurora", "gpus": 24, "precision": "bf16",
        "hardware": {"gpu": "Intel Data Center GPU Max 1550 tile", "gpus_per_node": 12}, "framework": "TorchTitan + ezpz",
        "model": {"layers": 8, "hidden": 2048, "heads": 16, "ffn": 5632, "vocab": 32000, "seq": 2048},
        "plan": {"micro_batch": 1, "global_batch": 24, "zero": "3", "recompute": "full"}, "measured": {"step_time_s": 1}}])";
    const std::string folder = testing::TempDir() + "auspex-validate-ablation";
    const Outcome found = run("validate --cases " + file_with(cases) + " --out " + folder);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::load(folder + "/validation.json");
    const std::vector<JsonValue> ablations = document.root().at("ablations").elements();
    ASSERT_EQ(ablations.size(), 3U);
    for (const JsonValue& one : ablations) {
        EXPECT_EQ(one.at("stack").as_string(), "torchtitan");
        EXPECT_EQ(one.at("n").as_integer(0, 9), 1);
        const Outcome set =
            run("validate --cases " + file_with(cases) + " --json --set '" + one.at("without").as_string() + "'");
        ASSERT_EQ(set.exit_code, 0) << set.error;
        const JsonDocument other = JsonDocument::parse(set.out, "validate");
        const double bias = other.root().at("summary").at("all").at("bias").as_number(-1, 1e6);
        EXPECT_DOUBLE_EQ(one.at("bias_without").as_number(-1, 1e6), bias);
        EXPECT_NE(one.at("bias").as_number(-1, 1e6), bias);
    }
}

TEST_F(ValidateCli, the_table_names_all_cases) {
    const Outcome found = run("validate --cases " + file_with(kCases));
    EXPECT_EQ(found.exit_code, 0) << found.error;
    for (const char* const text : {"llama", "verified", "not mapped: elsewhere: found GPU \"Abacus\""}) {
        EXPECT_NE(found.out.find(text), std::string::npos) << text << "\n" << found.out;
    }
    std::string cases = kCases;  // another of the same fault
    const std::string one = cases.substr(cases.find("{\"id\": \"elsewhere\""));
    cases.insert(cases.size() - 1, ", " + one.substr(0, one.size() - 1));
    cases.replace(cases.rfind("elsewhere"), 9, "nowhere");
    const Outcome both = run("validate --cases " + file_with(cases));
    EXPECT_NE(both.out.find("not mapped: elsewhere, nowhere: found GPU \"Abacus\""), std::string::npos) << both.out;
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

TEST_F(ValidateCli, cases_of_which_none_can_be_predicted_are_told_and_make_no_report) {
    const std::string cases = kCases;
    const std::string elsewhere = "[" + cases.substr(cases.find("{\"id\": \"elsewhere\""));
    const Outcome table = run("validate --cases " + file_with(elsewhere));
    EXPECT_EQ(table.exit_code, 0) << table.error;
    EXPECT_NE(table.out.find("none of 1 case could be predicted"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("not mapped: elsewhere: found GPU \"Abacus\""), std::string::npos) << table.out;
    const Outcome json = run("validate --json --cases " + file_with(elsewhere));
    ASSERT_EQ(json.exit_code, 0) << json.error;
    const JsonDocument document = JsonDocument::parse(json.out, "validate");
    EXPECT_TRUE(document.root().at("cases").elements().empty());
    EXPECT_EQ(document.root().at("unmapped").elements().size(), 1U);
    EXPECT_TRUE(document.root().at("summary").keys().empty());
    for (const std::string flags : {" --out none", " --write-spread none.json"}) {
        const Outcome found = run("validate --cases " + file_with(elsewhere) + flags);
        EXPECT_EQ(found.exit_code, 2);
        EXPECT_EQ(found.out, "");
        EXPECT_NE(found.error.find("1 case that cannot be predicted"), std::string::npos) << found.error;
        EXPECT_NE(found.error.find("Abacus"), std::string::npos) << found.error;
    }
}

/// 40 % of the H100's 989.4 TF/s in 16 bits; products in 8 bits have no peak of which it is known to be a share.
TEST_F(ValidateCli, an_mfu_alone_is_of_the_machines_peak) {
    std::string cases = kCases;
    cases.replace(cases.find("\"step_time_s\": 1,"), 17, "\"mfu\": 0.4,");
    const Outcome found = run("validate --cases " + file_with(cases) + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    const JsonValue one = document.root().at("cases").elements().at(0);
    // 2 x 3 x 65,536 tokens x (32 layers of 4,096^2 (2 + 0.5) + 3 x 4,096 x 14,336, scores 2 x 4,096 x 4,096, V h)
    const double layer = 4096. * 4096 * 2.5 + 3. * 4096 * 14336 + 2. * 4096 * 4096;
    const double flop = 2 * 3 * 65536. * (32 * layer + 128256. * 4096);
    EXPECT_NEAR(one.at("measured_step_s").as_number(0, 1e9) / (flop / (0.4 * 989.4e12 * 8)), 1, 1e-3);
    EXPECT_NE(found.out.find("peak in 16 bits, 989.4 TF/s"), std::string::npos) << found.out;
    for (const char* const other : {"\"fp8\"", "\"tf32\""}) {
        std::string narrow = cases;
        narrow.replace(narrow.find("\"bf16\""), 6, other);
        const Outcome refused = run("validate --cases " + file_with(narrow) + " --json");
        EXPECT_NE(refused.out.find("found an mfu alone, and products that are not in 16 bits"), std::string::npos);
        // as it is told to
        narrow.replace(narrow.find("\"source\""), 0, "\"how_flops_counted\": \"peak 1979 TFLOP/s\", ");
        const Outcome told = run("validate --cases " + file_with(narrow) + " --json");
        const JsonDocument again = JsonDocument::parse(told.out, "validate");
        ASSERT_EQ(again.root().at("cases").elements().size(), 1U) << told.out;
        EXPECT_NEAR(again.root().at("cases").elements()[0].at("measured_step_s").as_number(0, 1e9) /
                        (flop / (0.4 * 1979e12 * 8)),
                    1, 1e-3);
    }
}

/// Seconds that were milliseconds: predicted all the same, and noted.
TEST_F(ValidateCli, steps_of_another_unit_are_noted) {
    std::string cases = kCases;
    cases.replace(cases.find("\"step_time_s\": 1,"), 17, "\"step_time_s\": 1000,");
    const Outcome found = run("validate --cases " + file_with(cases) + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    EXPECT_NE(found.out.find("its unit may not be that of its key"), std::string::npos) << found.out;
    const Outcome plain = run("validate --cases " + file_with(kCases) + " --json");
    EXPECT_EQ(plain.out.find("its unit may not be that of its key"), std::string::npos);
}

TEST_F(ValidateCli, files_that_cannot_be_written_are_refused_before_any_case) {
    const std::string nowhere = testing::TempDir() + "auspex-no-such-folder/spread.json";
    const std::string folder = testing::TempDir() + "auspex-validate-out";
    const Outcome found =
        run("validate --cases " + file_with(kCases) + " --out " + folder + " --write-spread " + nowhere);
    EXPECT_EQ(found.exit_code, 2);
    EXPECT_NE(found.error.find("--write-spread"), std::string::npos) << found.error;
    EXPECT_FALSE(std::filesystem::exists(folder + "/validation.json"));
}

/// One value of a wrong kind costs its case alone; of files without any case that can be read nothing is written.
TEST_F(ValidateCli, a_case_that_cannot_be_read_is_told_beside_the_others) {
    std::string cases = kCases;
    cases.replace(cases.rfind("\"gpus\": 8"), 9, "\"gpus\": \"8\"");
    const std::string file = file_with(cases);
    const Outcome found = run("validate --cases " + file + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validation");
    EXPECT_EQ(document.root().at("cases").elements().size(), 1);
    const JsonValue unmapped = document.root().at("unmapped").elements().at(0);
    EXPECT_EQ(unmapped.at("id").as_string(), "elsewhere");
    for (const std::string& word : {file + ":", std::string("[1].gpus"), std::string("integer")}) {
        EXPECT_NE(unmapped.at("why").as_string().find(word), std::string::npos) << unmapped.at("why").as_string();
    }
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

TEST_F(ValidateCli, cases_of_frontier_and_lumi_are_mapped) {
    const Outcome found =
        run("validate --cases tests/published/runs/frontier.json tests/published/runs/lumi.json --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    EXPECT_EQ(document.root().at("cases").elements().size(), 9U);
    EXPECT_EQ(document.root().at("unmapped").elements().size(), 0U);
}

/// X-MoE's paper on 256 GCDs: each framework with its own stack, in the order that was measured, all too fast by up to
/// a third.
TEST_F(ValidateCli, x_moe_and_its_baselines_come_in_the_order_that_was_measured) {
    const Outcome found = run("validate --cases tests/published/runs/frontier.json --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument document = JsonDocument::parse(found.out, "validate");
    std::map<std::string, double> steps;
    for (const JsonValue& one : document.root().at("cases").elements()) {
        if (one.at("id").as_string().starts_with("frontier_xmoe")) {
            steps[one.at("stack").as_string()] = one.at("predicted_step_s").as_number(0, 100);
            EXPECT_LT(std::abs(one.at("error").as_number(-1, 10)), 0.34) << one.at("id").as_string();
        }
    }
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_LT(1.05 * steps.at("x-moe"), steps.at("tutel"));
    EXPECT_LT(1.1 * steps.at("tutel"), steps.at("deepspeed-moe"));
}

/// The same model by its shipped files: padding costs Tutel time, masks DeepSpeed-MoE memory, too.
TEST_F(ValidateCli, x_moes_model_is_predicted_with_its_stacks_by_name) {
    const auto answer = [this](const std::string& more) {
        const Outcome found =
            run("predict --machine frontier --workload x-moe-small --plan x-moe-small --tiles 256 "
                "--json --advice 0 " +
                more);
        EXPECT_EQ(found.exit_code, 0) << found.error;
        return JsonDocument::parse(found.out, "predict");
    };
    const auto step = [](const JsonDocument& of) { return of.root().at("step_time_s").as_number(0, 1000); };
    const auto fits = [](const JsonDocument& of) { return of.root().at("memory").at("fits").as_bool(); };
    const std::string padded = "--set workload.pad_to_capacity=true ";
    const JsonDocument own = answer("--stack x-moe"), sparse = answer("--stack tutel " + padded);
    EXPECT_LT(step(own), step(sparse));
    EXPECT_TRUE(fits(own) && fits(sparse));
    const std::string masks = "--stack deepspeed-moe --set plan.expert_kernels=loop " + padded;
    EXPECT_FALSE(fits(answer(masks)));  // micro-batches of 4 sequences
    EXPECT_TRUE(fits(answer(masks + "--set plan.micro_batch_size=1 --set plan.micro_batches=32")));
}

}  // namespace
}  // namespace auspex::cli
