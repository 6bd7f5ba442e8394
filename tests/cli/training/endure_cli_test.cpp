/// @file auspex endure as people call it. Times are never judged here.
#include <gtest/gtest.h>

#include <filesystem>

#include "../cli_fixture.hpp"
#include "base/json.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class EndureCli : public testing::Test, protected testing_cli::Runner {
 protected:
    [[nodiscard]] static bool has_mpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }
};

TEST_F(EndureCli, wrong_numbers_are_refused) {
    EXPECT_EQ(fault_of_refusal("endure --kills 0", {"--kills", "found 0"}), "");
    EXPECT_EQ(fault_of_refusal("endure --intervals 8,4", {"--intervals", "found 4 after 8"}), "");
    EXPECT_EQ(fault_of_refusal("endure --intervals 0", {"--intervals", "\"0\""}), "");
    EXPECT_EQ(fault_of_refusal("endure --mtbf 4s,2s", {"--mtbf", "\"2s\"", "longer than the one before"}), "");
    EXPECT_EQ(fault_of_refusal("endure --mtbf 1ms", {"--mtbf", "\"1ms\"", "0.1 s"}), "");
    EXPECT_EQ(fault_of_refusal("endure --ranks 3", {"--ranks", "found 3", "divisor"}), "");
    EXPECT_EQ(fault_of_refusal("endure --workload nothing", {"nothing"}), "");
    EXPECT_EQ(fault_of_refusal("endure --data " + folder_ + "nothing", {"nothing"}), "");
}

TEST_F(EndureCli, killed_runs_end_with_the_losses_of_one_left_alone) {
    if (!has_mpirun()) {
        GTEST_SKIP() << "no mpirun";
    }
    const Outcome outcome = run("endure --intervals 8 --mtbf 1500ms --kills 2 --json --out " + folder_ +
                                "report --mpirun=\"--mca odls_base_sigkill_timeout 0\"");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
    const JsonDocument json = JsonDocument::parse(outcome.out, "out");
    EXPECT_TRUE(json.root().at("passed").as_bool());
    EXPECT_GE(json.root().at("kills").as_integer(0, 1000), 2);
    EXPECT_GE(json.root().at("pieces").at("detection").at("count").as_integer(0, 1000), 2);
    const JsonValue settings = json.root().at("settings");
    ASSERT_EQ(settings.elements().size(), 1U);
    const JsonValue row = settings.elements().front();
    EXPECT_TRUE(row.at("losses_equal").as_bool());
    EXPECT_EQ(row.at("steps").as_integer(0, 1'000'000) % 8, 0);
    for (const char* const prediction : {"measured", "predicted", "replayed"}) {
        EXPECT_GT(row.at(prediction).at("goodput").as_number(0, 10), 0) << prediction;
    }
    for (const char* file : {"index.html", "report.md", "settings.csv", "pieces.csv", "goodput.svg"}) {
        EXPECT_TRUE(std::filesystem::exists(folder_ + "report/" + file)) << file;
    }
}

}  // namespace
}  // namespace auspex::cli
