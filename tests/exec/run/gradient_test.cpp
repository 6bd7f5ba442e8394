/// @file Gradients of every parameter against central differences of the loss:
/// dL/dw = (8 (L(w + e) - L(w - e)) - (L(w + 2e) - L(w - 2e))) / 12e + O(e^4).
#include <gtest/gtest.h>

#include "../exec_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

double sum_of(const LossParts& loss) { return loss.cross_entropy + loss.auxiliary + loss.z; }

constexpr double kStep = 5e-4;       ///< e
constexpr double kTolerance = 1e-6;  ///< of the difference, over the larger of the gradient and
constexpr double kMin = 1e-3;        ///< this part of the tensor's largest, or
constexpr double kZero = 1e-6;       ///< this: differences of a loss have no more digits

/// `test` has taken a step: its gradients are those of its weights.
void check_tensor(TestRank<Fp64>& test, const Parameter& p, bool experts, const Tensors& gradients, Rng& rng) {
    auto& weights = experts ? test.rank.weights.experts : test.rank.weights.dense;
    const std::vector<double>& gradient = gradients.at(p.name);
    double largest = 0;
    for (const double g : gradient) {
        largest = std::max(largest, std::abs(g));
    }
    ASSERT_GT(largest, 0) << p.name;
    for (int draw = 0; draw < 3; ++draw) {
        const std::size_t i = rng.below(p.size);
        double& weight = weights[p.offset + i];
        const double kept = weight;
        const auto loss_at = [&](double step) {
            weight = kept + step;
            test.step();
            return sum_of(test.rank.loss);
        };
        const double near = loss_at(kStep) - loss_at(-kStep), far = loss_at(2 * kStep) - loss_at(-2 * kStep);
        weight = kept;
        EXPECT_NEAR((8 * near - far) / (12 * kStep), gradient[i],
                    kTolerance * std::max({std::abs(gradient[i]), kMin * largest, kZero}))
            << p.name << " element " << i;
    }
}

void check_all_tensors(TestRank<Fp64>& test) {
    test.step();
    Tensors gradients;
    collect_gradients(test.rank, gradients);
    Rng rng(3);
    for (const Parameter& p : test.rank.table.dense) {
        check_tensor(test, p, false, gradients, rng);
    }
    for (const Parameter& p : test.rank.table.experts) {
        check_tensor(test, p, true, gradients, rng);
    }
}

void check_gradients(const models::Workload& workload, const models::Plan& plan,
                     const models::Training& training = still_training()) {
    const RunInputs run = run_inputs(workload, plan, training);
    run_in_process(run.layout, [&](Communicator& communicator) {
        TestRank<Fp64> test(run, communicator);
        check_all_tensors(test);
    });
}

/// Of every tensor against those of the same step in double precision, from weights rounded alike.
template <class P>
void expect_near_double(const models::Workload& workload, double tolerance) {
    models::Training training = still_training();
    training.initial_deviation = 0.05;
    const RunInputs run = run_inputs(workload, single_plan(), training);
    const auto round = [](TestRank<Fp64>& test) {
        for (Buffer<double>* weights : {&test.rank.weights.dense, &test.rank.weights.experts}) {
            for (double& weight : weights->span()) {
                weight = real(stored<typename P::Value>(weight));
            }
        }
    };
    const StepResult expected = one_step<Fp64>(run, round), found = one_step<P>(run);
    EXPECT_NEAR(sum_of(found.loss), sum_of(expected.loss), tolerance);
    for (const auto& [name, gradient] : expected.gradients) {
        EXPECT_LT(relative_difference(found.gradients.at(name), gradient), tolerance) << name;
    }
}

models::Plan recomputing_plan() {
    models::Plan p = single_plan();
    p.recompute.norm = p.recompute.attention = p.recompute.expert = true;
    return p;
}

TEST(DenseGradients, are_those_of_the_loss) { check_gradients(dense_model(), single_plan()); }

TEST(DenseGradients, in_other_precisions) {
    expect_near_double<Fp32>(dense_model(), 1e-5);
    expect_near_double<Bf16Precision>(dense_model(), 0.05);
    expect_near_double<Bf16WithFp32Gradients>(dense_model(), 0.05);
}

TEST(DenseGradients, with_everything_recomputed) { check_gradients(dense_model(), recomputing_plan()); }

