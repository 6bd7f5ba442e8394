/// @file Bytes on links over a step: what ranks send, and no link beyond its capacity.
#include "sim/engine/link_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "../step_fixture.hpp"

namespace auspex::engine {
namespace {

using namespace testing_steps;

const LinkUse& use_of(const predict::SimulatedStep& step, network::LinkKind kind) {
    const auto found = std::find_if(step.link_use.begin(), step.link_use.end(),
                                    [&](const LinkUse& use) { return use.kind == to_string(kind); });
    EXPECT_NE(found, step.link_use.end()) << to_string(kind);
    return *found;
}

// Replicas of an expert (2.27 B parameters a tile, bf16) and of the dense part lie on one node each: the rings of their
// reduce-scatter and all-gather send 2 (n - 1) / n of the bytes between nodes, through the sender's transport and the
// receiver's, and as many through NICs. Messages between stages come on top.
TEST(LinkUse, transports_and_nics_carry_what_the_ranks_send) {
    const models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    const predict::SimulatedStep step = simulate_step(inputs, plain_options(3072), true);
    double reduced_bytes = 0;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        const schedule::StageParameters parameters = schedule::stage_parameters(inputs.workload, step.plan, stage);
        reduced_bytes +=
            step.plan.gradient_bytes * step.layout.stage_ranks * (parameters.experts + parameters.dense / step.plan.ep);
    }
    const double rings = 2 * (step.plan.dp - 1.0) / step.plan.dp * reduced_bytes;
    double messages = 0;
    for (int boundary = 0; boundary + 1 < step.plan.pp; ++boundary) {
        messages += 2.0 * step.plan.micro_batches * step.layout.stage_ranks *
                    schedule::message_bytes(inputs.workload, step.plan, inputs.stack, boundary);
    }
    const LinkUse& transport = use_of(step, network::LinkKind::kRankTransport);
    EXPECT_NEAR(transport.bytes, 2 * (rings + messages), 0.002 * transport.bytes);
    EXPECT_NEAR(use_of(step, network::LinkKind::kNic).bytes, transport.bytes, 1e-9 * transport.bytes);
}

// 96 rings (12 tiles x 8 stages) of reduce-scatter and all-gather cross from group 0 to group 1 of a contiguous job,
// each with 2 (n - 1) / n of its bytes; two links of 25 GB/s less the background could carry 40 GB/s x the step
// directly.
TEST(LinkUse, a_pair_of_groups_is_measured_against_its_direct_links) {
    const models::Inputs inputs = shipped_inputs("mula-220b-a10b");
    const predict::SimulatedStep step = simulate_step(inputs, plain_options(3072), true);
    const models::FabricRecipe& fabric = inputs.machine.fabric;
    double crossing_bytes = 0;
    for (int stage = 0; stage < step.plan.pp; ++stage) {
        const schedule::StageParameters parameters = schedule::stage_parameters(inputs.workload, step.plan, stage);
        crossing_bytes += 2 * (step.plan.dp - 1.0) / step.plan.dp * step.plan.gradient_bytes * 12 *
                          (parameters.experts + parameters.dense / step.plan.ep);
    }
    const double direct = fabric.link_bytes_per_s * fabric.global_links * (1 - fabric.background_load);
    EXPECT_NEAR(use_of(step, network::LinkKind::kGlobal).busiest_share,
                crossing_bytes / (direct * to_seconds(step.step)),
                0.01 * crossing_bytes / (direct * to_seconds(step.step)));
}

TEST(LinkUse, no_link_carries_more_than_its_capacity_over_the_step) {
    for (const char* placement : {"contiguous", "random"}) {
        models::Inputs inputs = shipped_inputs("mula-220b-a10b");
        inputs.plan.placement =
            std::string(placement) == "random" ? models::PlacementKind::kRandom : models::PlacementKind::kContiguous;
        const predict::SimulatedStep step = simulate_step(inputs, plain_options(3072), true);
        ASSERT_GT(step.link_use.size(), 6U);
        for (const LinkUse& use : step.link_use) {
            EXPECT_GT(use.bytes, 0) << use.kind;
            // A pair of n groups or switches has its direct links and n - 2 detours.
            const models::FabricRecipe& fabric = inputs.machine.fabric;
            const int ways = use.kind == to_string(network::LinkKind::kGlobal)  ? fabric.groups - 1
                             : use.kind == to_string(network::LinkKind::kLocal) ? fabric.switches_per_group - 1
                                                                                : 1;
            EXPECT_LE(use.busiest_share, ways) << use.kind;
            EXPECT_LE(use.mean_share, use.busiest_share * (1 + 1e-12)) << use.kind;
        }
        EXPECT_TRUE(std::is_sorted(step.link_use.begin(), step.link_use.end(), [](const LinkUse& a, const LinkUse& b) {
            return a.busiest_share > b.busiest_share;
        }));
    }
}

}  // namespace
}  // namespace auspex::engine
