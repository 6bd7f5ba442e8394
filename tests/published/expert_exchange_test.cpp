/// @file Exchanges of tokens by way of nodes, and beside the other pass, against what others have measured.
#include <gtest/gtest.h>

#include "published_cases.hpp"
#include "sim/network/collective/network.hpp"

namespace auspex {
namespace {

using namespace testing_steps;
using namespace testing_published;

// bytes / time over the rows that a token has on all nodes.
TEST(Published, rows_by_node_on_h100_take_as_long_as_the_kernels_of_hybrid_ep) {
    const JsonDocument document = cases("row-exchange");
    const JsonValue root = document.root();
    const models::Inputs inputs = inputs_of(root, "mini-moe", "mini-moe");
    const double token_bytes = 2 * number(root, "hidden_size"), tokens = number(root, "tokens");
    for (const JsonValue& row : root.at("rows").elements()) {
        const int ranks = integer(row, "ranks");
        models::Plan plan;
        plan.ep = ranks, plan.dp = 1;
        models::RoutingLoad load;
        load.spread = {ranks * integer(root, "experts_a_rank"), integer(root, "top_k"), 1, 1};
        const int nodes = ranks / integer(root, "ranks_a_node");
        network::Network network(inputs.machine, inputs.stack, models::make_layout(plan, inputs.machine, ranks));
        network.set_routing(load);
        const double to_nodes = mean_parts_reached(load.spread, nodes) * tokens * token_bytes;
        const auto bandwidth = [&](schedule::CommKind comm) {
            const double bytes = mean_parts_reached(load.spread, ranks) * tokens * token_bytes;
            return to_nodes / network.solo_time_s(network.unroll(comm, models::GroupKind::kEp, 0, bytes)) / 1e9;
        };
        const double out = bandwidth(schedule::CommKind::kRowsToNodes),
                     back = bandwidth(schedule::CommKind::kRowsFromNodes);
        EXPECT_NEAR(out / number(row, "dispatch_gb_per_s"), 1, number(root, "within")) << ranks;
        EXPECT_NEAR(back / number(row, "combine_gb_per_s"), 1, number(root, "within")) << ranks;
    }
}

// What hiding one pass's exchange of tokens behind the other gains on 16 H100, with rows that go once to each node.
TEST(Published, expert_communication_beside_the_other_pass_gains_what_it_does_on_16_h100) {
    const JsonDocument document = cases("expert-overlap");
    const JsonValue root = document.root();
    models::Inputs inputs = inputs_of(root, root.at("workload").as_string(), root.at("plan").as_string());
    inputs.stack.can_overlap_ep = true;
    const double alone_s = step_s(inputs, integer(root, "tiles"));
    inputs.plan.overlap_ep = true;
    const double beside_s = step_s(inputs, integer(root, "tiles"));
    const double measured_s = number(root, "measured_s"), overlapped_s = number(root, "measured_overlapped_s");
    EXPECT_NEAR(100 * (1 - beside_s / alone_s), 100 * (1 - overlapped_s / measured_s),
                number(root, "gain_within_points"));
    EXPECT_NEAR(alone_s / measured_s, 1, number(root, "step_within"));
    EXPECT_NEAR(beside_s / overlapped_s, 1, number(root, "step_within"));
}

}  // namespace
}  // namespace auspex
