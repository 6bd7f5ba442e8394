/// @file Searches against all plans one by one, on small spaces of shipped and made-up machines.
#include "sim/search/plan_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/rng.hpp"
#include "search_fixture.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/bounds/step_bound.hpp"

namespace auspex::search {
namespace {

using testing_search::drawn_inputs;
using testing_search::inputs_of;
using testing_search::small_request;

TEST(PlanSearch, finds_what_trying_all_plans_finds_on_18_small_spaces) {
    std::uint64_t pruned = 0, evaluated = 0;
    int with_plans = 0;
    std::set<models::StageDeal> deals;
    int uneven = 0, spaces = 0;
    constexpr std::uint64_t kSmall = 10'000, kMostSeeds = 40;
    for (std::uint64_t seed = 1; spaces < 18 && seed <= kMostSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs = drawn_inputs(seed);
        const SpaceRequest request = small_request(seed);
        SearchOptions options;
        options.checks = 10;
        const SearchResult found = search_plans(inputs, request, options);
        if (found.space > kSmall) {
            continue;  // trying all of a few larger ones would take most of the test's time
        }
        ++spaces;
        options.exhaustive = true;
        const SearchResult all = search_plans(inputs, request, options);
        ASSERT_EQ(found.space, all.space);
        EXPECT_EQ(all.space, all.evaluated + all.pruned_memory);
        ASSERT_EQ(found.best.size(), all.best.size());
        for (std::size_t i = 0; i < all.best.size(); ++i) {
            EXPECT_EQ(found.best[i].index, all.best[i].index) << i;
            EXPECT_EQ(found.best[i].step, all.best[i].step) << i;
            uneven += all.best[i].candidate.stages != models::StageDeal::kEven ? 1 : 0;
        }
        std::ranges::for_each(all.played, [&](const EvaluatedPlan& plan) { deals.insert(plan.candidate.stages); });
        EXPECT_EQ(found.checked, std::min<std::uint64_t>(10, found.evaluated));
        with_plans += all.best.empty() ? 0 : 1;
        pruned += found.pruned_bound;
        evaluated += found.evaluated;
    }
    EXPECT_EQ(spaces, 18);
    EXPECT_GE(with_plans, 15);
    EXPECT_EQ(deals.size(), models::kNamedDeals.size());
    EXPECT_GT(uneven, 8) << "of the best";
    EXPECT_GT(pruned, evaluated) << "bounds decide of most plans";
}

// The best of those that pass are the best of all without those that do not.
TEST(PlanSearch, finds_the_best_of_the_plans_that_pass_a_filter) {
    std::size_t compared = 0;
    for (const std::uint64_t seed : {1, 3, 4, 7}) {  // small spaces
        SCOPED_TRACE("seed " + std::to_string(seed));
        const models::Inputs inputs = drawn_inputs(seed);
        SpaceRequest request = small_request(seed);
        SearchOptions options;
        options.exhaustive = true;
        options.top = 100'000;
        options.checks = 0;
        std::vector<EvaluatedPlan> passing = search_plans(inputs, request, options).best;
        const auto passes = [](const models::Plan& plan) { return !plan.recompute.attention && plan.pp % 2 == 1; };
        std::erase_if(passing,
                      [&](const EvaluatedPlan& plan) { return !passes(plan_of(plan.candidate, inputs.plan)); });
        request.filter = {"odd stages", [&](const models::Machine&, const models::Workload&, const models::Plan& plan) {
                              return passes(plan) ? std::vector<std::string>{} : std::vector<std::string>{"it"};
                          }};
        const SearchResult found = search_plans(inputs, request, {});
        ASSERT_EQ(found.best.size(), std::min(passing.size(), SearchOptions().top));
        for (std::size_t i = 0; i < found.best.size(); ++i) {
            EXPECT_EQ(found.best[i].index, passing[i].index) << i;
            ++compared;
        }
    }
    EXPECT_GT(compared, 10U);
}

/// Steps of all plans of a space, their floors and their bounds.
TEST(StepBound, is_never_above_the_folded_step_and_the_floor_never_above_it) {
    int plans = 0, uneven = 0, split = 0;
    double bounds_s = 0, steps_s = 0;
    for (std::uint64_t seed = 101; seed <= 112; ++seed) {
        models::Inputs inputs = drawn_inputs(seed);
        for (const std::string_view word : models::schedule_words()) {
            inputs.stack.offers_schedules.emplace_back(word);
        }
        inputs.plan.post_validation = seed % 3 == 0 && !inputs.workload.tied_embeddings;
        const SpaceRequest request = small_request(seed);
        const PlanSpace space(inputs, request);
        LayerCostTable table(inputs);
        Rng rng(seed);
        for (int draw = 0; draw < 24 && space.size() > 0; ++draw) {
            const std::size_t shape = rng.below(space.shapes().size());
            const std::vector<Candidate> choices = space.plans_of(shape);
            const Candidate plan = choices[rng.below(choices.size())];
            GridFloor floor(inputs, table, plan);
            GridBound bound(inputs, table, plan);
            models::Inputs own = inputs;
            own.plan = plan_of(plan, inputs.plan);
            const double step_s = to_seconds(predict::simulate_step(own, {}, false).step);
            const double bound_s = bound.of_passes(plan), floor_s = floor.of(plan);
            EXPECT_LE(bound.of(plan), bound_s * (1 + 1e-12)) << "seed " << seed << " draw " << draw;
            EXPECT_LE(bound_s, step_s) << "seed " << seed << " draw " << draw;
            EXPECT_LE(floor_s, step_s) << "seed " << seed << " draw " << draw;
            EXPECT_LE(floor.of_any(space, shape), floor_s * (1 + 1e-12));
            bounds_s += bound_s, steps_s += step_s;
            ++plans;
            uneven += plan.stages != models::StageDeal::kEven ? 1 : 0;
            split += splits_backward(plan.schedule) ? 1 : 0;
        }
    }
    EXPECT_GT(plans, 100);
    EXPECT_GT(split, 30);
    EXPECT_GT(uneven, 20);
    EXPECT_GT(bounds_s, 0.6 * steps_s) << "bounds that say little";
}

/// Weights that are sharded are gathered in every pass, on GPUs beside or between kernels.
TEST(StepBound, of_sharded_weights_is_not_above_the_step_nor_far_below) {
    Rng rng(7);
    double bounds_s = 0, steps_s = 0;
    int plans = 0;
    for (const auto& [machine, stack, workload] :
         {std::array{"dgx-h100", "megatron-core", "mixtral-8x7b"}, std::array{"dgx-a100", "pytorch-fsdp", "llama2-7b"},
          std::array{"aurora", "torchtitan", "qwen3-30b-a3b"}}) {
        models::Inputs inputs = inputs_of(machine, stack, workload);
        inputs.stack.offers_optimizers = {"fsdp"};
        SpaceRequest request;
        request.tiles = 48 / inputs.machine.node.tiles * inputs.machine.node.tiles, request.global_batch = 96;
        const PlanSpace space(inputs, request);
        LayerCostTable table(inputs);
        for (int draw = 0; draw < 30; ++draw) {
            const std::vector<Candidate> choices = space.plans_of(rng.below(space.shapes().size()));
            const Candidate plan = choices[rng.below(choices.size())];
            models::Inputs own = inputs;
            own.plan = plan_of(plan, inputs.plan);
            const double step_s = to_seconds(predict::simulate_step(own, {}, false).step);
            const double bound_s = GridBound(inputs, table, plan).of_passes(plan);
            EXPECT_LE(bound_s, step_s) << machine << " draw " << draw;
            EXPECT_LE(GridFloor(inputs, table, plan).of(plan), step_s) << machine << " draw " << draw;
            bounds_s += bound_s / step_s, steps_s += 1;
            ++plans;
        }
    }
    EXPECT_GT(plans, 80);
    EXPECT_GT(bounds_s, 0.75 * steps_s) << "bounds that say little";
}

/// What a grid's bound remembers of one plan must not enter another's.
TEST(StepBound, of_one_micro_batch_is_its_way_through_the_stages_and_back) {
    Candidate plan;
    plan.pp = 2, plan.micro_batches = 1;
    const std::vector<double> forward_s{1, 2}, backward_s{3, 4}, message_s{0.1, 0}, back_s{0.2, 0};
    const std::vector<std::vector<double>> optimizer_s{{0.5}, {0.25}};
    BoundTerms terms{.forward_s = forward_s,
                     .backward_s = backward_s,
                     .message_s = message_s,
                     .back_s = back_s,
                     .optimizer_s = optimizer_s};
    for (const bool blocks : {false, true}) {
        terms.blocks_messages = blocks;
        // F(0) + M + F(1) + B(1) + M' + B(0) + O(0), each once
        EXPECT_NEAR(bound_of(plan, terms), 1 + 0.1 + 2 + 4 + 0.2 + 3 + 0.5, 1e-7) << blocks;
        EXPECT_NEAR(bound_of_passes(plan, terms), 1 + 0.1 + 2 + 4 + 0.2 + 3 + 0.5, 1e-7) << blocks;
    }
}

/// One stage, m = 3 micro-batches, forward and backward passes of 1 and 2 s, S of gathers and sums in both, an
/// optimizer block of 0.5: m (1 + 2 + S) + 0.5 where kernels wait for them, else the longer of m (1 + 2) + 0.5 and m S.
TEST(StepBound, has_the_gathers_and_sums_of_sharded_weights) {
    Candidate plan;
    plan.micro_batches = 3;
    const std::vector<double> forward_s{1}, backward_s{2}, none_s{0};
    const std::vector<std::vector<double>> optimizer_s{{0.5}};
    for (const double shards : {0.25, 7.0}) {
        const std::vector<double> shards_s{shards};
        BoundTerms terms{.forward_s = forward_s,
                         .backward_s = backward_s,
                         .shards_s = shards_s,
                         .blocks_shards = true,
                         .message_s = none_s,
                         .back_s = none_s,
                         .optimizer_s = optimizer_s};
        EXPECT_NEAR(bound_of_passes(plan, terms), 3 * (3 + shards) + 0.5, 1e-7);
        terms.blocks_shards = false;
        EXPECT_NEAR(bound_of_passes(plan, terms), std::max(3 * 3 + 0.5, 3 * shards), 1e-7);
    }
}

TEST(StepBound, of_large_messages_that_block_is_not_above_the_step) {
    // The search fails where a plan that it plays is below its bound.
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 96;
    request.where = read_constraints("--where", "pp=2,tp=2,ep=4,micro_batch_size=16,micro_batches=1");
    SearchOptions options;
    options.exhaustive = true;
    EXPECT_GT(search_plans(inputs, request, options).evaluated, 0);
}

TEST(StepBound, of_a_plan_does_not_depend_on_the_plans_asked_before) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 48;
    request.where = read_constraints("--where", "tp=2,pp<=2,micro_batch_size=1");
    const PlanSpace space(inputs, request);
    LayerCostTable table(inputs);
    ASSERT_GT(space.shapes().size(), 5U);
    for (std::size_t shape = 0; shape < space.shapes().size(); shape += 5) {
        std::vector<Candidate> plans = space.plans_of(shape);
        std::reverse(plans.begin(), plans.end());
        GridBound shared(inputs, table, plans.front());
        for (const Candidate& plan : plans) {
            GridBound own(inputs, table, plan);
            EXPECT_EQ(shared.of(plan), own.of(plan));
        }
    }
}

TEST(PlanSpace, numbers_every_plan_once_and_all_of_them_resolve_and_run_as_asked) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 96;
    request.where = read_constraints("--where", "pp<=4,tp<=2");
    const PlanSpace space(inputs, request);
    std::uint64_t number = 0;
    for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
        EXPECT_EQ(space.first_plan(shape), number);
        for (const Candidate& candidate : space.plans_of(shape)) {
            const models::Plan plan = resolve_plan(plan_of(candidate, inputs.plan), inputs.workload, 24);
            EXPECT_EQ(tiles_of(plan), 24);
            const models::Layout layout = rank_grid(plan, 24);
            EXPECT_EQ(layout.global_batch, 96);
            EXPECT_LE(plan.pp, 4);
            EXPECT_LE(plan.tp, 2);
            ++number;
        }
    }
    EXPECT_EQ(space.size(), number);
    EXPECT_GT(number, 1000U);
}

