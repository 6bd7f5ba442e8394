/// @file Biases of routers: what a step's counts make of them, whatever the layout, and what they do to choices.
#include "exec/state/router_balance.hpp"

#include <gtest/gtest.h>

#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

/// The first layer is dense.
models::Workload balanced_model() {
    models::Workload w = deep(mixture_model());
    w.first_dense_layers = 1, w.intermediate_size = 12;
    w.router_bias = true;
    return w;
}

models::Training fast_training() {
    models::Training training = still_training();
    training.router_bias_speed = 0.25;
    return training;
}

using Biases = std::map<int, std::vector<float>>;

/// Of every layer behind two steps, from every rank that has it: they are to agree.
Biases biases_behind(const models::Workload& w, const models::Plan& plan, const models::RoutingRecord* record,
                     int steps) {
    const RunInputs run = run_inputs(w, plan, fast_training());
    Biases biases;
    std::mutex mutex;
    run_in_process(run.layout, [&](Communicator& communicator) {
        TestRank<Fp64> test(run, communicator);
        if (record != nullptr) {
            test.routing = {RoutingMode::kReplayed, record, nullptr};
        }
        for (int i = 0; i < steps; ++i) {
            test.step();
        }
        const std::scoped_lock lock(mutex);
        for (int layer = 0; layer < w.layers; ++layer) {
            if (const float* const bias = router_bias_of(test.rank, layer)) {
                const std::vector<float> own(bias, bias + w.num_experts);
                EXPECT_EQ(biases.emplace(layer, own).first->second, own) << "layer " << layer;
            }
        }
    });
    return biases;
}

/// speed * sign(mean - count), by the record's choices.
TEST(RouterBias, moves_towards_experts_that_have_fewer_tokens_than_the_mean) {
    const models::Workload w = balanced_model();
    const RunInputs run = run_inputs(w, single_plan());
    const models::RoutingRecord record = uneven_record(run);
    const Biases found = biases_behind(w, single_plan(), &record, 1);
    ASSERT_EQ(found.size(), 3U);
    for (const auto& [layer, biases] : found) {
        const std::vector<std::int64_t> counts = choices_by_expert(record, 0, layer - 1, 0, record.tokens);
        const double mean = static_cast<double>(record.tokens) * w.top_k / w.num_experts;
        for (std::size_t e = 0; e < counts.size(); ++e) {
            const double lacks = mean - static_cast<double>(counts[e]);
            EXPECT_EQ(biases[e], lacks > 0 ? 0.25F : lacks < 0 ? -0.25F : 0.0F) << "layer " << layer << " expert " << e;
        }
    }
}

TEST(RouterBias, is_the_same_on_one_rank_and_on_several) {
    std::vector<models::Plan> plans;
    for (const bool sliced : {false, true}) {
        models::Plan plan = split_plan(sliced);
        plan.ep = plan.dp = 2;
        plans.push_back(plan);
        plan.etp = 1, plan.etp_given = true;
        plans.push_back(plan);
        plan.tp = 1, plan.etp = 2;
        plans.push_back(plan);
    }
    plans.push_back(pipeline_plan(models::ScheduleKind::kZbv));
    plans.push_back(recomputed(pipeline_plan(models::ScheduleKind::kInterleaved1f1b)));
    plans.push_back(single_plan());
    plans.back().cp = plans.back().dp = 2;
    plans.back().context = models::ContextParallel::kRing;
    models::Workload w = balanced_model();
    w.sequence_length = 16;
    for (models::Plan& plan : plans) {
        plan.routing.kind = models::RoutingDistribution::kLearned;
        SCOPED_TRACE(std::string(to_string(plan.schedule)) + " tp " + std::to_string(plan.tp) + " etp " +
                     std::to_string(plan.etp) + " cp " + std::to_string(plan.cp));
        EXPECT_EQ(biases_behind(w, plan, nullptr, 3), biases_behind(w, single_rank_of(plan), nullptr, 3));
        EXPECT_EQ(unlike_one_rank(w, plan), std::vector<std::string>{});
    }
}

/// Choices follow probability + bias; weights and losses have the probabilities alone.
TEST(RouterBias, changes_who_is_chosen) {
    const models::Workload w = balanced_model();
    models::Plan plan = single_plan();
    plan.routing.kind = models::RoutingDistribution::kLearned;
    const RunInputs run = run_inputs(w, plan);
    models::RoutingRecord record = empty_routing_record(run, 0, 1);
    const StepResult result = one_step<Fp64>(run, [&](TestRank<Fp64>& test) {
        test.routing.record = &record;
        for (std::size_t i = 0; i < test.rank.weights.balance.bias.size(); ++i) {
            test.rank.weights.balance.bias[i] = i % 4 == 3 ? 2.0F : i % 4 == 1 ? 1.0F : 0.0F;
        }
    });
    for (std::size_t i = 0; i < record.choices.size(); i += 2) {
        EXPECT_EQ(record.choices[i], 3);
        EXPECT_EQ(record.choices[i + 1], 1);
    }
    EXPECT_TRUE(std::isfinite(result.loss.cross_entropy));
}

}  // namespace
}  // namespace auspex::exec
