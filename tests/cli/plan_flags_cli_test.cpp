/// @file Flags of auspex plan: what they are called in errors, and which plans they leave.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/json.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;

class PlanFlagsCli : public testing::Test, protected testing_cli::Runner {};

const std::string kMini = "plan --machine aurora --stack optimus --workload mini-moe --global-batch 12 ";

TEST_F(PlanFlagsCli, errors_name_the_flag_for_the_tiles_that_was_written) {
    for (const std::string flag : {"--tiles", "--ranks", "-n"}) {
        const auto fault = [&](const std::string& given, const std::string& words) {
            return fault_of_refusal(kMini + flag + " " + given, {(flag + words).c_str()});
        };
        EXPECT_EQ(fault("abc", ": found \"abc\"; expected a whole number"), "");
        EXPECT_EQ(fault("8,4", ": found 4 after 8"), "");
        EXPECT_EQ(fault("8..4", ": found \"8..4\""), "");
        EXPECT_EQ(fault("''", ": found an empty value"), "");
        EXPECT_EQ(fault("7 --where pp=5", " 7 with --global-batch 12: "), "");
    }
    EXPECT_EQ(fault_of_refusal(kMini + "--ranks=abc", {"--ranks: found \"abc\""}), "");
    EXPECT_EQ(fault_of_refusal(kMini + "--ranks 12 --tiles 12", {"--tiles: found beside --ranks"}), "");
}

}  // namespace
}  // namespace auspex::cli
