/// @file What the trainer cannot do, line by line.
#include "schedule/bindings/bindings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "../plan_fixture.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

models::Stack trainer_stack() { return testing_plans::stack("auspex"); }

/// Grouped queries.
models::Workload dense_model() {
    models::Workload w = testing_plans::workload("toy-dense");
    w.kv_heads = 2;
    return w;
}
models::Workload mixture_model() { return testing_plans::workload("toy-moe"); }

/// One rank, two micro-batches of two sequences, fp32, nothing recomputed, uniform routing.
models::Plan single_plan() {
    models::Plan p;
    p.dp = 1;
    p.micro_batch_size = 2, p.micro_batches = 2;
    p.precision = "fp32", p.weight_bytes = 4, p.gradient_bytes = 4;
    return p;
}

std::vector<std::string> unbound(const models::Workload& workload, const models::Plan& plan,
                                 const models::Stack& stack) {
    const models::Plan resolved = resolve_plan(plan, workload, 0);
    return unbound_operations(workload, resolved, stack,
                              build_program(workload, resolved, stack, testing_plans::layout_of(resolved)));
}

std::vector<std::string> findings(const models::Workload& workload, const models::Plan& plan,
                                  const models::Stack& stack = trainer_stack()) {
    std::vector<std::string> lines = unbound(workload, plan, stack);
    const std::vector<std::string> refused = refused_settings(workload, resolve_plan(plan, workload, 0), stack);
    lines.insert(lines.end(), refused.begin(), refused.end());
    return lines;
}

void expect_line(const std::vector<std::string>& lines, const std::string& line) {
    EXPECT_NE(std::ranges::find(lines, line), lines.end())
        << line << "\n first of those found: " << (lines.empty() ? "none" : lines.front());
}

TEST(Bindings, everything_of_the_trainers_models_is_bound) {
    EXPECT_EQ(findings(dense_model(), single_plan()), std::vector<std::string>{});
    models::Workload gpt = testing_plans::workload("toy-gpt");
    EXPECT_EQ(findings(gpt, single_plan()), std::vector<std::string>{});
    models::Plan plan = single_plan();
    plan.tp = plan.etp = plan.ep = plan.pp = 2;
    plan.sequence_parallel = true;
    models::Workload mixture = mixture_model();
    mixture.global_aux_loss = mixture.qk_norm = true;
    mixture.shared_experts = 2;
    mixture.tied_embeddings = true;
    EXPECT_EQ(findings(mixture, plan), std::vector<std::string>{});
    mixture.qk_norm = false, mixture.attention = models::AttentionKind::kLatent;
    mixture.q_rank = 8, mixture.kv_rank = mixture.rope_head_size = mixture.value_head_size = 4;
    EXPECT_EQ(findings(mixture, plan), std::vector<std::string>{});
}

