/// @file Bytes and counts of the program's communications against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../plan_fixture.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// Of one rank of a stage in one step: calls and bytes, by kind of operation.
struct Sum {
    double calls = 0, bytes = 0;
};
std::map<OpKind, Sum> communications(const Program& program, int stage) {
    std::map<OpKind, Sum> sums;
    for (const BlockUse& use : program.roles[static_cast<std::size_t>(stage)].order) {
        for (const Operation& op : program.operations_of(program.blocks[use.block])) {
            if (op.comm != CommKind::kNone && op.comm != CommKind::kReceive) {
                sums[op.kind].calls += op.repeat;
                sums[op.kind].bytes += op.repeat * op.bytes;
            }
        }
    }
    return sums;
}

struct Built {
    models::Workload workload;
    models::Plan plan;
    models::Layout layout;
    Program program;
};

Built built(const models::Workload& model, models::Plan p, const std::string& stack_name = "optimus") {
    p = resolve_plan(p, model, 0);
    const models::Layout layout = layout_of(p);
    return {model, p, layout, build_program(model, p, stack(stack_name), layout)};
}
Built built(const std::string& name, const std::string& stack_name = "optimus") {
    return built(workload(name), plan(name), stack_name);
}

TEST(Communication, an_moe_layer_gathers_and_scatters_t_ep_h_a_bytes_six_times_with_recompute_and_four_without) {
    // T = 12 x 2,048 tokens, H = 3,072, bf16: 151 MB each; the gather forward, and again in recompute, also carries K =
    // 8 weights (4 bytes) and indices (8 bytes) a token, the scatter of their gradients those of K weights.
    for (const bool recompute : {true, false}) {
        models::Plan p = plan("mula-220b-a10b");
        p.recompute.expert = recompute;
        const Built b = built(workload("mula-220b-a10b"), p);
        const double tokens = 12 * 2048.0, row = 3072 * 2.0, choices = 8 * 12.0, weights = 8 * 4.0;
        const double layers = 8, micro_batches = 8;
        for (int stage = 0; stage < 8; ++stage) {
            auto sums = communications(b.program, stage);
            const Sum out = sums[OpKind::kTokenCommunication], back = sums[OpKind::kTokenReturn];
            EXPECT_EQ(out.calls + back.calls, (recompute ? 6 : 4) * layers * micro_batches);
            const double forwards = recompute ? 2 : 1;
            EXPECT_DOUBLE_EQ(out.bytes + back.bytes,
                             layers * micro_batches * tokens * (forwards * (2 * row + choices) + 2 * row + weights));
        }
    }
}

TEST(Communication, all_to_all_sends_the_chosen_rows_only) {
    // DeepSeek-V3: t = 4,096 tokens x K = 8 rows of H = 7,168 bf16; the way out also carries 8 bytes a row, its expert.
    const Built b = built("deepseek-v3");
    auto sums = communications(b.program, 1);  // stage 1: 4 layers, all MoE
    const double rows = 4096 * 8.0, row = 7168 * 2.0;
    EXPECT_EQ(sums[OpKind::kTokenCommunication].calls, 120 * 4 * 3);
    EXPECT_DOUBLE_EQ(sums[OpKind::kTokenCommunication].bytes, 120 * 4 * rows * (2 * (row + 8) + row));
    EXPECT_EQ(sums[OpKind::kTokenReturn].calls, 120 * 4 * 3);
    EXPECT_DOUBLE_EQ(sums[OpKind::kTokenReturn].bytes, 120 * 4 * rows * row * 3);
}

TEST(Communication, tp_sums_t_h_a_bytes_twice_forward_and_twice_backward_in_every_layer) {
    // AuroraGPT-70B: t = 4,096, H = 8,192, bf16: 67 MB; 10 layers a stage, 16 micro-batches. A middle stage has nothing
    // else.
    const Built b = built("agpt-70b");
    const double buffer = 4096 * 8192 * 2.0;
    const Sum middle = communications(b.program, 3)[OpKind::kTpAllReduce];
    EXPECT_EQ(middle.calls, 16 * 10 * 4);
    EXPECT_DOUBLE_EQ(middle.bytes, 16 * 10 * 4 * buffer);
    // The first adds the table's rows up, forward; the last the head's input gradient, and three numbers a token of the
    // loss.
    const Sum first = communications(b.program, 0)[OpKind::kTpAllReduce];
    EXPECT_EQ(first.calls, 16 * (10 * 4 + 1));
    EXPECT_DOUBLE_EQ(first.bytes, 16 * (10 * 4 + 1) * buffer);
    const Sum last = communications(b.program, 7)[OpKind::kTpAllReduce];
    EXPECT_EQ(last.calls, 16 * (10 * 4 + 2));
    EXPECT_DOUBLE_EQ(last.bytes, 16 * ((10 * 4 + 1) * buffer + 4096 * 12.0));
}

