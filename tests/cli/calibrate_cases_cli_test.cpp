/// @file auspex calibrate --cases: constants come back from runs that were made with them; what is asked wrongly is
/// said.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class CalibrateCasesCli : public testing::Test, protected testing_cli::Runner {
 protected:
    static std::string file_with(const std::string& text) {
        const std::string file = testing::TempDir() + "auspex-calibrate-cases.json";
        std::ofstream(file) << text;
        return file;
    }
    /// Llama 3 8B with `layers` layers on one node of 8 H100, of source `source`.
    static std::string case_of(const std::string& id, const std::string& source, int layers, double step_s) {
        return R"({"id": ")" + id + R"(", "source": "made up", "source_key": ")" + source +
               R"(", "hardware": {"gpu": "H100-SXM-80GB", "gpus_per_node": 8}, "gpus": 8, "precision": "bf16",
                  "framework": "Megatron-Core", "model": {"layers": )" +
               std::to_string(layers) + R"(, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336,
                  "vocab": 128256, "activation": "swiglu", "seq": 4096},
                  "plan": {"tp": 2, "micro_batch": 1, "global_batch": 16, "seq_parallel": true, "zero": "1",
                  "recompute": "full"}, "measured": {"step_time_s": )" +
               std::to_string(step_s) + "}}";
    }
    static std::string four_cases(const std::vector<double>& steps) {
        std::string text = "[";
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const int layers = 8 + 8 * static_cast<int>(i);
            text += (i > 0 ? "," : "") + case_of("run" + std::to_string(i), i < 2 ? "A" : "B", layers, steps[i]);
        }
        return text + "]";
    }
};

constexpr const char* kFit = " --stack megatron-core --fit stack.kernels.gemm_efficiency";

/// Steps as predicted with gemm_efficiency 0.9: from 1 the fit goes to 0.9, by the first and the third; the others
/// judge it.
TEST_F(CalibrateCasesCli, a_constant_comes_back_from_runs_that_were_made_with_it) {
    const Outcome made = run("validate --cases " + file_with(four_cases({1, 1, 1, 1})) +
                             " --set stack.kernels.gemm_efficiency=0.9 --json");
    ASSERT_EQ(made.exit_code, 0) << made.error;
    const JsonDocument predicted = JsonDocument::parse(made.out, "validate");
    std::vector<double> steps;
    for (const JsonValue& one : predicted.root().at("cases").elements()) {
        steps.push_back(one.at("predicted_step_s").as_number(0, 1e9));
    }
    const std::string out = testing::TempDir() + "auspex-calibrated-stack.json";
    const Outcome found = run("calibrate --cases " + file_with(four_cases(steps)) + kFit + " --json --out " + out);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument fitted = JsonDocument::parse(found.out, "calibrate");
    const JsonValue root = fitted.root();
    const JsonValue constant = root.at("constants").elements().at(0);
    EXPECT_NEAR(constant.at("value").as_number(0, 1), 0.9, 0.005);
    EXPECT_GT(constant.at("told").as_number(0, 1), 0.5);
    for (const char* const part : {"fitted", "held_back"}) {
        EXPECT_EQ(root.at(part).at("n").as_integer(0, 9), 2) << part;
        EXPECT_GT(root.at(part).at("mape_before").as_number(0, 1), 0.03) << part;
        EXPECT_LT(root.at(part).at("mape").as_number(0, 1), 0.005) << part;
    }
    for (const JsonValue& one : root.at("cases").elements()) {
        const std::string id = one.at("id").as_string();
        EXPECT_EQ(one.at("held_back").as_bool(), id == "run1" || id == "run3") << id;
    }
    const JsonDocument file = JsonDocument::load(out);
    const JsonValue written = file.root().at("kernels").at("gemm_efficiency");
    EXPECT_NEAR(written.at("value").as_number(0, 1), constant.at("value").as_number(0, 1), 1e-6);
    EXPECT_EQ(written.at("kind").as_string(), "fitted");
    EXPECT_NE(written.at("source").as_string().find("A (run0); B (run2)"), std::string::npos);
    const Outcome all = run("calibrate --cases " + file_with(four_cases(steps)) + kFit + " --hold-back none --json");
    const JsonDocument of_all = JsonDocument::parse(all.out, "calibrate");
    EXPECT_EQ(of_all.root().at("fitted").at("n").as_integer(0, 9), 4);
    EXPECT_EQ(of_all.root().at("held_back").at("n").as_integer(0, 9), 0);
}

