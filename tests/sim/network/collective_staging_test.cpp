/// @file Collectives staged through host memory: copies, and levels that meet there.
#include <gtest/gtest.h>

#include <array>

#include "collective_closed_form.hpp"
#include "sim/network/collective/collective_phases.hpp"

namespace auspex::network {
namespace {

using namespace testing_collectives;

constexpr HostUse kStaged{.staging = true};

TEST(Collective, steps_say_what_they_are_for) {
    const CollectivePhases phases =
        phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 3}, {24, 6, 4, 2, 3}, kBytes, kStaged);
    std::vector<std::string> what;
    for (const CollectiveStep& step : phases.steps) {
        what.emplace_back(step.what);
    }
    EXPECT_EQ(what, (std::vector<std::string>{
                        "copy to the host", "reduce-scatter in host memory", "reduce-scatter in a group of nodes",
                        "reduce-scatter between groups of nodes", "all-gather between groups of nodes",
                        "all-gather in a group of nodes", "copy from the host"}));
}

// Copies hold what a rank sends, before, and what it receives, after; only where the node is left.
TEST(Collective, staging_copies_what_is_sent_and_what_is_received) {
    const GroupForm form{8, 4, 2, 1, 4};
    const auto copies = [&](schedule::CommKind comm, Algorithm algorithm) {
        const std::vector<CollectiveStep> steps = phases_of(comm, {algorithm, 1}, form, kBytes, kStaged).steps;
        EXPECT_EQ(steps.front().shape, StepShape::kToHost);
        EXPECT_EQ(steps.back().shape, StepShape::kFromHost);
        return std::array{steps.front().bytes / kBytes, steps.back().bytes / kBytes};
    };
    using Shares = std::array<double, 2>;
    EXPECT_EQ(copies(schedule::CommKind::kAllReduce, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kBroadcast, Algorithm::kRing), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kSend, Algorithm::kDirect), (Shares{1, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kReduceScatter, Algorithm::kRing), (Shares{1, 1.0 / 8}));
    EXPECT_EQ(copies(schedule::CommKind::kAllGather, Algorithm::kRing), (Shares{1.0 / 8, 1}));
    EXPECT_EQ(copies(schedule::CommKind::kAllToAll, Algorithm::kPairwise), (Shares{7.0 / 8, 7.0 / 8}));
    EXPECT_EQ(
        phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}, {8, 1, 8, 1, 1}, kBytes, kStaged).steps.size(),
        2U);
    const GroupForm node{8, 1, 8, 1, 1};
    const auto by_host = [&](HostUse host) {
        return phases_of(schedule::CommKind::kAllReduce, {Algorithm::kRing, 2}, node, kBytes, host).steps;
    };
    EXPECT_EQ(by_host({.staging = true, .messages = true}).size(), 4U);  // copies about a reduce-scatter and a gather
    for (const CollectiveStep& step : by_host({.messages = true})) {
        EXPECT_EQ(step.level, Level::kByHost);
    }
    EXPECT_EQ(phases_of(schedule::CommKind::kBarrier, {Algorithm::kDirect, 1}, flat_form(8), 0, kStaged).steps.size(),
              1U);
}

// k = 4 ranks of a node share host memory. Reduce-scatter: the k pieces of B/k read, one written, B + B/k; all-to-all:
// B read, B written; nothing for what would be gathered or scattered. Nothing goes from tile to tile.
TEST(Collective, staged_levels_meet_in_host_memory_in_the_node) {
    const GroupForm form{24, 6, 4, 2, 3};
    const auto shares = [&](schedule::CommKind comm, AlgorithmChoice choice) {
        std::vector<double> found;
        for (const CollectiveStep& step : phases_of(comm, choice, form, kBytes, kStaged).steps) {
            EXPECT_TRUE(step.level != Level::kIntraNode || step.shape == StepShape::kInHost) << step.what;
            if (step.shape == StepShape::kInHost) {
                EXPECT_EQ(step.rounds, 1);
                EXPECT_EQ(step.summing_bytes, 0) << "the device adds nothing up";
                found.push_back(step.bytes / kBytes);
            }
        }
        return found;
    };
    using Shares = std::vector<double>;
    for (const int levels : {2, 3}) {
        EXPECT_EQ(shares(schedule::CommKind::kAllReduce, {Algorithm::kRing, levels}), Shares{1.25});
        EXPECT_EQ(shares(schedule::CommKind::kReduceScatter, {Algorithm::kRing, levels}), Shares{1.25});
        EXPECT_EQ(shares(schedule::CommKind::kAllToAll, {Algorithm::kPairwise, levels}), Shares{2});
        EXPECT_EQ(shares(schedule::CommKind::kAllGather, {Algorithm::kRing, levels}), Shares{});
        EXPECT_EQ(shares(schedule::CommKind::kBroadcast, {Algorithm::kDirect, levels}), Shares{});
    }
    EXPECT_EQ(shares(schedule::CommKind::kAllReduce, {Algorithm::kRing, 1}), Shares{});
    // A barrier moves nothing and is dissemination in the node as ever.
    for (const CollectiveStep& step :
         phases_of(schedule::CommKind::kBarrier, {Algorithm::kDirect, 1}, form, 0, kStaged).steps) {
        EXPECT_EQ(step.shape, StepShape::kShift);
    }
}

}  // namespace
}  // namespace auspex::network
