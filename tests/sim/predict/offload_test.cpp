/// @file Steps whose activations wait in host memory.
#include <gtest/gtest.h>

#include "schedule/program/block_builder.hpp"
#include "sim/predict/memory_report.hpp"
#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;

constexpr double kUnlimited = 1e30;

/// Llama 3 70B with all but the last layer of a stage of so many offloaded, on DGX H100: tp 8, nothing recomputed.
models::Inputs llama(int stages = 1) {
    using testing_plans::document;
    models::Inputs inputs = models::load_inputs(document("machines", "dgx-h100"), document("stacks", "bare"),
                                                document("workloads", "llama3-70b"), document("plans", "llama3-70b"));
    make_quiet(inputs);
    inputs.workload.layers = 8 * stages;
    models::Plan plan;
    plan.file = inputs.plan.file;
    plan.tp = plan.etp = 8, plan.etp_given = true, plan.sequence_parallel = true;
    plan.pp = stages, plan.dp = 1, plan.micro_batches = 4;
    plan.offload_layers = 7;
    inputs.plan = plan;
    return inputs;
}

models::Inputs without(models::Inputs inputs) {
    inputs.plan.offload_layers = 0;
    return inputs;
}

void set_host_links(models::Inputs& inputs, double bytes_per_s, double both = 0) {
    models::Node& node = inputs.machine.node;
    node.pcie_bytes_per_s = bytes_per_s, node.pcie_both_bytes_per_s = both;
    node.socket_out_bytes_per_s = node.socket_in_bytes_per_s = kUnlimited;
    node.host_copy_latency_s = 0;
}

double copied_bytes(const SimulatedStep& step, int stage, schedule::CommKind direction) {
    double bytes = 0;
    for (const schedule::BlockUse& use : step.program.roles[static_cast<std::size_t>(stage)].order) {
        for (const schedule::Operation& op : step.program.operations_of(step.program.blocks[use.block])) {
            bytes += op.comm == direction ? op.bytes : 0;
        }
    }
    return bytes;
}

double loss_s(const SimulatedStep& step, schedule::Loss loss) {
    return to_seconds(step.losses[static_cast<std::size_t>(loss)]);
}

// links without limit: step = step without copies
TEST(OffloadStep, takes_no_longer_where_copies_take_no_time) {
    for (const int stages : {1, 2, 4}) {
        models::Inputs inputs = llama(stages);
        set_host_links(inputs, kUnlimited);
        const double step = testing_steps::step_s(inputs), kept = testing_steps::step_s(without(inputs));
        EXPECT_NEAR(step, kept, 1e-6 * kept) << stages;
    }
}

// step >= bytes that a tile copies one way / bandwidth; and both ways / what the link carries both ways together
TEST(OffloadStep, is_bound_by_the_link_where_copies_are_slower_than_compute) {
    for (const int stages : {1, 2}) {
        models::Inputs inputs = llama(stages);
        for (const double rate : {1e8, 1e9, 1e10}) {
            set_host_links(inputs, rate);
            const SimulatedStep step = folded(inputs, 0);
            const double bytes = copied_bytes(step, 0, schedule::CommKind::kToHost);
            EXPECT_GE(to_seconds(step.step), bytes / rate) << stages << " " << rate;
            set_host_links(inputs, rate, rate);
            EXPECT_GE(testing_steps::step_s(inputs), 2 * bytes / rate) << stages << " " << rate;
        }
        set_host_links(inputs, 1e8);
        const SimulatedStep slow = folded(inputs, 0);
        EXPECT_GT(loss_s(slow, schedule::Loss::kExposedHost), 0.75 * to_seconds(slow.step)) << stages;
    }
}

// Fast enough links hide all copies but those of the last layer, which is not offloaded.
TEST(OffloadStep, hides_copies_that_are_faster_than_a_layer) {
    models::Inputs inputs = llama();
    set_host_links(inputs, 1e12);
    const double kept = testing_steps::step_s(without(inputs));
    EXPECT_NEAR(testing_steps::step_s(inputs), kept, 1e-3 * kept);
    EXPECT_NEAR(loss_s(folded(inputs, 0), schedule::Loss::kExposedHost), 0, 1e-3 * kept);
    models::Inputs all = llama(2);  // in front of the second stage nothing hides the last layer's
    all.plan.micro_batches = 16;
    set_host_links(all, 1e12);
    const double seven_s = loss_s(folded(all, 0), schedule::Loss::kExposedHost);
    all.plan.offload_layers = 8;
    EXPECT_GT(loss_s(folded(all, 0), schedule::Loss::kExposedHost), seven_s + 1e-3);
}

// Two tiles of a card share its link: half the rate for each.
TEST(OffloadStep, tiles_of_a_card_share_its_link) {
    models::Inputs inputs = llama();
    set_host_links(inputs, 1e9);
    const SimulatedStep alone = folded(inputs, 0);
    inputs.machine.node.tiles_per_card = 2;
    inputs.machine.node.pair_bytes_per_s = kUnlimited;
    const SimulatedStep shared = folded(inputs, 0);
    const double bytes = copied_bytes(shared, 0, schedule::CommKind::kToHost);
    EXPECT_GE(to_seconds(shared.step), 2 * bytes / 1e9);
    EXPECT_GT(to_seconds(shared.step), 1.8 * to_seconds(alone.step));
}

