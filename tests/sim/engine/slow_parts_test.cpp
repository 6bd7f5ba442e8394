/// @file Names of slow parts: what they meet, and what is refused.
#include "sim/engine/slow_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "../step_fixture.hpp"

namespace auspex::engine {
namespace {

using namespace testing_steps;

models::Inputs inputs_of(const std::string& name) {
    models::Inputs inputs = shipped_inputs(name);
    inputs.plan.dp = 0;
    return inputs;
}

predict::SimulatedStep folded(const models::Inputs& inputs, int tiles) {
    return simulate_step(inputs, plain_options(tiles), false);
}

TEST(SlowParts, words_and_their_numbers_stay_together) {
    EXPECT_TRUE(matches_link_name("node 3 NIC 2", "node 3: nic, NIC 2 to wire"));
    EXPECT_TRUE(matches_link_name("group 0 to group 1", "group 0 to group 1, link 1"));
    EXPECT_FALSE(matches_link_name("group 0 to group 1", "group 0 to group 12"));
    EXPECT_FALSE(matches_link_name("node 3 NIC 2", "node 3: nic, NIC 1 to wire 2"));
    EXPECT_FALSE(matches_link_name("node 3 NIC 2", "node 13: nic, NIC 2 to wire"));
    EXPECT_FALSE(matches_link_name("", "node 3: nic, NIC 2 to wire"));
}

/// What refuses the requests; empty if nothing does.
std::string refusal(const std::vector<std::string>& requests) {
    const models::Inputs inputs = inputs_of("mula-1b");
    const predict::SimulatedStep step = folded(inputs, 96);
    const network::Network network(inputs.machine, inputs.stack, step.layout);
    try {
        static_cast<void>(find_slow_parts(requests, network.fabric(), step.layout));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

void expect_refusal(const std::vector<std::string>& requests, const std::string& says) {
    EXPECT_NE(refusal(requests).find(says), std::string::npos) << requests.back() << " -> " << refusal(requests);
}

TEST(SlowParts, broken_requests_are_refused_in_one_line) {
    for (const char* broken : {"tile 17", "tile 17=", "tile 17=nan", "=0.5", "node 3 NIK 2=0.5", "", "="}) {
        EXPECT_NE(refusal({broken}), "") << broken;
        EXPECT_EQ(refusal({broken}).find('\n'), std::string::npos) << broken;
    }
    expect_refusal({"node 3 NIK 2=0.5"}, "\"node 3: ");
}

TEST(SlowParts, factors_go_from_a_thousandth_to_1) {
    for (const char* factor : {"0", "-1", "1.5", "1e-8", "0.000999", "inf"}) {
        expect_refusal({std::string("tile 17=") + factor}, "from 0.001 to 1");
        expect_refusal({std::string("mesh=") + factor}, "from 0.001 to 1");
    }
    for (const char* factor : {"0.001", "1"}) {
        EXPECT_EQ(refusal({std::string("tile 17=") + factor, std::string("mesh=") + factor}), "");
    }
}

TEST(SlowParts, names_that_miss_their_number_or_have_one_that_the_job_lacks_are_refused_with_those_that_there_are) {
    expect_refusal({"tile=0.5"}, "\"tile\" without a number");
    expect_refusal({"node NIC 2=0.5"}, "\"node\" without a number");
    expect_refusal({"tile 96=0.5"}, "0 to 95");
    expect_refusal({"tile 99999999999999999999=0.5"}, "0 to 95");
    expect_refusal({"node 8 NIC 1=0.5"}, "nodes 0 to 7");
    expect_refusal({"group 0 to group 1=0.5"}, "group 0, in which all of it lies");
    expect_refusal({"rank 17=0.5"}, "\"tile 17\"");
}

TEST(SlowParts, a_part_is_slowed_once) {
    expect_refusal({"tile 3=0.5", "Tile 3=0.5"}, "second time");
    expect_refusal({"node 1 NIC 2=0.5", "node 1: NIC 2=0.5"}, "second time");
    expect_refusal({"node 1=0.5", "node 1 NIC 2=0.5"}, "second time");
    EXPECT_EQ(refusal({"tile 3=0.5", "tile 4=0.5", "node 1 NIC 2=0.5", "node 2 NIC 2=0.5"}), "");
}

TEST(SlowParts, notes_and_list_say_what_each_request_has_met) {
    const models::Inputs inputs = inputs_of("mula-220b-a10b");
    const predict::SimulatedStep step = folded(inputs, 192);
    const network::Network network(inputs.machine, inputs.stack, step.layout);
    const SlowParts parts =
        find_slow_parts({"tile 17=0.8", "node 3 NIC 2=0.5", "node 4=0.5"}, network.fabric(), step.layout);
    ASSERT_EQ(parts.notes.size(), 3U);
    EXPECT_EQ(parts.notes[0], "slow by request: tile 17 at 0.8 (stage 1, node 1)");
    EXPECT_EQ(parts.notes[1], "slow by request: node 3: NIC, NIC 2 to wire and 1 more link at 0.5");
    EXPECT_NE(parts.notes[2].find("links only"), std::string::npos);
    ASSERT_EQ(parts.requests.size(), 3U);
    EXPECT_EQ(parts.requests[0].rank, 17);
    EXPECT_EQ(parts.requests[1].rank, -1);
    EXPECT_EQ(parts.requests[1].links, 2U);
    EXPECT_EQ(parts.rank_factors[17], 0.8);
    EXPECT_EQ(std::count(parts.link_factors.begin(), parts.link_factors.end(), 0.5),
              static_cast<std::ptrdiff_t>(parts.requests[1].links + parts.requests[2].links));
}

}  // namespace
}  // namespace auspex::engine
