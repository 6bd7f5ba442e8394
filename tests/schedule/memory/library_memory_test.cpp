/// @file Memory that depends on what a library keeps: shards, gradients, copies of weights, rows that come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"
#include "schedule/memory/memory_sizes.hpp"
#include "schedule/program/block_builder.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Memory {
    Case c;
    models::Layout layout;
    Program program;
    StageMemory stage;
};

Memory memory_of(const models::Workload& model, const models::Plan& p, const models::Stack& s) {
    static const models::Machine kAurora = machine();
    Case c{model, resolve_plan(p, model, 0), s};
    const models::Layout layout = layout_of(c.plan);
    Program program = build_program(c.workload, c.plan, c.stack, layout);
    StageMemory stage = stage_memory(c.workload, c.plan, c.stack, kAurora, layout, program, 0, {});
    return {std::move(c), layout, std::move(program), std::move(stage)};
}

double bytes_of(const std::vector<std::pair<std::string, double>>& labels, const std::string& name) {
    return std::ranges::find(labels, name, &std::pair<std::string, double>::first)->second;
}

/// mula-1b on 4 replicas, one micro-batch, nothing recomputed.
models::Plan four_replicas() {
    models::Plan p = plan("mula-1b");
    p.dp = 4, p.pp = 1, p.micro_batches = 1;
    p.recompute = {};
    p.gradient_bytes = 4;
    p.optimizer = models::OptimizerSharding::kReplicated;
    return p;
}

/// Weights, gradients and both moments, 2 + 2 + 4 bytes, in place of 2 + 2 + 4 + 8.
TEST(LibraryMemory, states_in_bf16_are_half_and_have_no_copy_of_the_weights) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = four_replicas();
    p.bf16_states = true;
    const Memory m = memory_of(model, p, stack("optimus"));
    EXPECT_EQ(bytes_of(m.stage.by_label, "master_weights"), 0);
    EXPECT_EQ(bytes_of(m.stage.by_label, "moments"), 4 * count_parameters(model).total());
    EXPECT_EQ(bytes_of(m.stage.by_label, "gradients"), 2 * count_parameters(model).total());  // though summed in fp32
}

// Whole weights are there before and after they are gathered anew: no pass holds more, router logits among it.
TEST(LibraryMemory, weights_gathered_in_the_first_forward_pass_take_no_more_than_behind_the_update) {
    models::Workload model = workload("mula-7b-a1b");
    model.global_aux_loss = true;
    models::Plan p = four_replicas();
    p.micro_batches = 3, p.overlap_dp = true;
    p.optimizer = models::OptimizerSharding::kEpAware;
    models::Stack ahead = stack("megatron-core"), behind = ahead;
    behind.gathers_in_forward = false;
    const Memory early = memory_of(model, p, ahead), late = memory_of(model, p, behind);
    EXPECT_NE(early.program.blocks.size(), late.program.blocks.size());
    EXPECT_EQ(early.stage.by_label, late.stage.by_label);
}

TEST(LibraryMemory, weights_in_8_bits_alone_save_those_in_bf16) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = four_replicas();
    p.fp8 = models::Fp8::kTensorwise;
    const Memory copies = memory_of(model, p, stack("optimus"));
    p.fp8_weights_only = true;
    const Memory only = memory_of(model, p, stack("optimus"));
    EXPECT_EQ(bytes_of(copies.stage.by_label, "weights") - bytes_of(only.stage.by_label, "weights"),
              2 * parameters_in_fp8(model, only.c.plan, 0));
}

/// Of each layer [t K, h] of 2 bytes.
TEST(LibraryMemory, rows_that_come_back_are_not_kept_where_the_activation_was_weighted) {
    const models::Workload model = workload("toy-moe");
    models::Plan p = plan("toy-ep2-dp2");
    p.dispatch = models::Dispatch::kAllToAll;
    p.pp = 1, p.recompute = {};
    models::Stack s = stack("optimus"), weighted = s;
    weighted.weights_in_activation = true;
    const Memory before = memory_of(model, p, s), after = memory_of(model, p, weighted);
    const double rows = static_cast<double>(before.c.plan.micro_batch_size) * model.sequence_length * model.top_k;
    EXPECT_EQ(bytes_of(before.stage.peak_by_label, "activations") - bytes_of(after.stage.peak_by_label, "activations"),
              model.layers * rows * model.hidden_size * 2);
}