TEST(Communication, sequence_parallelism_replaces_each_sum_by_a_scatter_and_a_gather_of_the_same_bytes) {
    // Megatron: 2 gathers and 2 scatters forward; backward the same, and one more gather of each half's saved input for
    // its weight gradients. Recompute of a half gathers that input anyway, so the number stays 6.
    models::Plan p = plan("llama3-70b");
    p.recompute.attention = p.recompute.expert = false;
    const Built b = built(workload("llama3-70b"), p);
    auto sums = communications(b.program, 3);
    const double buffer = 8192 * 8192 * 2.0, layers = 10, micro_batches = 32;
    EXPECT_EQ(sums.count(OpKind::kTpAllReduce), 0U);
    for (const auto& [kind, calls] : {std::pair{OpKind::kTpReduceScatter, 4}, std::pair{OpKind::kTpAllGather, 6}}) {
        EXPECT_EQ(sums[kind].calls, micro_batches * layers * calls);
        EXPECT_DOUBLE_EQ(sums[kind].bytes, micro_batches * layers * calls * buffer);
    }
    for (const bool attention : {true, false}) {
        p.recompute.attention = attention, p.recompute.expert = true;
        const Built again = built(workload("llama3-70b"), p);
        EXPECT_EQ(communications(again.program, 3)[OpKind::kTpAllGather].calls, micro_batches * layers * 6);
    }
}

TEST(Communication, plain_sharding_sums_dense_gradients_over_the_ranks_that_hold_the_same_dense_shard) {
    // |dense dp| / |outer| ranks: dp 3, ep 4, etp 1, tp 2: 6 / 3 = 2 of the 4 ep ranks. ep 2, tp 2: none, so no call.
    models::Plan p = plan("toy-ep2-dp2");
    p.optimizer = models::OptimizerSharding::kSharded;
    p.tp = 2, p.etp = 1, p.etp_given = true, p.ep = 4, p.dp = 3;
    const Built cut = built(workload("toy-moe"), p);
    int sums = 0;
    for (const BlockUse& use : cut.program.roles[0].order) {
        for (const Operation& op : cut.program.operations_of(cut.program.blocks[use.block])) {
            if (op.kind == OpKind::kGradientEpAllReduce) {
                EXPECT_EQ(op.group, models::GroupKind::kDenseDpInner);
                ++sums;
            }
        }
    }
    EXPECT_EQ(sums, 1);
    EXPECT_EQ(group_size(cut.layout, models::GroupKind::kDenseDpInner), 2);
    p.ep = 2, p.dp = 2;
    EXPECT_EQ(communications(built(workload("toy-moe"), p).program, 0).count(OpKind::kGradientEpAllReduce), 0U);
}

TEST(Communication, world_all_reduces_are_the_loss_and_vectors_of_a_flag_of_every_rank) {
    // 4 bytes, then 4 x tiles each.
    models::Stack two = stack("optimus");
    two.world_all_reduces_per_step = 3;
    const models::Workload model = workload("mula-220b-a10b");
    const models::Plan p = resolve_plan(plan("mula-220b-a10b"), model, 3072);
    const Program program = build_program(model, p, two, layout_of(p));
    const Sum sum = communications(program, 0)[OpKind::kWorldAllReduce];
    EXPECT_EQ(sum.calls, 3);
    EXPECT_DOUBLE_EQ(sum.bytes, 4 + 2 * 4.0 * 3072);
}

