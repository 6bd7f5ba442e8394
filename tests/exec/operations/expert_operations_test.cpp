/// @file The MoE block over expert- and tensor-parallel ranks: the loss and gradients of one rank, whatever the
/// dispatch and the kernels; what is counted as sent; what is recorded.
#include <gtest/gtest.h>

#include "../exec_fixture.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

constexpr models::ExpertKernels kWays[] = {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped,
                                           models::ExpertKernels::kFused};
constexpr models::Dispatch kDispatches[] = {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll};

/// Eight experts, three of them a token.
models::Workload model() {
    models::Workload w = mixture_model();
    w.num_experts = 8, w.top_k = 3;
    return w;
}
models::Training heavy_losses() {
    models::Training t = still_training();
    t.auxiliary_loss = 0.5, t.z_loss = 0.2;
    return t;
}
/// Eight sequences in micro-batches of two, over ep ranks; the router chooses.
models::Plan plan_over(int ep) {
    models::Plan p = single_plan();
    p.ep = ep;
    p.micro_batches = 4 / ep;
    p.routing.kind = models::RoutingDistribution::kZipf;
    return p;
}

const StepResult& on_one_rank() {
    static const StepResult result = one_step<Fp64>(run_inputs(model(), plan_over(1), heavy_losses()));
    return result;
}

void expect_equal(const StepResult& found, const StepResult& expected, const std::string& of) {
    EXPECT_NEAR(found.loss.cross_entropy, expected.loss.cross_entropy, 1e-12) << of;
    EXPECT_NEAR(found.loss.auxiliary, expected.loss.auxiliary, 1e-12) << of;
    EXPECT_NEAR(found.loss.z, expected.loss.z, 1e-12) << of;
    ASSERT_EQ(found.gradients.size(), expected.gradients.size()) << of;
    for (const auto& [name, gradient] : expected.gradients) {
        EXPECT_LT(relative_difference(found.gradients.at(name), gradient), 1e-10) << of << " " << name;
    }
}

std::string text_of(const models::Plan& p) {
    return "ep " + std::to_string(p.ep) + " tp " + std::to_string(p.tp) + (p.sequence_parallel ? " sliced " : " ") +
           (p.recompute.expert ? "recomputed " : "") + to_string(p.dispatch) + " " + to_string(p.expert_kernels);
}

void expect_all_ways_equal(const models::Workload& workload, int ep, const StepResult& expected) {
    for (const models::Dispatch dispatch : kDispatches) {
        for (const models::ExpertKernels kernels : kWays) {
            models::Plan p = plan_over(ep);
            p.dispatch = dispatch, p.expert_kernels = kernels;
            expect_equal(one_step<Fp64>(run_inputs(workload, p, heavy_losses())), expected, text_of(p));
        }
    }
}

TEST(ExpertOperations, give_the_step_of_one_rank_for_every_dispatch_and_kernel) {
    for (const int ep : {1, 2, 4}) {
        expect_all_ways_equal(model(), ep, on_one_rank());
    }
}

/// Rows need no sorting when they arrive.
TEST(ExpertOperations, give_it_with_one_expert_a_rank) {
    models::Workload w = model();
    w.num_experts = 4;
    expect_all_ways_equal(w, 4, one_step<Fp64>(run_inputs(w, plan_over(1), heavy_losses())));
}

TEST(ExpertOperations, give_it_with_experts_split_over_tp_and_with_everything_recomputed) {
    for (const int ep : {1, 2}) {
        for (const models::Dispatch dispatch : kDispatches) {
            for (const bool sliced : {false, true}) {
                for (const bool recompute : {false, true}) {
                    models::Plan p = plan_over(ep);
                    p.tp = p.etp = 2;
                    p.sequence_parallel = sliced;
                    p.recompute.expert = recompute, p.recompute.norm = recompute;
                    p.dispatch = dispatch,
                    p.expert_kernels = recompute ? models::ExpertKernels::kFused : models::ExpertKernels::kLoop;
                    expect_equal(one_step<Fp64>(run_inputs(model(), p, heavy_losses())), on_one_rank(), text_of(p));
                }
            }
        }
    }
}