/// What the loader refuses of a base with weights in 8 bits alone is no plan of its space.
TEST(PlanSpace, weights_in_8_bits_alone_are_not_sharded) {
    models::Inputs inputs = inputs_of("dgx-h100", "bare", "mula-7b-a1b");
    const auto shards = [&inputs] {
        SpaceRequest request;
        request.tiles = 8, request.global_batch = 8;
        request.where = read_constraints("--where", "pp<=1,tp<=1");
        const PlanSpace space(inputs, request);
        std::set<models::OptimizerSharding> kinds;
        for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
            for (const Candidate& candidate : space.plans_of(shape)) {
                kinds.insert(candidate.optimizer);
            }
        }
        return kinds.contains(models::OptimizerSharding::kFsdp);
    };
    inputs.plan.fp8 = models::Fp8::kTensorwise;
    EXPECT_TRUE(shards());
    inputs.plan.fp8_weights_only = true;
    EXPECT_FALSE(shards());
    inputs.stack.offers_optimizers = {"fsdp"};
    EXPECT_THROW(static_cast<void>(shards()), InputError) << "nothing is left";
    inputs.plan.fp8_weights_only = false;
    inputs.workload.objective = models::Objective::kDpo;
    EXPECT_THROW(static_cast<void>(shards()), InputError);
}

