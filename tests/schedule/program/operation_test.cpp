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

// Biases of R outputs of H elements of 2 bytes: product 4, sum 2 + 4 + 4, join 4 + 4, cast 4 + 2; backward casts 2 + 4
// and 4 + 2, join 2 + 2, and for biases and weights each a product of 4 + 4 and a sum of 4.
TEST(ExpertBiases, that_are_added_expert_by_expert_are_passes_in_fp32) {
    models::Workload model = workload("toy-moe");
    model.biases = true;
    const double rows = 64.0 * model.top_k, h = model.hidden_size;
    models::Stack s = stack("optimus"), by_expert = s;
    by_expert.biases_by_expert = true;
    for (const models::Dispatch dispatch : {models::Dispatch::kAllToAll, models::Dispatch::kHierarchical}) {
        const models::Plan p = toy_plan(dispatch, models::ExpertKernels::kGrouped);
        const Built inside(model, p, s), outside(model, p, by_expert);
        const auto more = [&](Phase phase) {
            return outside.bytes(OpKind::kExpertComputation, phase) - inside.bytes(OpKind::kExpertComputation, phase);
        };
        EXPECT_DOUBLE_EQ(more(Phase::kForward), 28 * rows * h);
        EXPECT_DOUBLE_EQ(more(Phase::kBackwardInput), 40 * rows * h);
        EXPECT_DOUBLE_EQ(more(Phase::kBackwardWeight), 0);
    }
    model.biases = false;
    const models::Plan p = toy_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kGrouped);
    EXPECT_EQ(Built(model, p, by_expert).bytes(OpKind::kExpertComputation, Phase::kForward),
              Built(model, p, s).bytes(OpKind::kExpertComputation, Phase::kForward));
}

