/// @file AdamW by hand, and the optimizer's block on every layout against one rank.
#include "exec/state/optimizer.hpp"

#include <gtest/gtest.h>

#include "../state_fixture.hpp"

namespace auspex::state_fixture {
namespace {

TEST(AdamW, the_first_step_goes_against_the_gradients_sign_by_the_rate) {
    // m / (1 - b1) = g and v / (1 - b2) = g^2: w = (1 - 0.1 * 0.1) * 1 - 0.1 * 0.5 / 0.5 = 0.89.
    const exec::AdamW adam{.rate = 0.1, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 0, .decay = 0.1};
    std::vector<float> g{0.5F, -0.5F}, m{0, 0}, v{0, 0}, w{1, 1};
    update<exec::Fp32>(adam, g, m, v, {}, w);
    EXPECT_NEAR(w[0], 0.89, 1e-6);
    EXPECT_NEAR(w[1], 1.09, 1e-6);
    EXPECT_NEAR(m[0], 0.05, 1e-8);
    EXPECT_NEAR(v[0], 0.0125, 1e-8);
}

/// The equations of optimizer.hpp, in double.
struct Scalar {
    double w = 0.7, m = 0, v = 0;
    void step(const exec::AdamW& a, double g) {
        g *= a.gradient_scale;
        m = a.beta1 * m + (1 - a.beta1) * g;
        v = a.beta2 * v + (1 - a.beta2) * g * g;
        const double m_hat = m / (1 - std::pow(a.beta1, a.t)), v_hat = v / (1 - std::pow(a.beta2, a.t));
        w = (1 - a.rate * a.decay) * w - a.rate * m_hat / (std::sqrt(v_hat) + a.epsilon);
    }
};

template <class P>
double largest_difference_after_steps() {
    Scalar expected;
    exec::AdamW adam{.rate = 0.01, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .decay = 0.1, .gradient_scale = 0.5};
    std::vector<float> m{0}, v{0}, master;
    std::vector<typename P::Value> w{exec::stored<typename P::Value>(0.7)};
    if constexpr (std::is_same_v<typename P::Value, exec::Bf16>) {
        master = {0.7F};
    }
    double largest = 0;
    for (adam.t = 1; adam.t <= 20; ++adam.t) {
        const std::vector<typename P::Gradient> g{exec::stored<typename P::Gradient>(std::sin(0.6 * adam.t))};
        exec::update<P>(adam, g, m, v, master, w);
        expected.step(adam, exec::real(g[0]));
        const double found = master.empty() ? static_cast<double>(exec::real(w[0])) : double{master[0]};
        largest = std::max(largest, std::abs(found - expected.w));
        if (!master.empty()) {
            EXPECT_EQ(exec::real(w[0]), exec::real(exec::stored<exec::Bf16>(master[0])));
        }
    }
    return largest;
}

TEST(AdamW, many_steps_follow_the_equations_in_every_precision) {
    EXPECT_LT(largest_difference_after_steps<exec::Fp32>(), 2e-6);
    EXPECT_LT(largest_difference_after_steps<exec::Fp64>(), 1e-7);  // moments are floats
    EXPECT_LT(largest_difference_after_steps<exec::Bf16Precision>(), 2e-6);
    EXPECT_LT(largest_difference_after_steps<exec::Bf16WithFp32Gradients>(), 2e-6);
}

TEST(AdamW, masters_keep_what_bf16_would_lose) {
    const exec::AdamW adam{.rate = 1e-4, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8};
    std::vector<float> g{1}, m{0}, v{0}, master{1};
    std::vector<exec::Bf16> w{exec::stored<exec::Bf16>(1.0F)};
    update<exec::Bf16WithFp32Gradients>(adam, g, m, v, master, w);
    EXPECT_NEAR(master[0], 1 - 1e-4, 1e-7);
    EXPECT_EQ(real(w[0]), 1.0F);  // the next bf16 below 1 is 1 - 2^-8
}

TEST(Clip, gradients_longer_than_the_limit_are_scaled_to_it) {
    EXPECT_EQ(exec::clip_scale(4, 1), 0.25);
    EXPECT_EQ(exec::clip_scale(0.5, 1), 1);
    EXPECT_EQ(exec::clip_scale(0, 1), 1);
    EXPECT_EQ(exec::clip_scale(4, 0), 1);
}

/// Each rank's part of a gradient whose sum over the batch is number_of(element): the same on all replicas.
template <class P>
void fill_gradients(exec::Rank<P>& rank) {
    const models::Plan& plan = rank.plan();
    for_each_element(rank.table, [&](bool is_expert, std::size_t flat, std::size_t whole, const exec::Parameter& p) {
        const double parts = (is_expert ? plan.dp : plan.dp * plan.ep) * (p.summed_over_tp ? plan.tp : 1) *
                             (has_stages_twice(plan.schedule) ? 2 : 1);
        (is_expert ? rank.weights.experts_gradient : rank.weights.dense_gradient)[flat] =
            exec::stored<typename P::Gradient>(number_of(p.name, whole, 0) / parts);
    });
}

/// All operations of the optimizer's block; their number and bytes must be the program's.
template <class P>
void run_optimizer_block(exec::Rank<P>& rank) {
    const schedule::Program& program = rank.run->program;
    for (const schedule::BlockUse& use : program.roles[static_cast<std::size_t>(rank.coordinates.stage)].order) {
        const schedule::Block& block = program.blocks[use.block];
        if (block.kind != schedule::BlockKind::kOptimizer) {
            continue;
        }
        exec::Communicator* const real = rank.communicator;
        exec::CountingCommunicator counting(*real);
        rank.communicator = &counting;
        std::map<schedule::OpKind, std::pair<exec::OperationCount, exec::OperationCount>>
            counts;  // of the program, and found
        for (const schedule::Operation& op : program.operations_of(block)) {
            counting.begin(op);
            EXPECT_TRUE(run_step_operation(rank, {op, block, 0, -1, {}, false})) << to_string(op.kind);
            counts[op.kind].first += {static_cast<std::uint64_t>(op.repeat), 0, op.bytes * op.repeat};
            counts[op.kind].second += counting.end();
        }
        rank.communicator = real;
        for (const auto& [kind, count] : counts) {
            EXPECT_EQ(count.second.operations, count.first.operations)
                << to_string(kind) << ", " << words_of(rank.plan());
            EXPECT_EQ(count.second.bytes, count.first.bytes) << to_string(kind) << ", " << words_of(rank.plan());
        }
    }
}

models::Training lively_training() {
    models::Training t;
    t.learning_rate = 0.01, t.warmup_steps = 0, t.clip = 2;
    t.initial_deviation = 0.3;
    return t;
}

struct BlockResult {
    FloatTensors weights;
    double norm = 0;
    exec::LossParts loss;
};

template <class P>
BlockResult after_optimizer_block(const exec::RunInputs& run) {
    BlockResult result;
    on_ranks<P>(run, [&](exec::Rank<P>& rank) {
        fill_gradients(rank);
        const double ranks = run.layout.tiles;
        rank.loss = {3 / ranks, 0.5 / ranks, 0.25 / ranks};
        run_optimizer_block(rank);
        collect(rank, exec::StateKind::kWeight, result.weights);
        if (rank.coordinates.rank == run.layout.tiles - 1) {
            result.norm = rank.gradient_norm;
            result.loss = rank.total_loss;
        }
        // Gathered weights are the owners' on every rank.
        double different = 0;
        rank.communicator->barrier(models::GroupKind::kWorld);
        if constexpr (std::is_same_v<P, exec::Fp32>) {
            for_each_element(rank.table,
                             [&](bool is_expert, std::size_t flat, std::size_t whole, const exec::Parameter& p) {
                                 const float weight = (is_expert ? rank.weights.experts : rank.weights.dense)[flat];
                                 different += weight != result.weights.at(p.name)[whole];
                             });
        }
        EXPECT_EQ(different, 0) << words_of(run.plan);
    });
    return result;
}

TEST(OptimizerBlock, every_layout_makes_the_step_of_one_rank) {
    const models::Workload model = every_tensor_model();
    const BlockResult single = after_optimizer_block<exec::Fp32>(run_inputs(model, single_plan(), lively_training()));
    double squares = 0;
    const exec::ParameterTable table = exec::whole_model(model);
    for_each_element(table, [&](bool, std::size_t, std::size_t whole, const exec::Parameter& p) {
        squares += std::pow(number_of(p.name, whole, 0), 2);
    });
    EXPECT_NEAR(single.norm, std::sqrt(squares), 1e-5 * single.norm);
    EXPECT_EQ(single.loss.cross_entropy, 3);
    for (models::Plan plan : layouts()) {
        for (const bool sliced : {false, true}) {
            plan.sequence_parallel = sliced;
            const BlockResult found = after_optimizer_block<exec::Fp32>(run_inputs(model, plan, lively_training()));
            EXPECT_NEAR(found.norm, single.norm, 1e-6 * single.norm) << words_of(plan);
            EXPECT_NEAR(found.loss.cross_entropy, 3, 1e-6);
            EXPECT_NEAR(found.loss.auxiliary, 0.5, 1e-6);
            EXPECT_NEAR(found.loss.z, 0.25, 1e-6);
            for (const auto& [name, values] : single.weights) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                    ASSERT_NEAR(found.weights.at(name)[i], values[i], 1e-6) << name << ", " << words_of(plan);
                }
            }
        }
    }
}