TEST(Communication, experts_split_over_other_ranks_than_the_dense_part_gather_and_scatter_over_those) {
    // Toy: t = 64 tokens, H = 64, bf16; 4 layers, 2 micro-batches, forward and backward. t_routed = t etp / tp.
    // With sequence parallelism, or where more etp ranks gather tokens, backward gathers the saved input once more, for
    // the router's weight gradient.
    struct Row {
        int tp, etp;
        bool sequence_parallel;
        double tp_gathers, etp_gathers, etp_scatters;  // a layer and direction, of the mixture alone
    };
    for (const Row row : {Row{4, 2, false, 1, 0, 1}, Row{4, 2, true, 0, 1.5, 1}, Row{4, 1, false, 1, 0, 0},
                          Row{1, 2, false, 0, 1.5, 1}, Row{2, 4, false, 1, 1.5, 1}}) {
        models::Plan p = plan("toy-ep2-dp2");
        p.tp = row.tp, p.etp = row.etp, p.etp_given = true;
        p.dp = 4 / row.etp;
        p.sequence_parallel = row.sequence_parallel;
        const Built b = built(workload("toy-moe"), p);
        double tp_gathers = 0, etp_gathers = 0, etp_scatters = 0;
        for (const BlockUse& use : b.program.roles[0].order) {
            for (const Operation& op : b.program.operations_of(b.program.blocks[use.block])) {
                if (op.group == models::GroupKind::kEtp) {
                    EXPECT_DOUBLE_EQ(op.bytes, 64.0 * row.etp / row.tp * 64 * 2);
                    etp_gathers += op.comm == CommKind::kAllGather ? 1 : 0;
                    etp_scatters += op.comm == CommKind::kReduceScatter ? 1 : 0;
                }
                tp_gathers +=
                    op.kind == OpKind::kTpAllGather && op.group == models::GroupKind::kTp && !row.sequence_parallel ? 1
                                                                                                                    : 0;
            }
        }
        const double times = 4 * 2 * 2;
        EXPECT_EQ(tp_gathers, times * row.tp_gathers) << row.tp << " " << row.etp;
        EXPECT_EQ(etp_gathers, times * row.etp_gathers) << row.tp << " " << row.etp;
        EXPECT_EQ(etp_scatters, times * row.etp_scatters) << row.tp << " " << row.etp;
    }
}

TEST(Communication, a_pipeline_message_is_t_h_a_and_with_optimus_the_router_logits_of_all_layers_before) {
    // Into the last of 8 stages: 2,048 x 3,072 x 2 = 12.6 MB and 56 layers x 2,048 x 240 x 2 = 55.1 MB.
    const Built b = built("mula-220b-a10b");
    for (int boundary = 0; boundary < 7; ++boundary) {
        const double bytes = 2048 * 3072 * 2.0 + 8.0 * (boundary + 1) * 2048 * 240 * 2;
        EXPECT_DOUBLE_EQ(message_bytes(b.workload, b.plan, stack("optimus"), boundary), bytes);
        const Sum forward = communications(b.program, boundary)[OpKind::kSendForward];
        EXPECT_EQ(forward.calls, 8);
        EXPECT_DOUBLE_EQ(forward.bytes, 8 * bytes);
        const Sum backward = communications(b.program, boundary + 1)[OpKind::kSendBackward];
        EXPECT_EQ(backward.calls, 8);
        EXPECT_DOUBLE_EQ(backward.bytes, 8 * bytes);
    }
    EXPECT_DOUBLE_EQ(message_bytes(b.workload, b.plan, stack("megatron-deepspeed"), 6), 2048 * 3072 * 2.0);
    EXPECT_EQ(communications(b.program, 7).count(OpKind::kSendForward), 0U);
    EXPECT_EQ(communications(b.program, 0).count(OpKind::kSendBackward), 0U);
}

TEST(Communication, gradients_and_parameters_cross_once_a_step_in_their_own_bytes) {
    for (const auto& [plan_name, workload_name] : shipped()) {
        models::Plan p = plan(plan_name);
        p.weight_bytes = 2, p.gradient_bytes = 4;
        const Built b = built(workload(workload_name), p);
        for (int stage = 0; stage < b.plan.pp; ++stage) {
            const StageParameters held = stage_parameters(b.workload, b.plan, stage);
            auto sums = communications(b.program, stage);
            const bool replicas = b.plan.dp > 1,
                       replicated = b.plan.optimizer == models::OptimizerSharding::kReplicated;
            EXPECT_NEAR(sums[OpKind::kGradientReduceExperts].bytes, replicas ? held.experts * 4 : 0, 1) << plan_name;
            const bool dense_replicas =
                optimizer_shards(b.plan, b.layout).dense > 1 || (replicated && b.layout.data_parallel * b.plan.cp > 1);
            EXPECT_NEAR(sums[OpKind::kGradientReduceDense].bytes, dense_replicas ? held.dense * 4 : 0, 1) << plan_name;
            EXPECT_NEAR(sums[OpKind::kParameterGatherExperts].bytes, replicas && !replicated ? held.experts * 2 : 0, 1)
                << plan_name;
            EXPECT_NEAR(sums[OpKind::kParameterGatherDense].bytes, dense_replicas && !replicated ? held.dense * 2 : 0,
                        1)
                << plan_name;
        }
    }
}