/// All tokens to experts 0 to 2: with ep = 4 two ranks compute nothing.
TEST(ExpertOperations, give_it_where_ranks_have_no_rows) {
    const RunInputs one = run_inputs(model(), plan_over(1), heavy_losses());
    models::RoutingRecord record = uneven_record(one);
    for (std::size_t i = 0; i < record.choices.size(); ++i) {
        record.choices[i] = static_cast<std::uint16_t>(i % 3);
    }
    const auto replay = [&](TestRank<Fp64>& test) { test.routing = {RoutingMode::kReplayed, &record, nullptr}; };
    const StepResult expected = one_step<Fp64>(one, replay);
    for (const models::Dispatch dispatch : kDispatches) {
        for (const models::ExpertKernels kernels : kWays) {
            models::Plan p = plan_over(4);
            p.dispatch = dispatch, p.expert_kernels = kernels;
            expect_equal(one_step<Fp64>(run_inputs(model(), p, heavy_losses()), replay), expected, text_of(p));
        }
    }
}

double bytes_of(const StepResult& result, std::size_t rank, schedule::OpKind kind) {
    return result.counts[rank][static_cast<std::size_t>(kind)].bytes;
}

/// Uniform routing, fp32, two ranks, per micro-batch and layer with t = 12, h = 8, K = 3. All-gather: T (h a + K (4 +
/// 8)) forward, T (h a + 4 K) backward; T h a each way of the return. All-to-all: t K (h a + 8) forward, t K h a for
/// each other exchange.
TEST(ExpertOperations, count_what_they_exchange) {
    constexpr double kPasses = 2 * 2, kTokens = 12, kRow = 8 * 4, kChoices = 3;  // micro-batches x layers
    models::Plan p = plan_over(2);
    p.routing.kind = models::RoutingDistribution::kUniform;
    p.dispatch = models::Dispatch::kAllGatherReduceScatter;
    const StepResult gathered = one_step<Fp32>(run_inputs(model(), p));
    p.dispatch = models::Dispatch::kAllToAll;
    const StepResult sent = one_step<Fp32>(run_inputs(model(), p));
    for (const std::size_t rank : {0U, 1U}) {
        EXPECT_EQ(bytes_of(gathered, rank, schedule::OpKind::kTokenCommunication),
                  kPasses * 2 * kTokens * (2 * kRow + kChoices * (4 + 8 + 4)));
        EXPECT_EQ(bytes_of(gathered, rank, schedule::OpKind::kTokenReturn), kPasses * 2 * kTokens * 2 * kRow);
        EXPECT_EQ(bytes_of(sent, rank, schedule::OpKind::kTokenCommunication),
                  kPasses * kTokens * kChoices * (2 * kRow + 8));
        EXPECT_EQ(bytes_of(sent, rank, schedule::OpKind::kTokenReturn), kPasses * kTokens * kChoices * 2 * kRow);
    }
}

/// What is recorded with learned routing gives, replayed, the same step bit for bit.
TEST(ExpertOperations, replay_what_they_recorded) {
    models::Plan p = plan_over(1);
    p.recompute.expert = true;
    const RunInputs run = run_inputs(model(), p, heavy_losses());
    models::RoutingRecord record = uneven_record(run);
    const StepResult learned = one_step<Fp64>(run, [&](TestRank<Fp64>& test) { test.routing.record = &record; });
    const StepResult replayed = one_step<Fp64>(run, [&](TestRank<Fp64>& test) {
        test.routing = {RoutingMode::kReplayed, &record, nullptr};
    });
    EXPECT_EQ(replayed.gradients, learned.gradients);
    EXPECT_EQ(replayed.loss.auxiliary, learned.loss.auxiliary);
}

}  // namespace
}  // namespace auspex::exec
