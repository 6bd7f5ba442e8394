/// @file Auspex to Chakra to Auspex: the step of the folded lens comes back.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "chakra_cases.hpp"
#include "chakra_files.hpp"
#include "workflows/chakra/export_traces.hpp"
#include "workflows/chakra/import_traces.hpp"

namespace auspex::workflows {
namespace {

using testing_chakra::Folder;
using testing_steps::shipped_inputs;

Picoseconds folded_step(const models::Inputs& inputs, int tiles) {
    return predict::simulate_step(inputs, testing_steps::plain_options(tiles), false).step;
}

PlayedTraces played(const models::Inputs& inputs, int tiles, bool by_role = false, bool one_communication = false) {
    const Folder folder("chakra-round-trip");
    static_cast<void>(export_chakra(inputs, {.folder = folder.path(), .tiles = tiles, .by_role = by_role}));
    return play_traces({.folder = folder.path(), .one_communication = one_communication}, inputs.machine, inputs.stack);
}

/// Equal tiles, no noise: what is left are microseconds. On a rank the beginning and the end of each COMP node are less
/// than one early; a chain of waits that goes through several ranks may lose one on each.
constexpr double kMicroseconds_s = 5e-6;

void expect_same_step(const models::Inputs& given, int tiles) {
    models::Inputs inputs = given;
    inputs.plan.dp = tiles > 0 ? 0 : inputs.plan.dp;
    inputs.machine.noise = {};
    inputs.machine.tile.speed_sigma = 0;
    inputs.machine.fabric.background_load = 0;
    const double expected = to_seconds(folded_step(inputs, tiles));
    const double found = to_seconds(played(inputs, tiles).result.step);
    const models::Plan& p = inputs.plan;
    std::string redone;
    for (const auto& [word, part] : models::kRecomputeWords) {
        redone += p.recompute.*part ? " " + std::string(word) : "";
    }
    EXPECT_NEAR(found, expected, kMicroseconds_s)
        << p.name << " of " << inputs.workload.name << ", " << to_string(p.optimizer) << " x " << p.shard_replicas
        << ", " << to_string(p.dispatch) << ", dp " << p.dp << " ep " << p.ep << " etp " << p.etp << " tp " << p.tp
        << " pp " << p.pp << " cp " << p.cp << ", overlap dp " << p.overlap_dp << " ep " << p.overlap_ep << " tp "
        << p.overlap_tp << ", capacity " << inputs.workload.capacity_factor << ", bias " << inputs.workload.router_bias
        << ", modules " << inputs.workload.mtp_layers << ", recompute" << redone << " of " << p.recompute_layers;
}

TEST(ChakraRoundTrip, gives_the_folded_step_of_toys) {
    for (const auto& [plan, workload] : {std::pair("toy-pp2-ep2", "toy-moe"),
                                         {"toy-interleaved", "toy-dense"},
                                         {"toy-dp4", "toy-dense"},
                                         {"toy-tp2-dp2", "toy-dense"}}) {
        expect_same_step(shipped_inputs(plan, workload), 0);
    }
}

TEST(ChakraRoundTrip, gives_the_folded_step_of_models_on_several_nodes) {
    expect_same_step(shipped_inputs("mula-7b-a1b"), 48);
    expect_same_step(shipped_inputs("mula-20b-a2b"), 96);
    models::Inputs sharded = shipped_inputs("mula-7b-a1b");
    sharded.stack.shard_efficiency = 0.25;
    expect_same_step(sharded, 48);
}

TEST(ChakraRoundTrip, gives_the_folded_step_of_random_plans) {
    for (const models::Inputs& inputs : testing_chakra::random_cases(12)) {
        expect_same_step(inputs, 0);
    }
}

/// What links of each kind carry is what the folded lens says; a world operation, which it leaves out, has a few bytes.
/// But for pools: what takes detours is found of all groups of a stage at once there, of each by itself here, as in the
/// unfolded lens.
TEST(ChakraRoundTrip, loads_the_same_links) {
    models::Inputs inputs = shipped_inputs("mula-20b-a2b");
    inputs.plan.dp = 0;
    const predict::SimulatedStep step = predict::simulate_step(inputs, testing_steps::plain_options(96), true);
    const std::vector<network::LinkUse> found = played(inputs, 96).result.link_use;
    EXPECT_GE(found.size(), step.link_use.size());
    for (const network::LinkUse& expected : step.link_use) {
        if (expected.kind.ends_with("pool")) {
            continue;
        }
        const auto same = std::find_if(found.begin(), found.end(),
                                       [&](const network::LinkUse& use) { return use.kind == expected.kind; });
        ASSERT_NE(same, found.end()) << expected.kind;
        EXPECT_NEAR(same->bytes / expected.bytes, 1, 1e-3) << expected.kind;
        EXPECT_NEAR(same->busiest_share / expected.busiest_share, 1, 1e-2) << expected.kind;
    }
}

/// Dependencies that only keep collectives in order are left out: with them the step is longer.
TEST(ChakraRoundTrip, keeps_communication_beside_compute) {
    expect_same_step(testing_chakra::overlapped_inputs(), 0);
    expect_same_step(testing_chakra::summed_inputs(), 0);
}

/// The machine's noise is in both: in the folded lens interruptions count from the last communication of the same pass,
/// here of the same rank, which is a little longer.
TEST(ChakraRoundTrip, meets_the_same_noise) {
    models::Inputs inputs = shipped_inputs("mula-7b-a1b");
    inputs.plan.dp = 0;
    const double expected = to_seconds(folded_step(inputs, 48));
    EXPECT_NEAR(to_seconds(played(inputs, 48).result.step) / expected, 1, 2e-4);
}

/// One file a stage says as much as one a rank.
TEST(ChakraRoundTrip, is_the_same_by_role) {
    for (const auto& [plan, workload] : {std::pair("toy-pp2-ep2", "toy-moe"), {"toy-interleaved", "toy-dense"}}) {
        const models::Inputs inputs = shipped_inputs(plan, workload);
        const PlayedTraces by_rank = played(inputs, 0), by_role = played(inputs, 0, true);
        EXPECT_EQ(by_rank.result.step, by_role.result.step);
        EXPECT_EQ(by_rank.nodes, by_role.nodes);
        EXPECT_EQ(by_rank.result.events, by_role.result.events);
        for (std::size_t rank = 0; rank < by_rank.result.ranks.size(); ++rank) {
            EXPECT_EQ(by_rank.result.ranks[rank].compute, by_role.result.ranks[rank].compute);
            EXPECT_EQ(by_rank.result.ranks[rank].idle, by_role.result.ranks[rank].idle);
        }
    }
}

/// As ASTRA-sim issues nodes all ranks end, and not earlier.
TEST(ChakraRoundTrip, ends_with_one_communication_at_a_time) {
    for (const models::Inputs& inputs : testing_chakra::cases()) {
        const Picoseconds one = played(inputs, 0, false, true).result.step;
        EXPECT_GE(to_seconds(one), to_seconds(played(inputs, 0).result.step) * (1 - 1e-3)) << inputs.plan.name;
    }
}

/// Another machine: half the compute rate takes the COMP nodes' time twice where they are bound by arithmetic.
TEST(ChakraRoundTrip, durations_may_come_from_the_roofline_of_a_machine) {
    models::Inputs inputs = shipped_inputs("mula-7b-a1b");
    inputs.plan.dp = 0;
    const Folder folder("chakra-roofline");
    static_cast<void>(export_chakra(inputs, {.folder = folder.path(), .tiles = 12}));
    const ChakraImport request{.folder = folder.path(), .durations = TraceDurations::kRoofline};
    const PlayedTraces quick = play_traces(request, inputs.machine, inputs.stack);
    inputs.machine.tile.gemm_bf16_flop_per_s /= 2;
    const PlayedTraces slow = play_traces(request, inputs.machine, inputs.stack);
    const double ratio = to_seconds(slow.result.ranks[0].compute) / to_seconds(quick.result.ranks[0].compute);
    EXPECT_GT(ratio, 1.2);
    EXPECT_LT(ratio, 2.0);
}

TEST(ChakraRoundTrip, records_a_timeline) {
    const models::Inputs inputs = shipped_inputs("toy-pp2-ep2", "toy-moe");
    const Folder folder("chakra-recorded");
    static_cast<void>(export_chakra(inputs, {.folder = folder.path()}));
    const PlayedTraces all = play_traces({.folder = folder.path(), .record_all = true}, inputs.machine, inputs.stack);
    Picoseconds compute = 0, last = 0;
    for (const schedule::Span& span : all.result.timeline.spans) {
        const schedule::Track& track = all.result.timeline.tracks[span.track];
        compute += track.role == "rank 0" && track.stream == "compute" ? span.end - span.start : 0;
        last = std::max(last, span.end);
    }
    EXPECT_EQ(compute, all.result.ranks[0].compute);
    EXPECT_EQ(last, all.result.step);
    EXPECT_THROW(
        static_cast<void>(play_traces({.folder = folder.path(), .recorded = {4}}, inputs.machine, inputs.stack)),
        InputError);
}

}  // namespace
}  // namespace auspex::workflows