TEST(DenseGradients, with_normalised_queries_and_keys) {
    models::Workload w = dense_model();
    w.qk_norm = true;
    check_gradients(w, single_plan());
    check_gradients(w, recomputing_plan());
}

TEST(DenseGradients, with_norms_without_parameters) {
    models::Workload w = dense_model();
    w.norm = models::NormKind::kNonParametric;
    check_gradients(w, single_plan());
}

TEST(DenseGradients, of_a_table_that_embeds_and_predicts) {
    models::Workload w = dense_model();
    w.tied_embeddings = true;
    check_gradients(w, single_plan());
}

TEST(DenseGradients, of_layer_norms_gelu_biases_and_positions) {
    check_gradients(gpt_model(), single_plan());
    check_gradients(gpt_model(), recomputing_plan());
    models::Workload rotated = gpt_model();  // else the gradient of a key's bias is nothing but rounding
    rotated.learned_positions = false;
    // Those of queries and keys are differences of nearly equal terms: rounding depends on the processor's kernels.
    expect_near_double<Fp32>(rotated, 1e-4);
    rotated.feed_forward = models::FeedForward::kSwiGlu, rotated.kv_heads = 2;
    check_gradients(rotated, single_plan());
}

TEST(DenseGradients, of_latent_attention) {
    for (const int q_rank : {0, 6}) {
        const models::Workload w = latent(dense_model(), q_rank);
        check_gradients(w, single_plan());
        check_gradients(w, recomputing_plan());
        expect_near_double<Fp32>(w, 1e-5);
        expect_near_double<Bf16Precision>(w, 0.05);
    }
}

TEST(DenseGradients, of_attention_to_a_window) {
    for (const models::Workload& w : {windowed(dense_model()), windowed(latent(dense_model(), 6))}) {
        check_gradients(w, single_plan());
        check_gradients(w, recomputing_plan());
    }
}

/// A window as long as the sequence is none; a shorter one changes the loss.
TEST(DenseGradients, of_windows_that_reach_everything) {
    models::Workload w = dense_model();
    const double whole = one_step<Fp64>(run_inputs(w, single_plan())).loss.cross_entropy;
    w.windowed_layers = w.layers, w.window = w.sequence_length;
    EXPECT_EQ(one_step<Fp64>(run_inputs(w, single_plan())).loss.cross_entropy, whole);
    w.window = w.sequence_length - 1;
    EXPECT_NE(one_step<Fp64>(run_inputs(w, single_plan())).loss.cross_entropy, whole);
}

TEST(DenseGradients, of_prediction_modules) {
    for (const int modules : {1, 2}) {
        models::Workload tied = dense_model();
        tied.tied_embeddings = true;
        models::Workload gpt = gpt_model();
        gpt.learned_positions = false;
        for (const models::Workload& w : {predicting(dense_model(), modules), predicting(tied, modules),
                                          predicting(gpt, modules), predicting(latent(dense_model(), 6), modules)}) {
            check_gradients(w, single_plan());
            check_gradients(w, recomputing_plan());
        }
    }
    expect_near_double<Fp32>(predicting(dense_model(), 2), 1e-5);
    expect_near_double<Bf16Precision>(predicting(dense_model(), 2), 0.05);
}

/// Of weights that are zero every token is as likely: ln V a token. A module behind d others has no target for the last
/// d + 1 tokens of a sequence.
TEST(DenseGradients, modules_have_the_loss_of_the_tokens_that_they_predict) {
    models::Training training = still_training();
    training.initial_deviation = 0, training.prediction_loss = 0.5;
    const models::Workload w = predicting(dense_model(), 2);
    const LossParts loss = one_step<Fp64>(run_inputs(w, single_plan(), training)).loss;
    const double each = std::log(w.vocab_size), all = w.sequence_length;
    EXPECT_NEAR(loss.cross_entropy, each, 1e-12);
    EXPECT_NEAR(loss.auxiliary, 0.5 / 2 * each * ((all - 1) / all + (all - 2) / all), 1e-12);
}

// Tokens are dealt to experts by a fixed pattern: choices do not change with a weight, and the loss is smooth.