/// Outputs of R rows of h once more in fp32 and joined in fp32, 8 bytes an element, while the experts run forward; at
/// the peak, in the backward pass, their gradient in fp32 and once more in bf16, 6. With a loop they are none.
TEST(LibraryMemory, biases_that_are_added_expert_by_expert_take_room_in_fp32) {
    models::Workload model = workload("toy-moe");
    model.biases = true;
    models::Plan p = plan("toy-ep2-dp2");
    p.dispatch = models::Dispatch::kAllToAll;
    p.pp = 1, p.recompute = {};
    models::Stack s = stack("optimus"), by_expert = s;
    by_expert.biases_by_expert = true;
    const auto peak = [&](models::ExpertKernels kernels, const models::Stack& software) {
        models::Plan own = p;
        own.expert_kernels = kernels;
        const Memory memory = memory_of(model, own, software);
        return bytes_of(memory.stage.peak_by_label, "workspace");
    };
    const double rows = static_cast<double>(p.micro_batch_size) * model.sequence_length * model.top_k;
    const double grouped = peak(models::ExpertKernels::kGrouped, s),
                 more = peak(models::ExpertKernels::kGrouped, by_expert);
    EXPECT_GT(more, grouped);
    EXPECT_LE(more, grouped + 8 * rows * model.hidden_size);
    EXPECT_EQ(peak(models::ExpertKernels::kLoop, by_expert), peak(models::ExpertKernels::kLoop, s));
    // By masks a loop looks for no rows: its biases are added as those of grouped experts, and so is their room.
    const MemorySizes masks = [&] {
        models::Plan own = p;
        own.expert_kernels = models::ExpertKernels::kLoop;
        models::Stack by_masks = by_expert;
        by_masks.dispatches_by_masks = true;
        return memory_sizes(model, resolve_plan(own, model, 0), by_masks);
    }();
    EXPECT_TRUE(masks.biases_by_expert);
}

/// Tokens that came by node are copied into the experts' rows, and are not kept: what stays of a layer is what an
/// all-to-all leaves, but choices and weights of the T tokens that came (12 bytes a choice) in place of each row's
/// expert and place of arrival (12 bytes), and of offsets of all experts.
TEST(LibraryMemory, tokens_that_come_by_node_leave_the_rows_of_experts_alone) {
    const models::Workload model = workload("toy-moe");
    models::Plan p = plan("toy-ep2-dp2");
    p.pp = 1, p.recompute = {};
    models::Stack s = stack("optimus");
    s.weights_in_activation = true;
    p.dispatch = models::Dispatch::kAllToAll;
    const Memory sent = memory_of(model, p, s);
    p.dispatch = models::Dispatch::kHierarchical;
    const Memory by_node = memory_of(model, p, s);
    const double t = static_cast<double>(sent.c.plan.micro_batch_size) * model.sequence_length;
    const double came = std::ceil(gathered_tokens(model, by_node.c.plan, t));
    const double more = 12 * came * model.top_k - 12 * t * model.top_k - 8 * (model.num_experts + 1);
    EXPECT_EQ(bytes_of(by_node.stage.peak_by_label, "activations") - bytes_of(sent.stage.peak_by_label, "activations"),
              model.layers * more);
}

/// Of each layer one-hot numbers in fp32 and two masks of 2 bytes, [t, R] each, R = 1.25 t K: 8 bytes an element.
TEST(LibraryMemory, masks_of_dispatch_are_kept_for_the_backward_pass) {
    models::Workload model = workload("toy-moe");
    model.capacity_factor = 1.25, model.pad_to_capacity = true;
    models::Plan p = plan("toy-ep2-dp2");
    p.dispatch = models::Dispatch::kAllToAll;
    p.pp = 1, p.recompute = {};
    for (const int ep : {1, 2}) {
        p.ep = ep;
        models::Stack s = stack("optimus"), masks = s;
        masks.dispatches_by_masks = true;
        const Memory without = memory_of(model, p, s), with = memory_of(model, p, masks);
        const double t = static_cast<double>(without.c.plan.micro_batch_size) * model.sequence_length;
        const double rows = 1.25 * t * model.top_k;
        EXPECT_EQ(
            bytes_of(with.stage.peak_by_label, "activations") - bytes_of(without.stage.peak_by_label, "activations"),
            model.layers * t * rows * 8)
            << ep;
        // While they are made 8 bytes more, the one-hot numbers as they come.
        EXPECT_GE(bytes_of(with.stage.peak_by_label, "workspace"), t * rows * 8);
        // Experts that are recomputed make them again.
        models::Plan again = p;
        again.recompute.expert = true;
        EXPECT_EQ(bytes_of(memory_of(model, again, masks).stage.peak_by_label, "activations"),
                  bytes_of(memory_of(model, again, s).stage.peak_by_label, "activations"));
    }
}

