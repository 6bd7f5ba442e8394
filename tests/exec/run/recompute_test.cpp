/// @file What is recomputed, or waits in host memory, has the bits of what was kept: gradients are those without.
#include <gtest/gtest.h>

#include "../exec_fixture.hpp"
#include "layout_plans.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

/// Of the plan with each word that the model has, alone and for the first layer of a stage only.
void expect_same_gradients(const models::Workload& workload, const models::Plan& plan) {
    const auto gradients = [&](const models::Plan& p) {
        return one_step<Fp32>(run_inputs(workload, p, still_training()));
    };
    const StepResult kept = gradients(plan);
    for (const int layers : {1, 2}) {
        for (const bool input_only : {false, true}) {
            models::Plan p = plan;
            p.offload_layers = layers;
            p.recompute.layer = input_only;
            EXPECT_EQ(gradients(p).gradients, kept.gradients)
                << layers << " layers of " << workload.name << " offloaded, " << to_string(p.schedule) << ", tp "
                << p.tp << ", " << to_string(p.dispatch) << (input_only ? ", recomputed" : "");
        }
    }
    for (const auto& [word, part] : models::kRecomputeWords) {
        const bool has_part = word != "alternate_products" &&  // not bound
                              (word != "latent_up" || workload.q_rank > 0) &&
                              (word != "shared_experts" || workload.shared_experts > 0);
        for (int layers = 0; has_part && layers < 2; ++layers) {
            models::Plan p = plan;
            p.recompute.*part = true;
            p.recompute_layers = layers;
            const StepResult made_again = gradients(p);
            EXPECT_EQ(made_again.loss.cross_entropy, kept.loss.cross_entropy) << word << " of " << workload.name;
            EXPECT_EQ(made_again.gradients, kept.gradients)
                << word << " of " << layers << " layers of " << workload.name << ", " << to_string(p.schedule)
                << ", tp " << p.tp << ", " << to_string(p.dispatch);
        }
    }
}

models::Workload shared_model() {
    models::Workload w = deep(mixture_model());
    w.shared_experts = 1, w.first_dense_layers = 1, w.intermediate_size = 12;
    return w;
}

TEST(Recompute, of_dense_layers_changes_no_gradient) {
    for (const models::Workload& w : {deep(dense_model()), deep(gpt_model()), deep(latent(dense_model(), 6))}) {
        expect_same_gradients(w, single_plan());
        expect_same_gradients(w, split_plan(true));
        expect_same_gradients(w, pipeline_plan(models::ScheduleKind::kZbH1));
    }
}

TEST(Recompute, of_experts_changes_no_gradient) {
    for (const models::Dispatch dispatch : {models::Dispatch::kAllGatherReduceScatter, models::Dispatch::kAllToAll}) {
        for (const models::ExpertKernels kernels : {models::ExpertKernels::kLoop, models::ExpertKernels::kFused}) {
            models::Plan alone = routed(single_plan(), dispatch, kernels);
            expect_same_gradients(shared_model(), alone);
            models::Plan sliced = routed(split_plan(true), dispatch, kernels);
            sliced.ep = 2;
            expect_same_gradients(shared_model(), sliced);
            expect_same_gradients(shared_model(), routed(pipeline_plan(models::ScheduleKind::kZbv), dispatch, kernels));
        }
    }
}

}  // namespace
}  // namespace auspex::exec