// E products of an expert's rows in place of one of all rows: FLOP and bytes are the same, and so is all else.
TEST(ExpertProducts, that_are_run_one_after_another_are_a_product_an_expert) {
    const models::Workload model = workload("toy-moe");
    models::Stack together = stack("optimus"), apart = together;
    apart.products_by_expert = true;
    const models::Plan p = toy_plan(models::Dispatch::kAllToAll, models::ExpertKernels::kFused);
    const Built joined(model, p, together), single(model, p, apart);
    const double experts = model.num_experts / 2.0;
    for (const Phase phase : {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
        EXPECT_DOUBLE_EQ(single.bytes(OpKind::kExpertComputation, phase),
                         joined.bytes(OpKind::kExpertComputation, phase));
        const auto kernels = single.program.kernels_of(*single.operations(OpKind::kExpertComputation, phase).front());
        const auto others = joined.program.kernels_of(*joined.operations(OpKind::kExpertComputation, phase).front());
        ASSERT_EQ(kernels.size(), others.size());
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const bool is_product = others[i].type == models::KernelType::kGemm;
            EXPECT_EQ(others[i].groups, is_product ? experts : 1);
            EXPECT_EQ(kernels[i].groups, 1);
            const bool is_of_weights = phase == Phase::kBackwardWeight;  // added to those of an expert behind each
            EXPECT_EQ(kernels[i].repeat, is_product || is_of_weights ? experts : 1);
            EXPECT_DOUBLE_EQ(kernels[i].repeat * kernels[i].work_flop, others[i].work_flop);
        }
    }
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

/// FLOP that products of this kind execute, and those of the model.
std::pair<double, double> flop_of(const Built& built, OpKind kind, Phase phase) {
    std::pair<double, double> sum;
    for (const Operation* op : built.operations(kind, phase)) {
        for (const models::Kernel& kernel : built.program.kernels_of(*op)) {
            sum.first += kernel.repeat * kernel.work_flop;
            sum.second += kernel.repeat * kernel.flop;
        }
    }
    return sum;
}

/// The toy mixture with a capacity of 1.5, padded: t = 64 tokens, R = 1.5 t K rows of all experts.
Built by_masks(models::ExpertKernels kernels, int ep, bool masks = true) {
    models::Workload model = workload("toy-moe");
    model.capacity_factor = 1.5, model.pad_to_capacity = true;
    models::Plan p = toy_plan(models::Dispatch::kAllToAll, kernels);
    p.ep = ep;
    models::Stack software = stack("optimus");
    software.dispatches_by_masks = masks;
    return {model, p, software};
}

// Two products of 2 t R h forward, three backward (rows, their weights, tokens), none of them the model's.
TEST(Masks, products_with_one_hot_masks_form_rows_and_sum_them_up) {
    for (const int ep : {1, 2}) {
        const Built b = by_masks(models::ExpertKernels::kLoop, ep);
        const double t = 64, h = b.workload.hidden_size, rows = 1.5 * t * b.workload.top_k, product = 2 * t * rows * h;
        const auto expect = [&](OpKind kind, Phase phase, double products) {
            const auto [executed, counted] = flop_of(b, kind, phase);
            EXPECT_DOUBLE_EQ(executed, products * product) << to_string(kind) << ", ep " << ep;
            EXPECT_EQ(counted, 0) << to_string(kind);
        };
        expect(OpKind::kIndexGeneration, Phase::kForward, 1);
        expect(OpKind::kOutputReduction, Phase::kForward, 1);
        expect(OpKind::kOutputReduction, Phase::kBackwardInput, 2);
        if (ep > 1) {
            expect(OpKind::kIndexGeneration, Phase::kBackwardInput, 1);
        } else {  // among the experts' own, as what it replaces
            const Built plain = by_masks(models::ExpertKernels::kLoop, ep, false);
            const double own = flop_of(plain, OpKind::kExpertComputation, Phase::kBackwardInput).first;
            EXPECT_DOUBLE_EQ(flop_of(b, OpKind::kExpertComputation, Phase::kBackwardInput).first, own + product);
        }
    }
}

// Forward (38 + 2 a) bytes an element of [t, R]; backward a + 20, beside the products' operands.
TEST(Masks, masks_are_made_once_and_their_gradients_are_those_of_weights) {
    const Built b = by_masks(models::ExpertKernels::kLoop, 2);
    const double t = 64, h = b.workload.hidden_size, rows = 1.5 * t * b.workload.top_k, a = 2;
    EXPECT_DOUBLE_EQ(b.bytes(OpKind::kTokenCounting, Phase::kForward), (38 + 2 * a) * t * rows);
    EXPECT_DOUBLE_EQ(b.bytes(OpKind::kOutputReduction, Phase::kBackwardInput),
                     (a + 20) * t * rows + 2 * a * (t * rows + rows * h + t * h));
}

// The products of experts are those of any other dispatch: R rows; with the loop one launch an expert.
TEST(Masks, experts_compute_what_they_do_without) {
    for (const models::ExpertKernels kernels : {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped}) {
        const Built masks = by_masks(kernels, 2), plain = by_masks(kernels, 2, false);
        for (const Phase phase : {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
            EXPECT_DOUBLE_EQ(flop_of(masks, OpKind::kExpertComputation, phase).first,
                             flop_of(plain, OpKind::kExpertComputation, phase).first);
        }
        const Operation* op = masks.operations(OpKind::kExpertComputation, Phase::kForward).front();
        for (const models::Kernel& kernel : masks.program.kernels_of(*op)) {
            EXPECT_EQ(kernel.host_syncs, 0);
            if (kernel.type == models::KernelType::kGemm) {
                const double local = masks.workload.num_experts / 2.0;
                EXPECT_EQ(kernel.repeat, kernels == models::ExpertKernels::kLoop ? local : 1);
            }
        }
    }
}

// The square of a micro-batch: twice the tokens, four times the masks and their products.
TEST(Masks, what_masks_take_grows_with_the_square_of_the_micro_batch) {
    const Built one = by_masks(models::ExpertKernels::kLoop, 2);
    models::Plan p = one.plan;
    p.micro_batch_size *= 2;
    models::Stack software = stack("optimus");
    software.dispatches_by_masks = true;
    const Built two(one.workload, p, software);
    EXPECT_DOUBLE_EQ(two.bytes(OpKind::kTokenCounting, Phase::kForward),
                     4 * one.bytes(OpKind::kTokenCounting, Phase::kForward));
    EXPECT_DOUBLE_EQ(flop_of(two, OpKind::kIndexGeneration, Phase::kForward).first,
                     4 * flop_of(one, OpKind::kIndexGeneration, Phase::kForward).first);
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

// dW [k, n] of a product with m rows: fp32 sums are read and written, 8 bytes a weight, of which the product hides 4.
TEST(FusedAccumulation, products_take_as_long_on_top_as_they_move_beyond_bf16) {
    const models::Workload model = workload("toy-dense");
    const auto moved = [&](double gradient_bytes, double exposed) {
        models::Stack fused = stack("bare");
        fused.kernels.gradient_accumulation = 0, fused.accumulation_exposed = exposed;
        models::Plan p = plan("toy-dp4");
        p.gradient_bytes = gradient_bytes;
        const Built b(model, p, fused);
        const Operation* op = b.operations(OpKind::kAttentionOutput, Phase::kBackwardWeight).front();
        double bytes = 0;
        for (const models::Kernel& kernel : b.program.kernels_of(*op)) {
            if (kernel.type == models::KernelType::kMemory) {
                EXPECT_EQ(kernel.launches, 0);
                bytes += kernel.bytes;
            }
        }
        return bytes;
    };
    const double weights = static_cast<double>(model.hidden_size) * model.heads * model.head_size;
    EXPECT_DOUBLE_EQ(moved(4, 0.9), 0.9 * 4 * weights);
    EXPECT_DOUBLE_EQ(moved(2, 0.9), 0);
    EXPECT_DOUBLE_EQ(moved(4, 0), 0);
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
