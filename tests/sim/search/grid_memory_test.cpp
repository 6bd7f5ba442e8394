/// @file Memory of the plans of a grid beside that of each by itself.
#include "sim/search/bounds/grid_memory.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.hpp"
#include "sim/predict/memory_report.hpp"
#include "sim/predict/simulate.hpp"

namespace auspex::search {
namespace {

models::Inputs drawn_inputs(std::uint64_t seed) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    Rng rng(seed);
    const std::vector<std::pair<const char*, const char*>> systems{
        {"aurora", "optimus"}, {"dgx-h100", "bare"}, {"dgx-a100", "megatron-deepspeed"}, {"frontier", "bare"}};
    const std::vector<const char*> workloads{"mula-1b", "mula-7b-a1b", "deepseek-v3"};
    const auto& [machine, stack] = systems[rng.below(systems.size())];
    models::Inputs inputs = models::load_inputs(
        load(std::string("machines/") + machine), load(std::string("stacks/") + stack),
        load(std::string("workloads/") + workloads[rng.below(workloads.size())]), load("plans/mula-7b-a1b"));
    inputs.workload.layers = 4 + static_cast<int>(rng.below(10));
    inputs.workload.first_dense_layers = std::min(inputs.workload.first_dense_layers, 2);
    if (inputs.workload.num_experts > 0 && rng.below(3) == 0) {
        inputs.plan.routing.kind = models::RoutingDistribution::kZipf;
        inputs.plan.routing.parameter = 0.4;
    }
    Rng choices(seed + 1'000'000);
    inputs.workload.mtp_layers = static_cast<int>(choices.below(3));
    if (inputs.workload.num_experts > 0) {
        inputs.workload.router_bias = choices.below(2) == 0;
        inputs.workload.capacity_factor = std::vector{0.0, 0.0, 0.5, 1.25}[choices.below(4)];
        inputs.workload.pad_to_capacity = inputs.workload.capacity_factor > 0 && choices.below(2) == 0;
        inputs.plan.routing.alike_layers = choices.below(2) == 0;
        inputs.stack.dispatches_by_masks = seed % 3 == 0;
    }
    inputs.workload.vocab_size = 16'384 << rng.below(5);  // heads of less than a layer, and of several
    return inputs;
}

/// Of drawn plans of drawn spaces, what-if choices among them; those of a grid share what it remembers.
template <class Visit>
void for_drawn_plans(const Visit& visit) {
    int plans = 0, uneven = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs = drawn_inputs(seed);
        SpaceRequest request;
        request.tiles = 24, request.global_batch = 48, request.what_if = true;
        const PlanSpace space(inputs, request);
        Rng rng(seed);
        for (int draw = 0; draw < 2 && space.size() > 0; ++draw) {
            const Candidate& like = space.shapes()[rng.below(space.shapes().size())];
            LayerCostTable table(inputs);
            GridMemory memory(inputs, table, like);
            for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
                const Candidate& other = space.shapes()[shape];
                if (std::tie(like.pp, like.tp, like.etp, like.ep, like.cp, like.rank_order) !=
                        std::tie(other.pp, other.tp, other.etp, other.ep, other.cp, other.rank_order) ||
                    rng.below(3) > 0) {
                    continue;
                }
                const std::vector<Candidate> choices = space.plans_of(shape);
                const Candidate& plan = choices[rng.below(choices.size())];
                models::Inputs own = inputs;
                own.plan = plan_of(plan, inputs.plan);
                visit(memory, plan, predict::memory_report(own, predict::prepare_step(own, {})).peak_bytes);
                ++plans;
                uneven += plan.stages != models::StageDeal::kEven ? 1 : 0;
            }
        }
    }
    EXPECT_GT(plans, 100);
    EXPECT_GT(uneven, 50);
}

TEST(GridMemory, is_that_of_the_whole_program_to_the_bit_whatever_was_asked_before) {
    for_drawn_plans([](GridMemory& memory, const Candidate& plan, double peak_bytes) {
        EXPECT_EQ(memory.peak_bytes(plan), peak_bytes)
            << to_string(plan.schedule) << " of " << plan.virtual_stages << ", " << to_string(plan.optimizer) << ", pp "
            << plan.pp << " tp " << plan.tp << " cp " << plan.cp << ", overlap " << int{plan.overlap} << ", recompute "
            << int{plan.recompute};
    });
}

TEST(GridMemory, floor_is_never_above_the_peak_and_near_it) {
    double floors = 0, peaks = 0;
    for_drawn_plans([&](GridMemory& memory, const Candidate& plan, double peak_bytes) {
        const double floor_bytes = memory.floor_bytes(plan);
        EXPECT_LE(floor_bytes, peak_bytes);
        floors += floor_bytes, peaks += peak_bytes;
    });
    EXPECT_GT(floors, 0.45 * peaks) << "floors that say little";
}

TEST(GridMemory, of_a_plan_above_what_is_enough_lies_between_the_two) {
    for_drawn_plans([](GridMemory& memory, const Candidate& plan, double peak_bytes) {
        const double found = memory.peak_bytes(plan, 0.7 * peak_bytes);
        EXPECT_GT(found, 0.7 * peak_bytes);
        EXPECT_LE(found, peak_bytes);
        EXPECT_EQ(memory.peak_bytes(plan, peak_bytes), peak_bytes);
    });
}

/// What PyTorch's allocator reserves with fsdp, too; the floor stays below it.
TEST(GridMemory, is_what_is_reserved_where_the_allocator_is_played) {
    const auto load = [](const std::string& file) {
        return JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/" + file + ".json");
    };
    models::Inputs inputs = models::load_inputs(load("machines/sunspot"), load("stacks/torchtitan"),
                                                load("workloads/agpt-2b"), load("plans/agpt-2b"));
    inputs.workload.layers = 4;
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 48;
    const PlanSpace space(inputs, request);
    int played = 0;
    for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
        LayerCostTable table(inputs);
        GridMemory memory(inputs, table, space.shapes()[shape]);
        const std::vector<Candidate> plans = space.plans_of(shape);
        for (std::size_t i = shape % 7; i < plans.size(); i += 23) {
            const Candidate& plan = plans[i];
            models::Inputs own = inputs;
            own.plan = plan_of(plan, inputs.plan);
            const predict::MemoryReport report = predict::memory_report(own, predict::prepare_step(own, {}));
            EXPECT_EQ(memory.peak_bytes(plan), report.peak_bytes);
            EXPECT_LE(memory.floor_bytes(plan), report.peak_bytes);
            EXPECT_EQ(report.fits, std::max(report.reserved_bytes + inputs.machine.tile.reserved_bytes,
                                            report.peak_bytes) <= report.capacity_bytes);
            played += report.reserved_bytes > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(played, 20);
}

}  // namespace
}  // namespace auspex::search