/// Checkpoints by operation. The feed-forward's input is made again from attention's output. Eager they save every
/// product that they do not repeat, the down projection's among it, which nothing reads; compiled what is read.
TEST(LibraryMemory, every_second_product_is_saved_and_those_that_nothing_reads_where_the_stack_says_so) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = four_replicas();
    p.recompute.norm = p.recompute.activation = p.recompute.alternate_products = true;
    models::Stack s = stack("optimus"), eager = s;
    eager.keeps_unread_products = true;
    const double t = static_cast<double>(p.micro_batch_size) * model.sequence_length, h = model.hidden_size;
    const double q = model.heads * model.head_size, values = model.kv_heads * model.head_size;
    // The layer's input, queries, values, attention's output and log-sum-exps; one gate.
    const double layer = t * (h * 2 + (q + values) * 2 + q * 2 + model.heads * 4 + model.intermediate_size * 2);
    const double head = t * 2 * h * 2;  // the final norm's input and output
    EXPECT_EQ(bytes_of(memory_of(model, p, s).stage.peak_by_label, "activations"), model.layers * layer + head);
    EXPECT_EQ(bytes_of(memory_of(model, p, eager).stage.peak_by_label, "activations"),
              model.layers * (layer + t * h * 2) + head);
}

models::Plan sharded(int micro_batches) {
    models::Plan p = four_replicas();
    p.optimizer = models::OptimizerSharding::kFsdp;
    p.micro_batches = micro_batches;
    return p;
}

TEST(LibraryMemory, shards_that_are_cast_as_they_are_gathered_are_there_once) {
    const models::Workload model = workload("mula-1b");
    models::Stack s = stack("torchtitan"), both = s;
    both.casts_shards = false;
    const double shard = count_parameters(model).total() / 4;
    EXPECT_EQ(bytes_of(memory_of(model, sharded(1), s).stage.by_label, "weights"), 0);
    EXPECT_NEAR(bytes_of(memory_of(model, sharded(1), both).stage.by_label, "weights"), 2 * shard, 1);
    models::Plan p = sharded(1);
    p.bf16_states = true;  // nothing to cast from
    EXPECT_NEAR(bytes_of(memory_of(model, p, s).stage.by_label, "weights"), 2 * shard, 1);
}

/// The peak is in front of the backward pass: of one micro-batch there are no gradients then, of two those of the
/// first.
TEST(LibraryMemory, gradients_are_released_by_the_update) {
    const models::Workload model = workload("mula-1b");
    const models::Stack s = stack("torchtitan");
    const double shard = count_parameters(model).total() / 4;
    const Memory one = memory_of(model, sharded(1), s), two = memory_of(model, sharded(2), s);
    EXPECT_EQ(bytes_of(one.stage.by_label, "gradients"), 0);
    EXPECT_NEAR(bytes_of(one.stage.peak_by_label, "gradients"), 4 * shard, 1);
    EXPECT_NEAR(bytes_of(two.stage.by_label, "gradients"), 4 * shard, 1);
}

/// Whatever runs, a unit's shard is there from its sum on: at the end all of them beside what the first layer needs.
TEST(LibraryMemory, gradients_grow_unit_by_unit) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = sharded(1);
    p.recompute.layer = true;
    models::Stack s = stack("torchtitan"), holds = s;
    holds.frees_gradients = false;
    const double shard = count_parameters(model).total() / 4;
    const double freed = memory_of(model, p, s).stage.peak_bytes, held = memory_of(model, p, holds).stage.peak_bytes;
    EXPECT_LE(freed, held);
    EXPECT_GE(freed, held - 4 * shard);
    // Without logits and activations of note the peak is at the end of the backward pass: all but the last sums are
    // there.
    p.micro_batch_size = 1, p.dp = 2;
    models::Workload small = model;
    small.vocab_size = 512, small.sequence_length = 128;
    const Memory m = memory_of(small, p, s), before = memory_of(small, p, holds);
    EXPECT_GT(bytes_of(m.stage.by_label, "gradients"), 0.8 * bytes_of(before.stage.by_label, "gradients"));
}