TEST(OptimizerBlock, norms_are_not_decayed) {
    models::Training training = lively_training();
    training.clip = 0;
    exec::RunInputs run = run_inputs(dense_model(), single_plan(), training);
    on_ranks<exec::Fp32>(run, [](exec::Rank<exec::Fp32>& rank) {
        const float embedding = rank.weights.dense[rank.table.embedding];
        const auto rate = static_cast<float>(learning_rate_at(rank.training(), 0, rank.run->last_step));
        update_shards(rank);  // gradients are zero: what is left of the step is the decay
        EXPECT_EQ(rank.weights.dense[rank.table.final_norm], 1.0F);
        EXPECT_FLOAT_EQ(rank.weights.dense[rank.table.embedding], embedding * (1 - rate * 0.1F));
    });
}

TEST(OptimizerBlock, tensors_reduced_one_by_one_give_the_same_sums) {
    models::Stack stack = exec_fixture::trainer_stack();
    stack.per_parameter_ep_all_reduce = true;
    const models::Plan plan = plan_of(1, 2, 2, 1, models::OptimizerSharding::kSharded);
    const exec::RunInputs one_by_one = run_inputs(every_tensor_model(), plan, lively_training(), stack);
    const exec::RunInputs at_once = run_inputs(every_tensor_model(), plan, lively_training());
    EXPECT_EQ(after_optimizer_block<exec::Fp32>(one_by_one).weights,
              after_optimizer_block<exec::Fp32>(at_once).weights);
}

TEST(OptimizerBlock, all_ranks_learn_who_is_not_finite) {
    for (const bool in_loss : {false, true}) {
        const exec::RunInputs run =
            run_inputs(every_tensor_model(), plan_of(2, 2, 1, 1, models::OptimizerSharding::kSharded));
        on_ranks<exec::Bf16Precision>(run, [&](exec::Rank<exec::Bf16Precision>& rank) {
            if (rank.coordinates.rank == 1 && in_loss) {
                rank.loss.z = NAN;
            } else if (rank.coordinates.rank == 1) {
                rank.weights.experts_gradient[5] = exec::stored<exec::Bf16>(INFINITY);
            }
            const schedule::Block block;
            schedule::Operation check, tell;
            check.kind = schedule::OpKind::kGradientCheck;
            tell.kind = schedule::OpKind::kWorldAllReduce, tell.carries = schedule::Carries::kHealth;
            EXPECT_TRUE(run_step_operation(rank, {check, block, 0, -1, {}, false}));
            EXPECT_TRUE(run_step_operation(rank, {tell, block, 0, -1, {}, false}));
            EXPECT_EQ(rank.unhealthy, std::vector<int>{1});
        });
    }
}

}  // namespace
}  // namespace auspex::state_fixture