TEST(PlanSpace, neighbours_differ_in_one_field_and_are_numbered_as_in_the_space) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 96;
    const PlanSpace space(inputs, request);
    const std::size_t shape = space.shapes().size() / 2;
    const Candidate plan = space.plans_of(shape).front();
    std::set<std::uint64_t> numbers;
    for (const auto& [other, number] : space.neighbours_of(plan)) {
        EXPECT_TRUE(numbers.insert(number).second);
        const auto behind = std::ranges::find_if(space.shapes(), [&](const Candidate& s) {
            return s.pp == other.pp && s.tp == other.tp && s.etp == other.etp && s.ep == other.ep && s.cp == other.cp &&
                   s.rank_order == other.rank_order && s.micro_batch_size == other.micro_batch_size &&
                   s.schedule == other.schedule && s.virtual_stages == other.virtual_stages && s.stages == other.stages;
        });
        ASSERT_NE(behind, space.shapes().end());
        const auto at = static_cast<std::size_t>(behind - space.shapes().begin());
        EXPECT_GE(number, space.first_plan(at));
        EXPECT_LT(number, space.first_plan(at + 1));
    }
    EXPECT_GT(numbers.size(), 20U);
}

/// Layers of a plan's virtual stages, as its program has them.
std::vector<int> layers_of_program(const models::Inputs& inputs, const Candidate& c) {
    const models::Plan plan = resolve_plan(plan_of(c, inputs.plan), inputs.workload, 0);
    std::vector<int> layers;
    for (int v = 0; v < plan.pp * plan.virtual_stages; ++v) {
        const schedule::LayerRange range = schedule::layers_of(inputs.workload, plan, v);
        layers.push_back(range.last - range.first);
    }
    return layers;
}

