/// @file auspex plan --against: the published sweep, and what is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class PlanAgainstCli : public testing::Test, protected testing_cli::Runner {};

const std::string kSweep = std::string(AUSPEX_SOURCE_DIR) + "/tests/published/layout-sweep-h100.csv";

TEST_F(PlanAgainstCli, of_981_published_runs_the_choice_the_order_and_what_fits_are_predicted) {
    const Outcome found = run("plan --against " + kSweep + " --json");
    ASSERT_EQ(found.exit_code, 0) << found.error;
    const auto document = JsonDocument::parse(found.out, "plan");
    const JsonValue root = document.root();
    EXPECT_EQ(root.at("cells").elements().size(), 8U);
    EXPECT_EQ(root.at("rows").elements().size(), 981U);
    // Measured tokens/s lost by choosing as predicted; the order of all speeds; verdicts on memory.
    EXPECT_LE(root.at("median_regret").as_number(0, 100), 0.03);
    EXPECT_LE(root.at("worst_regret").as_number(0, 100), 0.10);
    EXPECT_GE(root.at("median_kendall_tau").as_number(-1, 1), 0.75);
    EXPECT_GE(root.at("oom_accuracy").as_number(0, 1), 0.95);
    for (const JsonValue& cell : root.at("cells").elements()) {
        EXPECT_NEAR(cell.at("median_speed_ratio").as_number(0, 100), 1, 0.15);
        EXPECT_GE(cell.at("kendall_tau").as_number(-1, 1), 0.35);
        EXPECT_GE(cell.at("oom_accuracy").as_number(0, 1), 0.90);
    }
}

TEST_F(PlanAgainstCli, what_it_cannot_read_or_take_is_refused_in_one_line) {
    const std::string file = folder_ + "sweep.csv";
    std::ofstream(file) << "tp,pp\n1,1\n";
    const std::pair<std::string, std::string> cases[] = {
        {"plan --against " + file, "found a header without params_b"},
        {"plan --against " + folder_ + "none.csv", "none.csv"},
        {"plan --against " + kSweep + " --tiles 8", "--tiles"},
        {"plan --against " + kSweep + " --machine nowhere", "nowhere"}};
    for (const auto& [arguments, expected] : cases) {
        const Outcome refused = run(arguments);
        EXPECT_EQ(refused.exit_code, 2) << arguments;
        EXPECT_NE(refused.error.find(expected), std::string::npos) << refused.error;
        EXPECT_TRUE(refused.out.empty());
    }
}

}  // namespace
}  // namespace auspex::cli
