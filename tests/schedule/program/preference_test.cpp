/// @file Direct preference optimisation: a frozen reference's forward pass beside the model's own.
#include <gtest/gtest.h>

#include "../plan_fixture.hpp"
#include "base/error.hpp"
#include "schedule/bindings/bindings.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Built {
    models::Workload model;
    models::Plan plan;
    Program program;

    Built(const std::string& name, models::Objective objective, int pp = 2) : model(workload(name)) {
        model.objective = objective;
        models::Plan given;
        given.pp = pp, given.dp = 2, given.micro_batch_size = 2, given.micro_batches = 4;
        plan = resolve_plan(given, model, 0);
        program = build_program(model, plan, stack("bare"), rank_grid(plan, tiles_of(plan)));
    }

    [[nodiscard]] double flop(Phase phase) const {
        double sum = 0;
        for (const Role& role : program.roles) {
            for (const BlockUse& use : role.order) {
                for (const Operation& op : program.operations_of(program.blocks[use.block])) {
                    for (const models::Kernel& kernel : program.kernels_of(op)) {
                        sum += op.phase == phase && op.comm == CommKind::kNone ? kernel.flop : 0;
                    }
                }
            }
        }
        return sum;
    }
    [[nodiscard]] double sent(OpKind kind) const {
        for (const Operation& op : program.operations) {
            if (op.kind == kind) {
                return op.bytes;
            }
        }
        return 0;
    }
    [[nodiscard]] StageMemory memory(int stage) const {
        return stage_memory(model, plan, stack("bare"), machine("dgx-h100"), layout_of(plan), program, stage, {});
    }
};

// A step's products: forward twice, and backward, which is twice forward: 4/3 of those of next tokens.
TEST(Preference, a_step_computes_two_forward_passes_and_one_backward) {
    for (const char* name : {"toy-dense", "toy-moe"}) {
        const Built plain(name, models::Objective::kNextToken), pairs(name, models::Objective::kDpo);
        EXPECT_EQ(plain.flop(Phase::kReference), 0);
        EXPECT_DOUBLE_EQ(pairs.flop(Phase::kReference), plain.flop(Phase::kForward)) << name;
        for (const Phase phase : {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
            EXPECT_DOUBLE_EQ(pairs.flop(phase), plain.flop(phase)) << name;
        }
        EXPECT_DOUBLE_EQ(count_token_flop(pairs.model).training(), 4 * count_token_flop(plain.model).forward());
    }
}

TEST(Preference, a_message_forward_has_both_activations_and_one_backward_the_models_gradient) {
    const Built plain("toy-dense", models::Objective::kNextToken), pairs("toy-dense", models::Objective::kDpo);
    EXPECT_EQ(pairs.sent(OpKind::kSendForward), 2 * plain.sent(OpKind::kSendForward));
    EXPECT_EQ(pairs.sent(OpKind::kSendBackward), plain.sent(OpKind::kSendBackward));
}

// 2 bytes a parameter of the stage more in bf16, no gradients and no states.
TEST(Preference, memory_has_the_references_weights_once_more_and_nothing_else) {
    const Built plain("toy-dense", models::Objective::kNextToken), pairs("toy-dense", models::Objective::kDpo);
    for (int stage = 0; stage < 2; ++stage) {
        const StageMemory before = plain.memory(stage), with = pairs.memory(stage);
        EXPECT_DOUBLE_EQ(with.peak_bytes - before.peak_bytes,
                         2 * stage_parameters(plain.model, plain.plan, stage).dense);
    }
}

TEST(Preference, what_does_not_fit_is_refused_by_name) {
    const auto error = [](const std::function<void(models::Plan&)>& change) -> std::string {
        models::Workload model = workload("toy-dense");
        model.objective = models::Objective::kDpo;
        models::Plan given;
        given.dp = 2, given.micro_batch_size = 2;
        change(given);
        try {
            static_cast<void>(resolve_plan(given, model, 0));
        } catch (const InputError& refused) {
            return refused.what();
        }
        return "accepted";
    };
    EXPECT_EQ(error([](models::Plan&) {}), "accepted");
    EXPECT_NE(error([](models::Plan& p) { p.micro_batch_size = 3; }).find("$.micro_batch_size: found 3"),
              std::string::npos);
    EXPECT_NE(error([](models::Plan& p) {
                  p.optimizer = models::OptimizerSharding::kFsdp;
              }).find("$.optimizer: found \"fsdp\""),
              std::string::npos);
    const Built pairs("toy-dense", models::Objective::kDpo);
    const std::vector<std::string> found = unbound_operations(pairs.model, pairs.plan, stack("auspex"), pairs.program);
    EXPECT_NE(std::ranges::find(
                  found, "operation cross_entropy: direct preference optimisation (workload.objective) is not bound"),
              found.end());
}

}  // namespace
}  // namespace auspex::schedule