TEST(Bindings, models_that_have_no_kernels) {
    const auto with = [](const std::function<void(models::Workload&)>& change) {
        models::Workload w = mixture_model();
        change(w);
        return findings(w, single_plan());
    };
    EXPECT_EQ(with([](models::Workload& w) { w.biases = true, w.feed_forward = models::FeedForward::kGelu; }),
              std::vector<std::string>{});
    EXPECT_EQ(with([](models::Workload& w) { w.capacity_factor = 1; }), std::vector<std::string>{});
    expect_line(with([](models::Workload& w) { w.capacity_factor = 1, w.pad_to_capacity = true; }),
                "operation index_generation: rows that fill experts up to their capacity (pad_to_capacity) are not "
                "bound");
    EXPECT_EQ(with([](models::Workload& w) { w.router_bias = true, w.mtp_layers = 2; }), std::vector<std::string>{});
    expect_line(with([](models::Workload& w) { w.mtp_layers = 1, w.global_aux_loss = true; }),
                "operation prediction_input: multi-token prediction (mtp_layers) "
                "beside a global auxiliary loss is not "
                "bound");
    expect_line(with([](models::Workload& w) { w.router_bias = w.global_aux_loss = true; }),
                "operation router_bias_update: balancing by a bias of the router beside a global auxiliary loss is not "
                "bound");
    expect_line(with([](models::Workload& w) { w.qk_norm = true, w.norm = models::NormKind::kLayer; }),
                "operation qk_norm: queries and keys are normalised by RMS norms only");
    expect_line(with([](models::Workload& w) { w.head_size = 15; }),
                "operation rotary_embedding: head_size 15 is odd: dimensions are turned in pairs");
    const auto latent = with([](models::Workload& w) {
        w.attention = models::AttentionKind::kLatent;
        w.norm = models::NormKind::kNonParametric;
        w.kv_rank = w.value_head_size = 4, w.rope_head_size = 3;
    });
    expect_line(latent, "operation qk_norm: latents are normalised by RMS norms only");
    expect_line(latent, "operation rotary_embedding: rope_head_size 3 is odd: dimensions are turned in pairs");
    // Two sequences of 64 tokens, two choices each.
    expect_line(
        with([](models::Workload& w) { w.num_experts = 5; }),
        "operation router_top_k: uniform routing deals 256 choices of a micro-batch to 5 experts, which does not "
        "come out even");
}

TEST(Bindings, plans_that_have_no_calls) {
    const auto with = [](const std::function<void(models::Plan&)>& change) {
        models::Plan p = single_plan();
        change(p);
        models::Workload w = mixture_model();
        models::Stack stack = trainer_stack();
        stack.can_overlap_tp = stack.can_overlap_ep = stack.can_overlap_dp = stack.can_overlap_pp = true;
        return findings(w, p, stack);
    };
    EXPECT_EQ(with([](models::Plan& p) { p.cp = p.dp = 2; }), std::vector<std::string>{});
    EXPECT_EQ(with([](models::Plan& p) { p.tp = p.dp = 2, p.etp = 1, p.etp_given = true; }),
              std::vector<std::string>{});
    expect_line(with([](models::Plan& p) { p.cp = p.dp = 2, p.etp = 2, p.etp_given = true; }),
                "operation token_counting: etp 2 with tp 1 and context parallelism is not bound");
    for (const models::OptimizerSharding sharding :
         {models::OptimizerSharding::kZero2, models::OptimizerSharding::kFsdp}) {
        EXPECT_EQ(with([=](models::Plan& p) { p.optimizer = sharding, p.dp = 4, p.shard_replicas = 2; }),
                  std::vector<std::string>{});
        expect_line(with([=](models::Plan& p) { p.optimizer = sharding, p.overlap_dp = true, p.dp = 2; }),
                    "operation gradient_reduce_dense: the sum of sharded gradients beside compute is not bound");
    }
    expect_line(with([](models::Plan& p) { p.overlap_tp = true; }),
                "operation tp_all_reduce: overlap of tp beside compute is not bound");
    EXPECT_EQ(with([](models::Plan& p) { p.overlap_dp = true, p.dp = 2; }), std::vector<std::string>{});
    expect_line(with([](models::Plan& p) {
                    p.pp = 2;
                    p.stages = models::StageDeal::kList;
                    p.stage_layers = {mixture_model().layers, 0};
                }),
                "operation attention: a stage without layers is not bound");
    expect_line(with([](models::Plan& p) { p.routing.kind = models::RoutingDistribution::kZipf; }),
                "operation router_top_k: shares drawn from a distribution cannot be forced on tokens");
    expect_line(with([](models::Plan& p) { p.precision = "fp32", p.gradient_bytes = 2; }),
                "operation optimizer_update: precision fp32 with gradients of 2 bytes is not bound");
}

