/// @file Activations that wait in host memory: what is copied, what that frees, what is on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/memory/plan_memory.hpp"
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// The seed's case with some layers offloaded, in any schedule that its grid allows.
Case offloading_case(std::uint64_t seed) {
    Case one = random_case(seed);
    Rng rng(seed * 7919);
    one.plan.offload_layers = 1 + static_cast<int>(rng.below(4));
    one.stack.dispatches_by_masks = seed % 3 == 0;
    one.stack.weights_in_activation = seed % 5 == 0;
    models::Plan other = one.plan;
    other.schedule = models::kScheduleKinds[rng.below(models::kScheduleKinds.size())];
    other.virtual_stages = is_v_shaped(other.schedule) ? 2 : other.virtual_stages;
    try {
        one.plan = resolve_plan(other, one.workload, 0);
    } catch (const InputError&) {  // the grid has no such schedule
    }
    return one;
}

double copied_bytes(const Program& program, const Block& block, CommKind direction) {
    double bytes = 0;
    for (const Operation& op : program.operations_of(block)) {
        bytes += op.comm == direction ? op.bytes : 0;
    }
    return bytes;
}

/// Where rows, or tokens that reach a node, are no whole numbers, the walk rounds them up.
void expect_near(double walked, double counted, const Case& of, const std::string& name) {
    const bool is_rounded = of.workload.capacity_factor > 0 || of.plan.dispatch == models::Dispatch::kHierarchical;
    EXPECT_NEAR(walked, counted, (is_rounded ? 3e-3 : 1e-12) * counted) << name;
}

constexpr std::uint64_t kSeeds = 400;

// copied = sum over offloaded layers of what they save = what the forward pass leaves less on the device
TEST(Offload, what_is_copied_is_what_the_forward_pass_no_longer_leaves) {
    int with_copies = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = offloading_case(seed);
        models::Plan kept = one.plan;
        kept.offload_layers = 0;
        const models::Layout layout = layout_of(one.plan);
        const Program program = build_program(one.workload, one.plan, one.stack, layout),
                      without = build_program(one.workload, kept, one.stack, layout);
        for (int stage = 0; stage < one.plan.pp; ++stage) {
            const Role& role = program.roles[static_cast<std::size_t>(stage)];
            const double copied = copied_bytes(program, program.blocks[role.order.front().block], CommKind::kToHost);
            const std::int64_t left = kept_bytes(one.workload, one.plan, one.stack, program, stage, {}),
                               before = kept_bytes(one.workload, kept, one.stack, without, stage, {});
            expect_near(static_cast<double>(before - left), copied, one,
                        "seed " + std::to_string(seed) + ", stage " + std::to_string(stage));
            with_copies += copied > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(with_copies, static_cast<int>(kSeeds));
}

// on the host = sum over passes under way of what their forward pass copied
TEST(Offload, host_memory_has_what_the_passes_under_way_have_copied) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Case one = offloading_case(seed);
        const models::Layout layout = layout_of(one.plan);
        const Program program = build_program(one.workload, one.plan, one.stack, layout);
        check_program(program);
        for (int stage = 0; stage < one.plan.pp; ++stage) {
            const Role& role = program.roles[static_cast<std::size_t>(stage)];
            double now = 0, most = 0;
            for (const BlockUse& use : role.order) {
                const Block& block = program.blocks[use.block];
                now += copied_bytes(program, block, CommKind::kToHost);
                most = std::max(most, now);
                now -= copied_bytes(program, block, CommKind::kFromHost);
            }
            EXPECT_NEAR(now, 0, 1e-6 * most) << "all comes back, seed " << seed;
            const RankMemory memory =
                rank_memory(one.workload, one.plan, one.stack, layout, program, layout.rank(stage, 0), nullptr);
            expect_near(static_cast<double>(memory.host_bytes), most, one, "seed " + std::to_string(seed));
        }
    }
}

// Of L layers that save A each, all but the last offloaded: at most 2 A and what is not offloaded, A, stay.
TEST(Offload, two_layers_at_a_time_are_on_the_device) {
    Case one = random_case(1);
    one.workload = workload("llama3-70b");
    one.workload.layers = 8;
    one.plan = {};
    one.plan.dp = 1, one.plan.tp = one.plan.etp = 8, one.plan.etp_given = true;
    one.plan = resolve_plan(one.plan, one.workload, 0);
    const auto peak_of = [&](int offloaded) {
        models::Plan plan = one.plan;
        plan.offload_layers = offloaded;
        const models::Layout layout = layout_of(plan);
        const Program program = build_program(one.workload, plan, one.stack, layout);
        const RankMemory memory = rank_memory(one.workload, plan, one.stack, layout, program, 0, nullptr);
        return static_cast<double>(memory.peaks[static_cast<std::size_t>(MemoryLabel::kActivations)]);
    };
    models::Plan plan = one.plan;
    plan.offload_layers = 1;
    const Program program = build_program(one.workload, plan, one.stack, layout_of(plan));
    const double layer = copied_bytes(program, program.blocks.front(), CommKind::kToHost);
    const double all = peak_of(0);
    EXPECT_GT(layer, 0);
    EXPECT_GE(peak_of(7), all - 7 * layer);
    EXPECT_LE(peak_of(7), all - 5 * layer + 1);
    EXPECT_EQ(peak_of(8), peak_of(100)) << "no more than it has";
}

// saved = 2 t h (input, norm of attention) + t (q + k v) + t h (output) + t heads fp32, and 2 t h + 3 t i behind it
TEST(Offload, of_a_dense_layer_saves_what_memory_md_lists) {
    const models::Workload w = workload("llama3-70b");
    models::Plan plan;
    plan.dp = 1;
    plan = resolve_plan(plan, w, 0);
    models::Stack one = stack("optimus");
    one.keeps_rotated = one.keeps_activation = false;
    one.kernels.attention = 1;
    const Shapes shapes = shapes_of(w, plan, one);
    const SavedActivations saved = saved_activations(shapes, {}, false);
    const double t = w.sequence_length, h = w.hidden_size, head = w.head_size;
    EXPECT_DOUBLE_EQ(saved.values,
                     t * (4 * h + (w.heads + 2 * w.kv_heads) * head + w.heads * head + 3.0 * w.intermediate_size));
    EXPECT_DOUBLE_EQ(saved.words, t * w.heads);
    EXPECT_EQ(saved.numbers + saved.routed_values, 0);
    models::Recompute whole{.norm = true, .attention = true, .expert = true, .layer = true};
    EXPECT_DOUBLE_EQ(saved_activations(shapes, whole, false).values, t * h) << "of a recomputed layer its input";
}

}  // namespace
}  // namespace auspex::schedule