TEST(PlanSpace, deals_layers_in_each_way_that_differs_and_leaves_no_stage_without) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 96;
    const PlanSpace space(inputs, request);
    const auto without_stages = [](const Candidate& c) {
        return std::tuple(c.pp, c.tp, c.etp, c.ep, c.cp, c.rank_order, c.micro_batch_size, c.schedule,
                          c.virtual_stages);
    };
    std::map<decltype(without_stages(Candidate())), std::set<std::vector<int>>> layers_of_shape;
    for (const Candidate& shape : space.shapes()) {
        const std::vector<int> layers = layers_of_program(inputs, shape);
        EXPECT_EQ(layers, stage_layers_of(shape, inputs));
        EXPECT_TRUE(std::ranges::find(layers, 0) == layers.end());
        EXPECT_TRUE(layers_of_shape[without_stages(shape)].insert(layers).second) << "the same plan twice";
        EXPECT_TRUE(shape.pp > 1 || shape.stages == models::StageDeal::kEven);
    }
    std::size_t most = 0;
    for (const auto& [shape, dealt] : layers_of_shape) {
        most = std::max(most, dealt.size());
    }
    EXPECT_GE(most, 3U);
    request.fixed = {"stages"};
    const PlanSpace even(inputs, request);
    EXPECT_EQ(even.shapes().size(), layers_of_shape.size());
}

