/// @file Whole steps of routing that is uneven in each layer by itself, and of experts with a capacity.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/predict/predict.hpp"
#include "unfolded_fixture.hpp"

namespace auspex::predict {
namespace {

using namespace testing_unfolded;
using testing_steps::make_communication_free;
using testing_steps::shipped_inputs;
using testing_steps::step_s;

/// toy-moe on two ranks of experts, with kernels alone, and a trace that gives them these loads layer by layer.
models::Inputs kernels_with(const std::vector<std::vector<double>>& loads) {
    models::Inputs inputs = shipped_inputs("toy-ep2-dp2", "toy-moe");
    make_communication_free(inputs);
    inputs.workload.layers = static_cast<int>(loads.size());
    inputs.workload.expert_size = 4096;  // of which a step mostly is
    inputs.workload.sequence_length = 4096;
    inputs.plan.dispatch = models::Dispatch::kAllGatherReduceScatter;
    models::Routing& routing = inputs.plan.routing;
    routing.kind = models::RoutingDistribution::kTrace;
    const auto experts = static_cast<std::size_t>(inputs.workload.num_experts);
    routing.trace_shares.assign(experts, 0);
    for (const std::vector<double>& of_rank : loads) {
        std::vector<double> shares(experts);
        for (std::size_t i = 0; i < experts; ++i) {
            shares[i] = of_rank[2 * i / experts] / static_cast<double>(experts);
            routing.trace_shares[i] += shares[i] / static_cast<double>(loads.size());
        }
        routing.layer_shares.push_back(shares);
    }
    return inputs;
}

TEST(UnevenLayers, ranks_wait_for_each_layers_busiest_wherever_it_is) {
    // Whether the busiest is the same rank in both layers or not, each is waited for: folded the same step.
    const double even_s = step_s(kernels_with({{1, 1}, {1, 1}})),
                 alike_s = step_s(kernels_with({{1.6, 0.4}, {1.6, 0.4}})),
                 apart_s = step_s(kernels_with({{1.6, 0.4}, {0.4, 1.6}})),
                 one_s = step_s(kernels_with({{1.6, 0.4}, {1, 1}}));
    EXPECT_GT(alike_s, 1.02 * even_s);
    EXPECT_NEAR(apart_s, alike_s, 1e-9 * alike_s);
    EXPECT_NEAR(one_s - even_s, (alike_s - even_s) / 2, 1e-6 * alike_s);
    // As one share for all layers, which over them is even, nobody waits.
    models::Inputs mean = kernels_with({{1.6, 0.4}, {0.4, 1.6}});
    mean.plan.routing.alike_layers = true;
    EXPECT_NEAR(step_s(mean), even_s, 1e-9 * even_s);
}

TEST(UnevenLayers, unfolded_every_rank_has_its_own_load_in_each_layer) {
    for (const auto& loads : {std::vector<std::vector<double>>{{1.6, 0.4}, {0.4, 1.6}}, {{1.6, 0.4}, {1, 1}}}) {
        const models::Inputs inputs = kernels_with(loads);
        const SimulatedStep as_folded = folded(inputs, 4);
        const UnfoldedSample by_rank = play_unfolded(inputs, as_folded, {}).samples.front();
        EXPECT_NEAR(to_seconds(by_rank.step), to_seconds(as_folded.step), 1e-3 * to_seconds(as_folded.step));
        EXPECT_GT(by_rank.losses[static_cast<std::size_t>(schedule::Loss::kImbalance)], 0);
    }
}

TEST(UnevenLayers, padded_experts_take_as_long_whatever_the_routing) {
    models::Inputs inputs = kernels_with({{1.6, 0.4}, {0.4, 1.6}});
    inputs.workload.capacity_factor = 1.25, inputs.workload.pad_to_capacity = true;
    models::Inputs even = kernels_with({{1, 1}, {1, 1}});
    even.workload = inputs.workload;
    EXPECT_EQ(step_s(inputs), step_s(even));
    inputs.workload.pad_to_capacity = false;
    const double dropping_s = step_s(inputs);
    inputs.workload.capacity_factor = 0;
    EXPECT_LT(dropping_s, step_s(inputs)) << "the busiest experts drop what they have no room for";
}

bool has_note(const Prediction& prediction, const std::string& words) {
    return std::ranges::any_of(prediction.notes,
                               [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

TEST(UnevenLayers, what_is_dropped_is_said_and_is_no_model_flop) {
    models::Inputs inputs = kernels_with({{1.6, 0.4}, {0.4, 1.6}});
    const auto flop_of = [&] {
        const Prediction p = predict(inputs, plain_options()).prediction;
        return std::pair(p.tflops_per_tile * p.step_time_s * p.tiles * 1e12, p);
    };
    const auto [all, dropless] = flop_of();
    EXPECT_FALSE(has_note(dropless, "dropped"));
    EXPECT_TRUE(has_note(dropless, "1.60 times the mean, the mean over the layers"));
    // 16 rows an expert when even; 25.6 and 6.4 are asked for, 16 left of the former: 0.3 of all are dropped.
    inputs.workload.capacity_factor = 1;
    const auto [left, dropping] = flop_of();
    EXPECT_TRUE(has_note(dropping, "30.0 % of the routed rows are dropped"));
    const models::TokenFlop flop = count_token_flop(inputs.workload);
    EXPECT_NEAR(left / all, 1 - 0.3 * flop.experts / flop.forward(), 1e-9);
    inputs.workload.pad_to_capacity = true;
    EXPECT_NEAR(flop_of().first, left, 1e-9 * left) << "padding is none either";
}

}  // namespace
}  // namespace auspex::predict