TEST(Communication, gradients_reduced_while_backward_runs_are_the_same_bytes_in_buckets) {
    models::Plan p = plan("agpt-70b");
    const models::Workload model = workload("agpt-70b");
    const Built blocked = built(model, p, "megatron-deepspeed");
    p.overlap_dp = true;
    const Built overlapped = built(model, p, "megatron-deepspeed");
    for (int stage = 0; stage < 8; ++stage) {
        const Sum one = communications(blocked.program, stage)[OpKind::kGradientReduceDense];
        const Sum many = communications(overlapped.program, stage)[OpKind::kGradientReduceDense];
        EXPECT_EQ(one.calls, 1);
        EXPECT_GT(many.calls, 1);
        EXPECT_NEAR(many.bytes, one.bytes, 1e-9 * one.bytes);
        // No bucket but the last of a pass is smaller than the stack's 500 MB.
        EXPECT_LE(many.calls, std::ceil(one.bytes / 500e6));
    }
}

TEST(Communication, fsdp_gathers_parameters_twice_and_reduces_gradients_once_in_every_micro_batch) {
    models::Plan p = plan("toy-dp4");
    p.optimizer = models::OptimizerSharding::kFsdp;
    const Built b = built(workload("toy-dense"), p);
    const StageParameters held = stage_parameters(b.workload, b.plan, 0);
    auto sums = communications(b.program, 0);
    const double embedding = embedding_parameters(b.workload, b.plan, 0).dense;  // its backward needs no weights
    EXPECT_NEAR(sums[OpKind::kParameterGatherDense].bytes, b.plan.micro_batches * (2 * held.dense - embedding) * 2, 1);
    EXPECT_NEAR(sums[OpKind::kGradientReduceDense].bytes, b.plan.micro_batches * held.dense * 2, 1);
}

TEST(Communication, fsdp_that_keeps_weights_from_forward_gathers_them_once_in_every_micro_batch) {
    models::Plan p = plan("toy-dp4");
    p.optimizer = models::OptimizerSharding::kFsdp, p.reshard_after_forward = false;
    const Built b = built(workload("toy-dense"), p);
    auto sums = communications(b.program, 0);
    const double held = stage_parameters(b.workload, b.plan, 0).dense;
    EXPECT_NEAR(sums[OpKind::kParameterGatherDense].bytes, b.plan.micro_batches * held * 2, 1);
    EXPECT_NEAR(sums[OpKind::kGradientReduceDense].bytes, b.plan.micro_batches * held * 2, 1);
}

TEST(Communication, zero_2_sums_gradients_in_every_micro_batch_and_gathers_parameters_once_a_step) {
    models::Plan p = plan("toy-dp4");
    p.optimizer = models::OptimizerSharding::kZero2;
    const Built b = built(workload("toy-dense"), p);
    auto sums = communications(b.program, 0);
    const double held = stage_parameters(b.workload, b.plan, 0).dense;
    EXPECT_NEAR(sums[OpKind::kGradientReduceDense].bytes, b.plan.micro_batches * held * 2, 1);
    EXPECT_NEAR(sums[OpKind::kParameterGatherDense].bytes, held * 2, 1);
}