TEST(PlanSpace, keeps_the_layers_that_the_base_plan_lists) {
    models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    inputs.workload.layers = 6;
    inputs.plan.stages = models::StageDeal::kList;
    inputs.plan.stage_layers = {1, 2, 2, 1};
    SpaceRequest request;
    request.tiles = 24, request.global_batch = 48;
    request.where = read_constraints("--where", "tp=1,ep<=8,micro_batch_size=1");
    request.fixed = {"recompute", "overlap"};
    const PlanSpace space(inputs, request);
    std::set<int> stages;
    for (const Candidate& shape : space.shapes()) {
        EXPECT_EQ(shape.pp * shape.virtual_stages, 4);
        EXPECT_EQ(layers_of_program(inputs, shape), inputs.plan.stage_layers);
        stages.insert(shape.pp);
    }
    EXPECT_EQ(stages, (std::set<int>{2, 4}));
    EXPECT_GT(space.rejected().at("stages lists the layers of another number of stages than pp * virtual_stages"), 0U);
    SearchOptions options;
    const SearchResult found = search_plans(inputs, request, options);
    options.exhaustive = true;
    const SearchResult all = search_plans(inputs, request, options);
    ASSERT_EQ(found.best.size(), all.best.size());
    ASSERT_FALSE(all.best.empty());
    for (std::size_t i = 0; i < all.best.size(); ++i) {
        EXPECT_EQ(found.best[i].index, all.best[i].index) << i;
        EXPECT_EQ(found.best[i].step, all.best[i].step) << i;
    }
}

TEST(PlanSpace, what_nothing_comes_of_is_counted_by_reason) {
    const models::Inputs inputs = inputs_of("aurora", "optimus", "mula-7b-a1b");
    SpaceRequest request;
    request.tiles = 37, request.global_batch = 3;
    const PlanSpace space(inputs, request);
    EXPECT_EQ(space.size(), 0U);
    EXPECT_GT(space.rejected().at("tiles are no multiple of pp * ep * etp"), 0U);
    EXPECT_GT(space.rejected().at("the global batch is no multiple of data_parallel = tiles / (pp * tp * cp)"), 0U);
}

TEST(Constraints, are_read_strictly) {
    const std::vector<Constraint> two = read_constraints("--where", "pp<=16,tp=4");
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0].field + two[0].comparison + std::to_string(two[0].value), "pp<=16");
    EXPECT_EQ(two[1].comparison, "=");
    for (const char* const wrong : {"", "pp", "pp<=", "<=4", "pp=<4", "pq<=4", "pp<=4,", "pp<=4x", "pp<=1e3"}) {
        EXPECT_THROW(static_cast<void>(read_constraints("--where", wrong)), InputError) << wrong;
    }
}

}  // namespace
}  // namespace auspex::search
