/// @file Spaces of models without experts.
#include <gtest/gtest.h>

#include <set>

#include "search_fixture.hpp"
#include "sim/predict/simulate.hpp"
#include "sim/search/space/candidate.hpp"
#include "sim/search/space/plan_space.hpp"

namespace auspex::search {
namespace {

/// Without experts `sharded` and `ep-aware` are the same step on every grid; a space has one of them.
TEST(DenseSpace, has_no_plan_twice) {
    models::Inputs inputs = testing_search::inputs_of("dgx-h100", "bare", "mula-1b");
    SpaceRequest request = testing_search::small_request(1);
    request.fixed = {"recompute", "expert_kernels", "overlap"};
    using enum models::OptimizerSharding;
    for (const models::OptimizerSharding word : {kSharded, kEpAware}) {
        inputs.plan.optimizer = word;
        const PlanSpace space(inputs, request);
        std::set<models::OptimizerSharding> found;
        int compared = 0;
        for (std::size_t shape = 0; shape < space.shapes().size(); ++shape) {
            for (const Candidate& plan : space.plans_of(shape)) {
                found.insert(plan.optimizer);
                if (plan.optimizer != word || shape % 7 != 0) {
                    continue;
                }
                models::Inputs own = inputs, other = inputs;
                own.plan = other.plan = plan_of(plan, inputs.plan);
                other.plan.optimizer = word == kSharded ? kEpAware : kSharded;
                EXPECT_EQ(predict::simulate_step(own, {}, false).step, predict::simulate_step(other, {}, false).step);
                ++compared;
            }
        }
        EXPECT_TRUE(found.contains(word));
        EXPECT_FALSE(found.contains(word == kSharded ? kEpAware : kSharded));
        EXPECT_GT(compared, 20);
    }
}

}  // namespace
}  // namespace auspex::search