TEST(MixtureGradients, are_those_of_the_loss) {
    models::Plan plan = single_plan();
    for (const models::ExpertKernels kernels :
         {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
        plan.expert_kernels = kernels;
        check_gradients(mixture_model(), plan);
    }
}

TEST(MixtureGradients, in_other_precisions) {
    expect_near_double<Fp32>(mixture_model(), 1e-5);
    expect_near_double<Bf16Precision>(mixture_model(), 0.05);
    expect_near_double<Bf16WithFp32Gradients>(mixture_model(), 0.05);
}

TEST(MixtureGradients, with_everything_recomputed) {
    models::Workload w = mixture_model();
    w.qk_norm = true;
    check_gradients(w, recomputing_plan());
}

TEST(MixtureGradients, with_shared_experts) {
    models::Workload w = mixture_model();
    w.shared_experts = 2;
    check_gradients(w, single_plan());
    check_gradients(w, recomputing_plan());
    expect_near_double<Fp32>(w, 1e-5);
    expect_near_double<Bf16Precision>(w, 0.05);
}

TEST(MixtureGradients, with_gelu_and_biases) {
    models::Workload w = gpt_mixture_model();
    w.learned_positions = false;  // else the gradient of a key's bias is nothing but rounding
    for (const int shared : {0, 2}) {
        w.shared_experts = shared;
        for (const models::FeedForward feed_forward : {models::FeedForward::kGelu, models::FeedForward::kSwiGlu}) {
            w.feed_forward = feed_forward;
            models::Plan plan = single_plan();
            for (const models::ExpertKernels kernels :
                 {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
                plan.expert_kernels = kernels;
                check_gradients(w, plan);
            }
            check_gradients(w, recomputing_plan());
            expect_near_double<Fp32>(w, 1e-4);  // biases near 1 leave scores little of their own: digits are lost
        }
    }
}

/// Tokens that experts have no room for have no part in their outputs, and none in the gradients of their weights.
TEST(MixtureGradients, with_choices_dropped) {
    models::Training training = still_training();
    for (const bool normalize : {false, true}) {
        training.normalize_top_k = normalize;
        models::Workload w = mixture_model();
        w.capacity_factor = 1;
        models::Plan plan = recomputing_plan();
        for (const models::ExpertKernels kernels :
             {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
            plan.expert_kernels = kernels;
            const RunInputs run = run_inputs(w, plan, training);
            const models::RoutingRecord record = uneven_record(run);
            double dropped = 0;
            run_in_process(run.layout, [&](Communicator& communicator) {
                TestRank<Fp64> test(run, communicator);
                test.routing = {RoutingMode::kReplayed, &record, nullptr};
                check_all_tensors(test);
                dropped = test.rank.loss.cross_entropy;
            });
            w.capacity_factor = 0;
            const StepResult all = one_step<Fp64>(run_inputs(w, plan, training), [&](TestRank<Fp64>& test) {
                test.routing = {RoutingMode::kReplayed, &record, nullptr};
            });
            EXPECT_GT(std::abs(all.loss.cross_entropy - dropped), 1e-4);
            w.capacity_factor = 1;
        }
    }
}

TEST(MixtureGradients, of_prediction_modules_with_experts) {
    models::Workload w = predicting(mixture_model(), 1);
    w.shared_experts = 1;
    check_gradients(w, single_plan());
    check_gradients(w, recomputing_plan());
}

TEST(MixtureGradients, with_weights_of_choices_that_sum_to_one) {
    models::Training training = still_training();
    training.normalize_top_k = true;
    check_gradients(mixture_model(), single_plan(), training);
}

/// Of choices dealt out evenly the loss of balance is the same whatever the probabilities; dealt out unevenly, it has a
/// gradient.
TEST(MixtureGradients, with_large_losses_of_a_router_out_of_balance) {
    models::Training training = still_training();
    training.auxiliary_loss = training.z_loss = 1;
    models::Workload w = mixture_model();
    w.first_dense_layers = 1, w.layers = 3;
    w.intermediate_size = 12;
    for (const bool global : {false, true}) {
        w.global_aux_loss = global;
        const RunInputs run = run_inputs(w, recomputing_plan(), training);
        const models::RoutingRecord record = uneven_record(run);
        run_in_process(run.layout, [&](Communicator& communicator) {
            TestRank<Fp64> test(run, communicator);
            test.routing = {RoutingMode::kReplayed, &record, nullptr};
            check_all_tensors(test);
            EXPECT_GT(std::abs(test.rank.loss.auxiliary - w.top_k), 0.01);  // N sum_e f_e P_e = K where f or P is even
        });
    }
}

}  // namespace
}  // namespace auspex::exec
