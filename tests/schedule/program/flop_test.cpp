/// @file FLOP of programs against the closed form of the workload: the two are computed from different code.
#include <gtest/gtest.h>

#include "../plan_fixture.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Flop {
    double useful = 0, recomputed = 0;
};

/// Of all ranks, one step.
Flop flop_of(const Case& c, const models::Layout& layout) {
    const Program program = build_program(c.workload, c.plan, c.stack, layout);
    Flop flop;
    for (const Role& role : program.roles) {
        const ProgramTotals totals = totals_of(program, role);
        flop.useful += totals.useful_flop * layout.stage_ranks;
        flop.recomputed += totals.recompute_flop * layout.stage_ranks;
    }
    return flop;
}

/// Forward FLOP of a token in what the plan runs a second time of a layer. Attention is the mean over layers.
double recomputed_layer_flop(const models::Workload& w, const models::TokenFlop& token, const models::Recompute& redone,
                             bool mixture) {
    const double layers = w.layers + w.mtp_layers;
    const double mixtures = w.num_experts > 0 ? layers - w.first_dense_layers : 0, dense = layers - mixtures;
    const double up =
        2.0 * w.heads * (w.q_rank * (w.head_size + w.rope_head_size) + w.kv_rank * (w.head_size + w.value_head_size));
    // Every second product: keys (or what makes them of a latent), the output of attention, and of a dense feed-forward
    // the second up.
    const bool latent = w.attention == models::AttentionKind::kLatent;
    const double value_width = w.heads * (latent ? w.value_head_size : w.head_size);
    const double keys = latent ? 2.0 * w.kv_rank * w.heads * (w.head_size + w.value_head_size)
                               : 2.0 * w.hidden_size * w.kv_heads * w.head_size;
    const double alternate =
        keys + 2.0 * value_width * w.hidden_size + (mixture ? 0 : 2.0 * w.hidden_size * w.intermediate_size);
    const double attention = (token.attention_projections + token.attention_scores) / layers;
    const double shared = mixture ? token.shared_experts / mixtures : 0;
    const double feed_forward =
        mixture ? (token.router + token.experts) / mixtures + shared : token.dense_feed_forward / dense;
    return (redone.attention ? attention : 0) + (redone.core_attention ? token.attention_scores / layers : 0) +
           (redone.latent_up ? up : 0) + (redone.alternate_products ? alternate : 0) +
           (redone.expert ? feed_forward : 0) + (redone.shared_experts ? shared : 0);
}

/// Of all layers, each with its place in its stage.
double recomputed_token_flop(const models::Workload& model, const models::Plan& plan) {
    const models::TokenFlop token = count_token_flop(model);
    double flop = 0;
    for (int v = 0; v < plan.pp * plan.virtual_stages; ++v) {
        const LayerRange range = layers_of(model, plan, v);
        for (int layer = range.first; layer < range.last; ++layer) {
            flop +=
                recomputed_layer_flop(model, token, recompute_of(plan, layer - range.first), model.is_moe_layer(layer));
        }
    }
    return flop;
}

void expect_closed_form(const Case& c, const std::string& name) {
    const models::Layout layout = layout_of(c.plan);
    const double tokens = static_cast<double>(layout.global_batch) * c.workload.sequence_length;
    const double useful = tokens * count_token_flop(c.workload).training();
    const double recomputed = tokens * recomputed_token_flop(c.workload, c.plan);
    const Flop flop = flop_of(c, layout);
    EXPECT_NEAR(flop.useful, useful, 1e-9 * useful) << name;
    EXPECT_NEAR(flop.recomputed, recomputed, 1e-9 * useful) << name;
}

TEST(ProgramFlop, of_every_shipped_plan_is_tokens_times_the_closed_form_of_its_workload) {
    for (const auto& [plan_name, workload_name] : shipped()) {
        const models::Workload model = workload(workload_name);
        expect_closed_form({model, resolve_plan(plan(plan_name), model, 0), stack("optimus")}, plan_name);
    }
}

TEST(ProgramFlop, of_300_random_plans_is_tokens_times_the_closed_form_of_their_workload) {
    for (std::uint64_t seed = 1'000; seed < 1'300; ++seed) {
        const Case c = random_case(seed);
        expect_closed_form(c, "seed " + std::to_string(seed) + " " + c.workload.name + " tp " +
                                  std::to_string(c.plan.tp) + " etp " + std::to_string(c.plan.etp) + " cp " +
                                  std::to_string(c.plan.cp));
    }
}

TEST(ProgramFlop, every_second_product_again_is_its_share_of_the_closed_form) {
    for (const auto& [plan_name, workload_name] : shipped()) {
        const models::Workload model = workload(workload_name);
        models::Plan again = plan(plan_name);
        again.recompute = {.norm = true, .activation = true, .alternate_products = true};
        again.recompute_layers = 0;
        expect_closed_form({model, resolve_plan(again, model, 0), stack("optimus")}, plan_name);
    }
}

TEST(ProgramFlop, recomputing_norms_alone_adds_no_flop_and_the_two_other_kinds_add_up) {
    for (const auto& [plan_name, workload_name] : shipped()) {
        const models::Workload model = workload(workload_name);
        Case c{model, resolve_plan(plan(plan_name), model, 0), stack("optimus")};
        const models::Layout layout = layout_of(c.plan);
        const auto recomputed = [&](bool norm, bool attention, bool expert) {
            c.plan.recompute.norm = norm, c.plan.recompute.attention = attention, c.plan.recompute.expert = expert;
            return flop_of(c, layout).recomputed;
        };
        EXPECT_EQ(recomputed(true, false, false), 0) << plan_name;
        const double attention = recomputed(false, true, false), expert = recomputed(false, false, true);
        EXPECT_GT(attention, 0) << plan_name;
        EXPECT_GT(expert, 0) << plan_name;
        EXPECT_NEAR(recomputed(true, true, true), attention + expert, 1e-9 * (attention + expert)) << plan_name;
    }
}

}  // namespace
}  // namespace auspex::schedule
