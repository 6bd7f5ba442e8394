/// @file Work of single operations against closed forms: what all-to-all and all-gather dispatch leave to a rank,
/// shared experts, latent attention, precision.
#include <gtest/gtest.h>

#include "../plan_fixture.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Built {
    models::Workload workload;
    models::Plan plan;
    Program program;
    Built(const models::Workload& model, const models::Plan& p, const models::Stack& software)
        : workload(model),
          plan(resolve_plan(p, model, 0)),
          program(build_program(workload, plan, software, layout_of(plan))) {}

    /// Bytes that kernels of this kind move in one layer of one micro-batch, first stage.
    [[nodiscard]] double bytes(OpKind kind, Phase phase, int layer = 0) const {
        double sum = 0;
        for (const Operation* op : operations(kind, phase, layer)) {
            for (const models::Kernel& kernel : program.kernels_of(*op)) {
                sum += kernel.bytes * kernel.repeat;
            }
        }
        return sum;
    }
    [[nodiscard]] std::vector<const Operation*> operations(OpKind kind, Phase phase, int layer = 0) const {
        std::vector<const Operation*> found;
        const BlockKind pass = phase == Phase::kForward ? BlockKind::kForward : BlockKind::kBackward;
        for (const BlockUse& use : program.roles[0].order) {
            const Block& block = program.blocks[use.block];
            if (block.kind == pass && use.micro_batch == 0) {
                for (const Operation& op : program.operations_of(block)) {
                    if (op.kind == kind && op.phase == phase && op.layer == layer) {
                        found.push_back(&op);
                    }
                }
            }
        }
        return found;
    }
};

models::Plan toy_plan(models::Dispatch dispatch, models::ExpertKernels kernels) {
    models::Plan p = plan("toy-ep2-dp2");
    p.dispatch = dispatch, p.expert_kernels = kernels;
    p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
    return p;
}

TEST(AllToAll, local_work_is_on_the_ranks_own_tokens_and_on_the_rows_it_receives) {
    // Fused kernels, one pass each; t = 64 own tokens, R = t K rows, T = 2 t gathered.
    const models::Workload model = workload("toy-moe");
    const Built own(model, toy_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kFused), stack("optimus"));
    const Built gathered(model, toy_plan(models::Dispatch::kAllGatherReduceScatter, models::ExpertKernels::kFused),
                         stack("optimus"));
    const double t = 64, h = model.hidden_size, k = model.top_k, rows = t * k, a = 2, index = 8;
    const auto both = [&](OpKind kind, Phase phase, double with_own, double with_gathered) {
        EXPECT_DOUBLE_EQ(own.bytes(kind, phase), with_own) << to_string(kind);
        EXPECT_DOUBLE_EQ(gathered.bytes(kind, phase), with_gathered) << to_string(kind);
    };
    both(OpKind::kTokenCounting, Phase::kForward, t * k * index, 2 * t * k * index);
    // Permuting reads and writes R rows, at home.
    both(OpKind::kIndexGeneration, Phase::kForward, t * k * index + 3 * rows * 4 + 2 * rows * h * a,
         2 * t * k * index + 3 * rows * 4);
    both(OpKind::kIndexGeneration, Phase::kBackwardInput, (rows + t) * h * a, 0);
    both(OpKind::kOutputReduction, Phase::kForward, (rows + t) * h * a, (rows + 2 * t) * h * a);
    both(OpKind::kOutputReduction, Phase::kBackwardInput, (t + 2 * rows) * h * a, (2 * t + 2 * rows) * h * a);
    // At the experts, each several a rank: sorting in and out, 2 R rows twice, for the one gather of all-gather.
    EXPECT_DOUBLE_EQ(own.bytes(OpKind::kExpertComputation, Phase::kForward) -
                         gathered.bytes(OpKind::kExpertComputation, Phase::kForward),
                     2 * rows * h * a);
    // Backward: 4 R rows for R + T.
    EXPECT_DOUBLE_EQ(own.bytes(OpKind::kExpertComputation, Phase::kBackwardInput) -
                         gathered.bytes(OpKind::kExpertComputation, Phase::kBackwardInput),
                     (4 * rows - (rows + 2 * t)) * h * a);
}

TEST(AllToAll, local_work_does_not_grow_with_ep_however_experts_are_run) {
    // ep 2 -> 4 with the same tokens a rank: the counted and summed work of a rank is that of its own t tokens.
    const models::Workload model = workload("toy-moe");
    for (const models::ExpertKernels kernels :
         {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped, models::ExpertKernels::kFused}) {
        models::Plan p = toy_plan(models::Dispatch::kAllToAll, kernels);
        const Built two(model, p, stack("optimus"));
        p.ep = 4;
        const Built four(model, p, stack("optimus"));
        for (const OpKind kind : {OpKind::kTokenCounting, OpKind::kIndexGeneration, OpKind::kOutputReduction}) {
            EXPECT_GT(two.bytes(kind, Phase::kForward), 0) << to_string(kind);
            EXPECT_DOUBLE_EQ(two.bytes(kind, Phase::kForward), four.bytes(kind, Phase::kForward)) << to_string(kind);
        }
    }
}