/// Steps of source A as predicted with 0.9, of B with 0.8: without A the fit goes to 0.8 and misses A, without B the
/// other way round; each half has one run of both, so that what it tells is nearer to the other half.
TEST_F(CalibrateCasesCli, in_turn_each_case_is_predicted_by_a_fit_that_had_no_part_of_it) {
    std::vector<double> steps;
    for (const char* const efficiency : {"0.9", "0.8"}) {
        const Outcome made = run("validate --cases " + file_with(four_cases({1, 1, 1, 1})) +
                                 " --set stack.kernels.gemm_efficiency=" + efficiency + " --json");
        ASSERT_EQ(made.exit_code, 0) << made.error;
        const JsonDocument predicted = JsonDocument::parse(made.out, "validate");
        const std::size_t first = steps.size();
        for (std::size_t i = first; i < first + 2; ++i) {
            steps.push_back(predicted.root().at("cases").elements().at(i).at("predicted_step_s").as_number(0, 1e9));
        }
    }
    const std::string cases = "calibrate --cases " + file_with(four_cases(steps)) + kFit + " --json --hold-back ";
    const auto found = [&](const std::string& word) {
        const Outcome outcome = run(cases + word);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.out, "calibrate");
    };
    const JsonDocument sources = found("sources"), halves = found("halves"), half = found("half");
    const std::vector<JsonValue> fits = sources.root().at("in_turn").elements();
    ASSERT_EQ(fits.size(), 2U);
    EXPECT_EQ(fits[0].at("without").as_string(), "source A");
    EXPECT_NEAR(fits[0].at("values").elements().at(0).as_number(0, 1), 0.8, 0.01);
    EXPECT_NEAR(fits[1].at("values").elements().at(0).as_number(0, 1), 0.9, 0.01);
    const auto errors = [](const JsonDocument& of) { return of.root().at("errors_in_turn").elements().at(0); };
    EXPECT_GT(errors(sources).at("mape_in_turn").as_number(0, 1), 1.5 * errors(sources).at("mape").as_number(0, 1));
    EXPECT_LT(errors(halves).at("mape_in_turn").as_number(0, 1), errors(sources).at("mape_in_turn").as_number(0, 1));
    EXPECT_EQ(halves.root().at("in_turn").elements().at(1).at("without").as_string(), "the second half");
    EXPECT_EQ(sources.root().at("fitted").at("n").as_integer(0, 9), 4);
    for (const JsonValue& one : sources.root().at("cases").elements()) {
        const double step_s = one.at("measured_step_s").as_number(0, 1e9);
        EXPECT_NEAR(one.at("error_in_turn").as_number(-1, 1),
                    one.at("predicted_step_s_in_turn").as_number(0, 1e9) / step_s - 1, 1e-9);
    }
    EXPECT_TRUE(half.root().at("in_turn").elements().empty() &&
                !half.root().at("cases").elements()[0].find("error_in_turn"));
}

/// A stack whose library depends on the machine is written so.
TEST_F(CalibrateCasesCli, a_fitted_stack_keeps_its_libraries_by_machine) {
    const std::string out = testing::TempDir() + "auspex-fitted-stack.json";
    const Outcome found = run("calibrate --cases " + file_with(four_cases({1, 1, 1, 1})) + kFit + " --out " + out);
    ASSERT_EQ(found.exit_code, 0) << found.error;
    EXPECT_EQ(JsonDocument::load(out).root().at("communication").dump(),
              JsonDocument::load("stacks/megatron-core.json").root().at("communication").dump());
}

TEST_F(CalibrateCasesCli, fits_in_turn_need_two_cases_beside_what_they_leave_out) {
    const std::string three =
        "[" + case_of("a", "A", 8, 1) + "," + case_of("b", "A", 16, 1) + "," + case_of("c", "B", 24, 1) + "]";
    const Outcome found = run("calibrate --cases " + file_with(three) + kFit + " --hold-back sources");
    EXPECT_EQ(found.exit_code, 2);
    EXPECT_NE(found.error.find("found 1 case to fit constants to without source A"), std::string::npos) << found.error;
}

