/// @file auspex verify and auspex program --check-executor as people call them.
#include <gtest/gtest.h>

#include <filesystem>

#include "../cli_fixture.hpp"
#include "base/json.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

class VerifyCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] static bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }
};

const std::string kCheck = "program --check-executor --machine aurora --stack auspex --workload toy-moe ";

TEST_F(VerifyCli, a_toy_program_is_bound) {
    const Outcome outcome = run(kCheck + "--plan toy-pp2-ep2");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, "every operation of this program is bound: the trainer has a kernel or a call for it\n");
    const JsonDocument json = JsonDocument::parse(run(kCheck + "--plan toy-pp2-ep2 --json").out, "out");
    EXPECT_TRUE(json.root().at("bound").as_bool());
    EXPECT_TRUE(json.root().at("unbound").elements().empty());
}

TEST_F(VerifyCli, what_is_not_bound_is_named) {
    const std::string split = kCheck +
                              "--plan toy-tp2-dp2 --set plan.cp=2 --set plan.dp=1 --set plan.etp=4 "
                              "--set workload.expert_groups=4 --set workload.top_k_groups=2 ";
    const Outcome outcome = run(split);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.out.find("operation router_top_k: a limit on the groups of experts that a token goes to"),
              std::string::npos)
        << outcome.out << outcome.error;
    const JsonDocument json = JsonDocument::parse(run(split + "--json").out, "out");
    EXPECT_FALSE(json.root().at("bound").as_bool());
    EXPECT_GE(json.root().at("unbound").elements().size(), 2U);
}

TEST_F(VerifyCli, a_prediction_says_whether_the_trainer_runs_its_program) {
    const auto proven = [this](const std::string& plan) {
        const Outcome outcome =
            run("predict --json --machine aurora --stack auspex --workload toy-moe --plan toy-tp2-dp2 " + plan);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
        return JsonDocument::parse(outcome.out, "out").root().at("executor_proven").as_bool();
    };
    EXPECT_TRUE(proven(""));
    EXPECT_FALSE(proven("--set plan.cp=2 --set plan.dp=1 --set plan.etp=4"));
}

TEST_F(VerifyCli, wrong_numbers_are_refused) {
    EXPECT_EQ(fault_of_refusal("verify --kills -1", {"--kills", "\"-1\"", "0 to"}), "");
    EXPECT_EQ(fault_of_refusal("verify --steps 0", {"--steps", "found 0"}), "");
    EXPECT_EQ(fault_of_refusal("verify --layouts 0", {"--layouts", "\"0\""}), "");
    EXPECT_EQ(fault_of_refusal("verify --max-ranks 1", {"--max-ranks", "found 1", "at least 2"}), "");
    EXPECT_EQ(fault_of_refusal("verify --workload toy-dense", {"--workload toy-dense", "without experts"}), "");
    EXPECT_EQ(fault_of_refusal("verify --steps 1 --data " + folder_ + "nothing", {"nothing"}), "");
}

TEST_F(VerifyCli, layouts_and_a_kill_pass_here) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome =
        run("verify --steps 3 --layouts 3 --max-ranks 4 --kills 1 --json --out " + folder_ + "report");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
    const JsonDocument json = JsonDocument::parse(outcome.out, "out");
    EXPECT_TRUE(json.root().at("passed").as_bool());
    EXPECT_EQ(json.root().at("layouts").elements().size(), 3U);
    for (const JsonValue& layout : json.root().at("layouts").elements()) {
        EXPECT_LE(layout.at("norm").as_number(0, 1), 1e-5);
    }
    EXPECT_EQ(json.root().at("recoveries").elements().size(), 4U);
    EXPECT_EQ(json.root().at("optimizers").elements().size(), 2U);
    for (const char* file : {"index.html", "report.md", "layouts.csv", "recovery.csv", "loss.svg"}) {
        EXPECT_TRUE(std::filesystem::exists(folder_ + "report/" + file)) << file;
    }
    EXPECT_EQ(text_of(folder_ + "report/report.md").find("differs"), std::string::npos);
}

}  // namespace
}  // namespace auspex::cli