TEST(Communication, groups_that_shard_by_themselves_sum_their_shards_over_one_another) {
    // 4 ranks in 2 groups of 2: P elements reduce-scattered in a group, then the P / 2 of a shard all-reduced.
    models::Plan p = plan("toy-dp4");
    p.shard_replicas = 2;
    for (const auto& [optimizer, times] : {std::pair{models::OptimizerSharding::kEpAware, 1},
                                           {models::OptimizerSharding::kZero2, p.micro_batches},
                                           {models::OptimizerSharding::kFsdp, p.micro_batches}}) {
        p.optimizer = optimizer;
        const Built b = built(workload("toy-dense"), p);
        const double held = stage_parameters(b.workload, b.plan, 0).dense * 2;
        double scattered = 0, reduced = 0;
        for (const BlockUse& use : b.program.roles[0].order) {
            for (const Operation& op : b.program.operations_of(b.program.blocks[use.block])) {
                if (op.kind == OpKind::kGradientReduceDense) {
                    const bool within = op.comm == CommKind::kReduceScatter;
                    EXPECT_EQ(op.group, within ? models::GroupKind::kDenseShard : models::GroupKind::kShardReplicas);
                    (within ? scattered : reduced) += op.bytes;
                }
                if (op.kind == OpKind::kParameterGatherDense) {
                    EXPECT_EQ(op.group, models::GroupKind::kDenseShard);
                }
            }
        }
        EXPECT_NEAR(scattered, times * held, 1);
        EXPECT_NEAR(reduced, times * held / 2, 1);
    }
}

TEST(Communication, weights_left_with_neighbours_are_gathered_from_them_by_backward_passes_alone) {
    models::Plan p = plan("toy-dp4");
    p.optimizer = models::OptimizerSharding::kFsdp;
    const Built anywhere = built(workload("toy-dense"), p);
    p.reshard_ranks = 2;
    const Built near = built(workload("toy-dense"), p);
    const auto gathered = [](const Built& b, models::GroupKind group, bool is_forward) {
        double bytes = 0;
        for (const BlockUse& use : b.program.roles[0].order) {
            const Block& block = b.program.blocks[use.block];
            for (const Operation& op : b.program.operations_of(block)) {
                const bool counts = op.kind == OpKind::kParameterGatherDense && op.group == group &&
                                    (block.kind == BlockKind::kForward) == is_forward;
                bytes += counts ? op.bytes : 0;
            }
        }
        return bytes;
    };
    using models::GroupKind;
    const double forward = gathered(anywhere, GroupKind::kDenseDp, true),
                 backward = gathered(anywhere, GroupKind::kDenseDp, false);
    EXPECT_GT(backward, 0);
    EXPECT_EQ(gathered(near, GroupKind::kDenseDp, true), forward);
    EXPECT_EQ(gathered(near, GroupKind::kDenseReshard, false), backward);
    EXPECT_EQ(gathered(near, GroupKind::kDenseReshard, true) + gathered(near, GroupKind::kDenseDp, false), 0);
}

TEST(StageParameters, summed_over_ranks_are_the_workloads_parameters_and_the_copies_that_tp_and_tied_tables_need) {
    for (std::uint64_t seed = 2'000; seed < 2'200; ++seed) {
        const Case c = random_case(seed);
        const models::ParameterCount count = count_parameters(c.workload);
        const models::Workload& w = c.workload;
        const double layers = w.layers_and_predictions();
        const double latent_down = w.attention != models::AttentionKind::kLatent
                                       ? 0
                                       : layers * w.hidden_size * (w.q_rank + w.kv_rank + w.rope_head_size);
        const double qk_norms = w.qk_norm ? layers * (w.heads + w.kv_heads) * w.head_size : 0;  // all are rms
        StageParameters sum;
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            const StageParameters p = stage_parameters(c.workload, c.plan, stage);
            sum.dense += p.dense * c.plan.tp;
            sum.experts += p.experts * c.plan.ep * c.plan.etp;
        }
        // On every rank of a tp group.
        const int halves_without = w.num_experts > 0 && w.shared_experts == 0 ? w.moe_layers() : 0;
        const double row_biases = w.biases ? (2 * layers - halves_without) * w.hidden_size : 0;
        const double copies =
            count.norm - qk_norms + count.router + count.positions + latent_down + row_biases + count.prediction;
        const double table = (w.tied_embeddings || w.mtp_layers > 0) && c.plan.pp > 1 ? count.embedding : 0;
        const double dense = count.total() - count.experts + (c.plan.tp - 1) * copies + table;
        EXPECT_NEAR(sum.dense, dense, 1e-9 * dense) << "seed " << seed << " " << c.workload.name;
        EXPECT_NEAR(sum.experts, count.experts, 1e-9 * count.experts) << "seed " << seed << " " << c.workload.name;
    }
}

}  // namespace
}  // namespace auspex::schedule