TEST(AllToAll, rows_are_indexed_before_they_leave_and_summed_after_they_are_back) {
    const models::Workload model = workload("toy-moe");
    for (const bool all_to_all : {true, false}) {
        const Built b(model,
                      toy_plan(all_to_all ? models::Dispatch::kAllToAll : models::Dispatch::kAllGatherReduceScatter,
                               models::ExpertKernels::kFused),
                      stack("optimus"));
        for (const Phase phase : {Phase::kForward, Phase::kBackwardInput}) {
            // Addresses grow with the order in the block; backward mirrors forward.
            const bool before = all_to_all == (phase == Phase::kForward);
            EXPECT_EQ(b.operations(OpKind::kOutputReduction, phase).front() >
                          b.operations(OpKind::kTokenReturn, phase).front(),
                      before);
        }
        EXPECT_EQ(b.operations(OpKind::kIndexGeneration, Phase::kForward).front() <
                      b.operations(OpKind::kTokenCommunication, Phase::kForward).front(),
                  all_to_all);
    }
}

TEST(Precision, fp32_weights_make_every_product_and_attention_an_fp32_one) {
    for (const double bytes : {2.0, 4.0}) {
        models::Plan p = toy_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped);
        p.weight_bytes = bytes;
        int seen = 0;
        for (const models::Kernel& kernel : Built(workload("toy-moe"), p, stack("optimus")).program.kernels) {
            if (kernel.type != models::KernelType::kMemory) {
                EXPECT_EQ(kernel.operands, bytes == 4 ? models::Operands::kFp32 : models::Operands::kBf16);
                ++seen;
            }
        }
        EXPECT_GT(seen, 0);
    }
}

TEST(SharedExperts, split_over_other_ranks_than_routed_ones_are_summed_over_tp_by_themselves) {
    // t H a = 64 x 64 x 2 bytes over tp, once forward and once backward in the mixture; alike, the sum is common.
    models::Workload model = workload("toy-moe");
    model.shared_experts = 1;
    for (const int etp : {1, 4}) {
        models::Plan p = toy_plan(models::Dispatch::kAllGatherReduceScatter, models::ExpertKernels::kGrouped);
        p.tp = 4, p.etp = etp, p.etp_given = true, p.dp = 4 / etp;
        const Built b(model, p, stack("optimus"));
        for (const Phase phase : {Phase::kForward, Phase::kBackwardInput}) {
            std::vector<const Operation*> sums;
            for (const Operation* op : b.operations(OpKind::kTpAllReduce, phase)) {
                if (op->carries == Carries::kRunningValue) {
                    sums.push_back(op);
                }
            }
            ASSERT_EQ(sums.size(), 2U) << "attention, and shared or all experts";
            EXPECT_DOUBLE_EQ(sums[1]->bytes, 64 * 64 * 2);
            ASSERT_EQ(b.operations(OpKind::kSharedExpert, phase).size(), 1U);
            // The addition behind the return: 3 t H a bytes.
            const auto added = b.operations(OpKind::kSharedExpertSum, phase);
            ASSERT_EQ(added.size(), 1U);
            EXPECT_DOUBLE_EQ(b.program.kernels_of(*added[0]).front().bytes, 3.0 * 64 * 64 * 2);
            EXPECT_GT(added[0], b.operations(OpKind::kTokenReturn, phase).front());
        }
    }
}

TEST(LatentAttention, rotates_and_gathers_one_key_for_all_heads_and_normalises_both_latents) {
    // t tokens, n heads: rotary reads and writes (n + 1) rope columns, the norms q_rank + kv_rank; cp gathers keys and
    // values of every head, n (head + value), and the shared rotated key.
    const models::Workload model = workload("deepseek-v3");
    models::Plan p = plan("deepseek-v3");
    p.cp = 2;
    models::Stack one = stack("optimus");
    one.kernels.rope = one.kernels.qk_norm = 1;
    const Built b(model, p, one);
    const double t = model.sequence_length / 2.0, n = model.heads;
    EXPECT_DOUBLE_EQ(b.bytes(OpKind::kRotaryEmbedding, Phase::kForward), 2 * t * (n + 1) * model.rope_head_size * 2);
    EXPECT_DOUBLE_EQ(b.bytes(OpKind::kQkNorm, Phase::kForward), 2 * t * (model.q_rank + model.kv_rank) * 2);
    EXPECT_DOUBLE_EQ(b.operations(OpKind::kKeyValueGather, Phase::kForward).front()->bytes,
                     2 * t * (n * (model.head_size + model.value_head_size) + model.rope_head_size) * 2);
}

}  // namespace
}  // namespace auspex::schedule