// A kernel beside a copy runs at 1 - share.
TEST(OffloadStep, kernels_are_slower_beside_copies_by_the_machines_share) {
    models::Inputs inputs = llama();
    set_host_links(inputs, 400e9);  // so that kernels, not copies, are what takes time
    const double before = testing_steps::step_s(inputs);
    models::Inputs slower = inputs;
    slower.machine.tile.host_copy_compute_share = 0.2;
    const double after = testing_steps::step_s(slower);
    EXPECT_GT(after, before * 1.001);
    EXPECT_LT(after, before / 0.8);
    EXPECT_EQ(testing_steps::step_s(without(slower)), testing_steps::step_s(without(inputs))) << "no copies, no slower";
}

TEST(OffloadStep, by_rank_is_the_folded_one_to_the_bit) {
    for (const int stages : {1, 2, 4}) {
        for (const double rate : {1e9, 1e11}) {
            models::Inputs inputs = llama(stages);
            inputs.machine.node.pcie_bytes_per_s = rate;
            const SimulatedStep as_folded = folded(inputs, 0);
            const UnfoldedSteps by_rank = play_unfolded(inputs, as_folded, {});
            EXPECT_EQ(by_rank.samples.front().step, as_folded.step) << stages << " " << rate;
            EXPECT_EQ(by_rank.samples.front().losses, as_folded.losses) << stages << " " << rate;
        }
    }
    models::Inputs aurora = quiet_inputs("mula-20b-a2b");
    aurora.plan.offload_layers = 3;
    const SimulatedStep as_folded = folded(aurora, 384);
    EXPECT_EQ(play_unfolded(aurora, as_folded, {}).samples.front().step, as_folded.step);
}

// Any plan in any schedule plays; its losses sum to the step; copies make it no shorter, but for a hair where what
// overlaps is shifted; unmerged operations give the same.
TEST(OffloadStep, random_plans_play_in_every_schedule) {
    int with_copies = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        models::Inputs inputs = testing_steps::random_inputs(seed, true);
        Rng rng(seed * 104729);
        inputs.plan.offload_layers = 1 + static_cast<int>(rng.below(3));
        models::Plan other = inputs.plan;
        other.schedule = models::kScheduleKinds[rng.below(models::kScheduleKinds.size())];
        other.virtual_stages = is_v_shaped(other.schedule) ? 2 : other.virtual_stages;
        try {
            inputs.plan = resolve_plan(other, inputs.workload, 0);
        } catch (const InputError&) {  // the grid has no such schedule
        }
        const SimulatedStep step = folded(inputs, 0);
        const std::string name = "seed " + std::to_string(seed) + " " + to_string(inputs.plan.schedule);
        Picoseconds sum = 0;
        for (const Picoseconds loss : step.losses) {
            sum += loss;
        }
        EXPECT_EQ(sum, step.step) << name;
        const double seconds = to_seconds(step.step);
        EXPECT_GE(seconds, 0.995 * testing_steps::step_s(without(inputs))) << name;
        EXPECT_GE(seconds,
                  copied_bytes(step, 0, schedule::CommKind::kToHost) * 0.999 / inputs.machine.node.pcie_bytes_per_s)
            << name;
        PredictOptions single = plain_options();
        single.play_every_operation = true;
        EXPECT_EQ(simulate_step(inputs, single, false).step, step.step) << name;
        with_copies += copied_bytes(step, 0, schedule::CommKind::kToHost) > 0 ? 1 : 0;
    }
    EXPECT_GT(with_copies, 100);
}

TEST(OffloadStep, says_what_of_the_nodes_host_memory_it_takes) {
    models::Inputs inputs = llama();
    const SimulatedStep step = folded(inputs, 0);
    const MemoryReport report = memory_report(inputs, step),
                       kept = memory_report(without(inputs), folded(without(inputs), 0));
    const double bytes = copied_bytes(step, 0, schedule::CommKind::kToHost) / inputs.plan.micro_batches;
    EXPECT_NEAR(report.host_bytes, bytes, 1);
    EXPECT_NEAR(report.host_bytes_per_node, 8 * bytes, 8);
    EXPECT_LT(report.peak_bytes, kept.peak_bytes);
    EXPECT_NE(report.verdict.find("of a node, which has 2000.0 GB"), std::string::npos) << report.verdict;
    EXPECT_EQ(kept.verdict.find("host memory"), std::string::npos);
    inputs.machine.node.host_memory_bytes = 1e9;
    EXPECT_NE(memory_report(inputs, step).verdict.find("more than the 1.0 GB that it has"), std::string::npos);
}

}  // namespace
}  // namespace auspex::predict
