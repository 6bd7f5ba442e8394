/// @file Pipelines whose stages have different numbers of layers, none among them.
#include <gtest/gtest.h>

#include <map>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// The case with its layers thrown onto its stages by chance.
Case uneven_case(std::uint64_t seed) {
    Case c = random_case(seed);
    Rng rng(seed + 77);
    c.plan.stages = models::StageDeal::kList;
    c.plan.stage_layers.assign(static_cast<std::size_t>(c.plan.pp * c.plan.virtual_stages), 0);
    for (int layer = 0; layer < c.workload.layers; ++layer) {
        ++c.plan.stage_layers[rng.below(c.plan.stage_layers.size())];
    }
    c.plan = resolve_plan(c.plan, c.workload, 0);
    return c;
}

TEST(UnevenStages, have_every_layer_once_in_order_and_a_program_without_defects) {
    for (std::uint64_t seed = 9'000; seed < 9'150; ++seed) {
        const Case c = uneven_case(seed);
        int next = 0;
        for (int v = 0; v < c.plan.pp * c.plan.virtual_stages; ++v) {
            const LayerRange range = layers_of(c.workload, c.plan, v);
            EXPECT_EQ(range.first, next) << seed;
            EXPECT_EQ(range.last - range.first - range.predictions, c.plan.stage_layers[static_cast<std::size_t>(v)])
                << seed;
            next = range.last;
        }
        EXPECT_EQ(next, c.workload.layers_and_predictions()) << seed;
        EXPECT_NO_THROW(check_program(build_program(c.workload, c.plan, c.stack, layout_of(c.plan)))) << seed;
    }
}

/// Parameters of gradients that the program of all stages sums over the replicas of the dense part, and over those of
/// experts.
std::map<OpKind, double> summed_elements(const Case& c) {
    std::map<OpKind, double> sums;
    const Program program = build_program(c.workload, c.plan, c.stack, layout_of(c.plan));
    for (const Role& role : program.roles) {
        for (const BlockUse& use : role.order) {
            for (const Operation& op : program.operations_of(program.blocks[use.block])) {
                if (op.kind == OpKind::kGradientReduceDense || op.kind == OpKind::kGradientReduceExperts) {
                    sums[op.kind] += op.bytes / c.plan.gradient_bytes;
                }
            }
        }
    }
    return sums;
}

TEST(UnevenStages, sum_every_gradient_once_however_layers_are_dealt) {
    // The stages' parameters sum to the model's: those of the even deal, of which only the table's copy is not shared.
    for (std::uint64_t seed = 9'200; seed < 9'350; ++seed) {
        Case c = uneven_case(seed);
        if (shards_gradients(c.plan.optimizer)) {
            continue;  // sums after every micro-batch
        }
        const std::map<OpKind, double> uneven = summed_elements(c);
        c.plan.stages = models::StageDeal::kEven;
        c.plan.stage_layers.clear();
        const std::map<OpKind, double> even = summed_elements(c);
        ASSERT_EQ(uneven.size(), even.size()) << seed;
        for (const auto& [kind, elements] : even) {
            EXPECT_NEAR(uneven.at(kind), elements, 1e-9 * elements) << seed;
        }
    }
}

TEST(UnevenStages, hold_memory_that_is_released_and_adds_up) {
    static const models::Machine kAurora = machine();
    for (std::uint64_t seed = 9'400; seed < 9'500; ++seed) {
        const Case c = uneven_case(seed);
        const models::Layout layout = layout_of(c.plan);
        const Program program = build_program(c.workload, c.plan, c.stack, layout);
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            const StageMemory memory = stage_memory(c.workload, c.plan, c.stack, kAurora, layout, program, stage, {});
            double sum = 0;
            for (const auto& [name, bytes] : memory.by_label) {
                EXPECT_GE(bytes, 0) << name;
                sum += bytes;
            }
            EXPECT_NEAR(memory.peak_bytes, sum, 1e-9 * sum) << seed;
        }
    }
}

}  // namespace
}  // namespace auspex::schedule