/// gpipe runs all micro-batches forward first, of whose heads a library holds one.
TEST(LibraryMemory, the_last_unit_of_gpipe_is_gathered_again) {
    const models::Workload model = workload("mula-1b");
    models::Stack s = stack("torchtitan"), gathers_again = s;
    gathers_again.keeps_last_unit = false;
    models::Plan p = sharded(4);
    p.schedule = models::ScheduleKind::kGpipe;
    EXPECT_EQ(memory_of(model, p, s).stage.peak_bytes, memory_of(model, p, gathers_again).stage.peak_bytes);
}

/// A layer's gradients of 2 bytes and their copy of 4, beside two layers' weights of 2.
TEST(LibraryMemory, gradients_are_copied_into_what_is_summed_in_fp32) {
    const models::Workload model = workload("mula-1b");
    models::Plan p = sharded(2);
    const models::Stack s = stack("torchtitan");
    const double layer = layer_parameters(model, p, 0).dense, head = head_parameters(model, p, 0).dense;
    const double most = std::max(2 * layer * 2 + layer * (4 + 2), head * 2 + layer * 2 + head * (4 + 2));
    EXPECT_NEAR(bytes_of(memory_of(model, p, s).stage.peak_by_label, "communication"), most, 0.02 * most);
    p.gradient_bytes = 2;  // summed as they are
    const double least = std::max(2 * layer * 2 + layer * 2, head * 2 + layer * 2 + head * 2);
    EXPECT_NEAR(bytes_of(memory_of(model, p, s).stage.peak_by_label, "communication"), least, 0.02 * least);
}

TEST(LibraryMemory, the_last_unit_stays_gathered_which_saves_a_gather) {
    const models::Workload model = workload("mula-1b");
    ASSERT_FALSE(model.tied_embeddings);
    models::Stack s = stack("torchtitan"), gathers_again = s;
    gathers_again.keeps_last_unit = false;
    s.cross_entropy_copies = gathers_again.cross_entropy_copies = 3;
    s.allocator = gathers_again.allocator = models::Allocator::kNone;  // copies in the forward pass
    const auto gathers = [](const Memory& m) {
        return std::ranges::count_if(m.program.operations, [](const Operation& op) {
            return op.kind == OpKind::kParameterGatherDense && op.unit >= 0;
        });
    };
    const Memory stays = memory_of(model, sharded(1), s), again = memory_of(model, sharded(1), gathers_again);
    EXPECT_EQ(gathers(again) - gathers(stays), 1);
    EXPECT_NE(stays.stage.peak_operation.find("cross_entropy"), std::string::npos) << stays.stage.peak_operation;
    const double head = 2 * head_parameters(model, stays.c.plan, 0).dense;
    EXPECT_NEAR(bytes_of(stays.stage.by_label, "communication") - bytes_of(again.stage.by_label, "communication"), head,
                1);
}

/// t tokens of V logits. PyTorch's loss, compiled: logits and their gradient, 2 + 2 bytes. In several passes, forward
/// 2 + 4 + 4 (logits, cast, log-softmax), backward 4 + 4 + 4 (log-softmax, its gradient, that of the cast logits). Over
/// two slices of the vocabulary backward one more. Three numbers a token beside them.
TEST(LibraryMemory, logits_of_pytorch_come_and_go_with_the_passes_of_the_loss) {
    const models::Workload model = workload("mula-1b");
    models::Stack s = stack("torchtitan");
    models::Plan p = sharded(1), split = p;
    split.tp = 2, split.dp = p.dp / 2;
    const double t = model.sequence_length, numbers = t * model.vocab_size;
    const auto logits = [&](const models::Plan& of) {
        return bytes_of(memory_of(model, of, s).stage.peak_by_label, "logits");
    };
    s.cross_entropy_copies = 0;
    EXPECT_EQ(logits(p), (2 + 2) * numbers + 12 * t);
    s.cross_entropy_copies = 2;
    EXPECT_EQ(logits(p), (4 + 4 + 4) * numbers + 12 * t);
    EXPECT_EQ(logits(split), (4 + 3 * 4) * numbers / 2 + 12 * t);
    s.cross_entropy_copies = 1;
    EXPECT_EQ(logits(p), (4 + 4) * numbers + 12 * t);
}

}  // namespace
}  // namespace auspex::schedule