/// Shipped constants are where the fit leaves them, to half its uncertainty, by the cases that
/// machines/published/runs.json says gave them.
TEST_F(CalibrateCasesCli, shipped_constants_are_those_of_the_fit) {
    const JsonDocument names = JsonDocument::load("machines/published/runs.json");
    const std::string name = "megatron-deepspeed";
    const Outcome found = run("calibrate --cases tests/published/runs/aurora.json --stack " + name +
                              " --fit stack.kernels.gemm_efficiency --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument fitted = JsonDocument::parse(found.out, "calibrate");
    for (const JsonValue& constant : fitted.root().at("constants").elements()) {
        const double moved = constant.at("value").as_number(0, 1) / constant.at("before").as_number(0, 1);
        EXPECT_LT(std::abs(std::log(moved)), constant.at("uncertainty").as_number(0, 1) / 2);
    }
    std::set<std::string> gave, told;
    for (const JsonValue& one : fitted.root().at("cases").elements()) {
        if (!one.at("held_back").as_bool()) {
            gave.insert(one.at("id").as_string());
        }
    }
    for (const JsonValue& entry : names.root().at("fitted").elements()) {
        const auto stack = entry.find("stack"), ids = entry.find("id");
        if (stack && ids && stack->as_string() == name) {
            for (const JsonValue& id : ids->elements()) {
                told.insert(id.as_string());
            }
        }
    }
    EXPECT_EQ(gave, told);
}

/// An H20 is an H100 whose products the table of names gives a ceiling of its own: it tells nothing of the machine's,
/// and the fit leaves it as it is.
TEST_F(CalibrateCasesCli, constants_that_a_case_has_of_its_own_are_not_fitted_to_it) {
    std::string cases = "[";
    for (int i = 0; i < 4; ++i) {
        std::string one = case_of("run" + std::to_string(i), "A", 16, 9);
        if (i > 1) {
            one.replace(one.find("H100-SXM-80GB"), 13, "H20 96GB");
        }
        cases += (i > 0 ? "," : "") + one;
    }
    const Outcome found = run("calibrate --cases " + file_with(cases + "]") +
                              " --machine dgx-h100 --fit machine.tile.gemm_ceiling --hold-back none --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const JsonDocument fitted = JsonDocument::parse(found.out, "calibrate");
    EXPECT_EQ(fitted.root().at("fitted").at("n").as_integer(0, 9), 2);
    EXPECT_EQ(fitted.root().at("others").as_integer(0, 9), 2);
}

TEST_F(CalibrateCasesCli, what_is_asked_wrongly_is_said_by_flag) {
    const std::string cases = " --cases " + file_with(four_cases({1, 1, 1, 1}));
    for (const auto& [flags, fault] : std::vector<std::pair<std::string, std::string>>{
             {cases, "--fit"},
             {cases + " --fit stack.kernels.issue", "--machine and --stack"},
             {cases + " --fit machine.tile.gemm_ceiling --stack megatron-core", "constants of the stack"},
             {cases + " --fit kernels.issue --stack megatron-core", "kernels.issue"},
             {cases + " --fit stack.kernels.issue,stack.kernels.issue --stack megatron-core", "twice"},
             {cases + " --fit stack.kernels.gemm_eficiency --stack megatron-core",
              "did you mean stack.kernels.gemm_efficiency"},
             {cases + kFit + " --out .", "found a folder"},
             {cases + kFit + " --out stacks/megatron-core.json", "found the file that is read"},
             {cases + " --fit stack.kernels.launch --stack megatron-core", "above 0"},
             {cases + " --fit stack.kernels.gemm_efficiency --stack torchtitan", "no case of stack torchtitan"},
             {cases + " --fit stack.kernels.issue --stack stacks/megatron-core.json", "--stacks DIR"},
             {cases + kFit + " --hold-back most", "half, halves, sources or none"},
             {cases + kFit + " --from aurora", "--from"},
             {cases + kFit + " --budget-s 60", "--budget-s"},
             {cases + kFit + " --out /nosuch/folder/out.json", "/nosuch"},
             {" --fit stack.kernels.issue", "--cases"},
             {" --hold-back none", "--cases"}}) {
        const Outcome found = run("calibrate" + flags);
        EXPECT_EQ(found.exit_code, 2) << flags;
        EXPECT_NE(found.error.find(fault), std::string::npos) << flags << "\n" << found.error;
    }
}

}  // namespace
}  // namespace auspex::cli
