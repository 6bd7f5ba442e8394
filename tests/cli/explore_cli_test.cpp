/// @file auspex explore as people call it: what it says, how it ends, what it refuses.
#include <gtest/gtest.h>

#include "cli_fixture.hpp"

namespace auspex::testing_cli {
namespace {

class ExploreCli : public ::testing::Test, public Runner {};

TEST_F(ExploreCli, says_its_address_and_ends_well_when_it_is_asked_to) {
    const std::string served = folder_ + "served.json";
    Background server("sh -c 'exec \"" AUSPEX_BINARY "\" explore --tiles 384 --json >" + served + "'",
                      folder_ + "said.txt");
    ASSERT_EQ(server.fault_of_wait_for("grep -q token '" + served + "'"), "");
    EXPECT_EQ(text_of(served).find("{\"address\": \"http://127.0.0.1:"), 0U) << text_of(served);
    EXPECT_EQ(server.end(SIGTERM), 0) << server.said();
}

TEST_F(ExploreCli, refuses_what_a_page_could_not_begin_with) {
    EXPECT_EQ(fault_of_refusal("explore --machine nowhere", {"--machine nowhere", "aurora"}), "");
    EXPECT_EQ(fault_of_refusal("explore --set machine.tile.gemm_ceiling=7", {"found 7", "from 0.01 to 1"}), "");
    EXPECT_EQ(fault_of_refusal("explore --tokens many", {"--tokens", "many", "100B"}), "");
    EXPECT_EQ(fault_of_refusal("explore --port 65536", {"--port", "from 0 to 65535"}), "");
}

}  // namespace
}  // namespace auspex::testing_cli