TEST(Bindings, sequences_and_experts_that_are_split_as_no_call_does_it) {
    models::Workload w = mixture_model();
    models::Plan plan = single_plan();
    plan.cp = plan.dp = 2;
    w.global_aux_loss = true;
    expect_line(findings(w, plan),
                "operation cross_entropy: a global auxiliary loss of sequences that cp ranks share is not bound");
    plan = single_plan();
    plan.tp = plan.dp = 2, plan.etp = 1, plan.etp_given = true;
    expect_line(findings(w, plan), "operation cross_entropy: etp 1 with tp 2 and a global auxiliary loss is not bound");
    w.global_aux_loss = false, w.shared_experts = 1;
    plan.etp = 4, plan.ep = 2, plan.sequence_parallel = true, plan.dispatch = models::Dispatch::kAllToAll;
    expect_line(findings(w, plan),
                "operation shared_expert: etp 4 with tp 2 and shared experts beside rows that are sent is not bound");
    plan.recompute.expert = true;
    EXPECT_EQ(findings(w, plan), std::vector<std::string>{});
    w = mixture_model(), w.biases = true, w.hidden_size = 63;
    plan = single_plan();
    plan.etp = 2, plan.etp_given = true;
    expect_line(findings(w, plan),
                "operation expert_computation: hidden_size 63 is not divisible by etp 2, which splits the biases of "
                "experts");
    // Choices of 8 tokens in a row, a part from one end of a sequence of 64 on four ranks.
    w = mixture_model(), w.num_experts = 6;
    plan = single_plan();
    plan.cp = plan.dp = 4;
    expect_line(findings(w, plan),
                "operation router_top_k: uniform routing deals 16 choices of tokens in a row to 6 experts, which does "
                "not come out even");
}

/// Such a stack trained with a loss of 0, and with gradients that nobody had looked at.
TEST(Bindings, stacks_that_leave_loss_or_gradients_alone) {
    const std::string no_check =
        "operation gradient_check: a stack without check_gradients would change weights by gradients that are not "
        "finite";
    const std::string no_loss =
        "operation world_all_reduce: a stack without world_all_reduces_per_step does not add up the loss of several "
        "ranks";
    models::Stack stack = trainer_stack();
    stack.world_all_reduces_per_step = 0, stack.check_gradients = false;
    EXPECT_EQ(findings(mixture_model(), single_plan(), stack), std::vector<std::string>{no_check});
    models::Plan plan = single_plan();
    plan.dp = 2;
    EXPECT_EQ(findings(mixture_model(), plan, stack), (std::vector<std::string>{no_check, no_loss}));
    models::Plan split_experts = single_plan();
    split_experts.etp = 2, split_experts.etp_given = true;
    expect_line(findings(mixture_model(), split_experts, stack), no_loss);
    stack.world_all_reduces_per_step = 1;
    EXPECT_EQ(findings(mixture_model(), plan, stack), std::vector<std::string>{no_check});
    EXPECT_EQ(unbound(mixture_model(), plan, stack), std::vector<std::string>{})
        << "every operation has its call all the same";
    expect_line(findings(mixture_model(), plan, testing_plans::stack("bare")), no_loss);
}

TEST(Bindings, stacks_that_ask_for_other_calls) {
    models::Stack stack = trainer_stack();
    stack.per_parameter_ep_all_reduce = true;
    stack.router_logits_travel = false;
    models::Plan plan = single_plan();
    plan.ep = plan.pp = 2;
    models::Workload w = mixture_model();
    w.global_aux_loss = true;
    const std::vector<std::string> lines = findings(w, plan, stack);
    expect_line(lines, "operation gradient_ep_all_reduce: all-reduces tensor by tensor are not bound");
    expect_line(
        lines,
        "operation cross_entropy: a global auxiliary loss over several stages needs a stack whose router logits "
        "travel");
    stack.dispatches_by_masks = true;
    const std::string masks = "operation index_generation: dispatch by products with one-hot masks is not bound";
    expect_line(findings(mixture_model(), single_plan(), stack), masks);
    const std::vector<std::string> dense = findings(dense_model(), single_plan(), stack);
    EXPECT_EQ(std::ranges::find(dense, masks), dense.end());
}

}  // namespace
}  // namespace auspex::schedule
