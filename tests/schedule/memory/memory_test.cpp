/// @file Memory of a tile: what is in flight, what optimizer shards hold, and which layouts fit.
#include <gtest/gtest.h>

#include <limits>

#include "../plan_fixture.hpp"
#include "schedule/memory/memory.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

struct Memories {
    Case c;
    models::Layout layout;
    Program program;
    explicit Memories(Case the_case)
        : c(std::move(the_case)),
          layout(layout_of(c.plan)),
          program(build_program(c.workload, c.plan, c.stack, layout)) {}
    [[nodiscard]] StageMemory of(int stage) const {
        static const models::Machine kAurora = machine();
        return stage_memory(c.workload, c.plan, c.stack, kAurora, layout, program, stage, {});
    }
    [[nodiscard]] double peak() const {
        double most = 0;
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            most = std::max(most, of(stage).peak_bytes);
        }
        return most;
    }
};

Memories memories(const models::Workload& model, const models::Plan& p) {
    return Memories({model, resolve_plan(p, model, 0), stack("optimus")});
}

/// Most bytes of a label at any time.
double label(const StageMemory& memory, const std::string& name) {
    for (const auto& [key, bytes] : memory.peak_by_label) {
        if (key == name) {
            return bytes;
        }
    }
    throw std::out_of_range(name);
}

TEST(StageMemory, labels_sum_to_the_peak) {
    for (std::uint64_t seed = 4'000; seed < 4'050; ++seed) {
        const Memories m(random_case(seed));
        for (int stage = 0; stage < m.c.plan.pp; ++stage) {
            const StageMemory memory = m.of(stage);
            double sum = 0;
            for (const auto& [name, bytes] : memory.by_label) {
                EXPECT_GE(bytes, 0) << name;
                sum += bytes;
            }
            EXPECT_NEAR(memory.peak_bytes, sum, 1e-9 * sum);
            for (const auto& [name, bytes] : memory.by_label) {
                EXPECT_LE(bytes, label(memory, name))
                    << name << " at the peak of the sum and at its own, seed " << seed;
            }
        }
    }
}

TEST(StageMemory, one_f_one_b_holds_pp_micro_batches_on_the_first_stage_and_one_on_the_last) {
    const models::Workload model = workload("mula-220b-a10b");
    models::Plan p = plan("mula-220b-a10b");
    for (const int micro_batches : {1, 3, 8, 16}) {
        p.micro_batches = micro_batches;
        const Memories all = memories(model, p);
        for (int stage = 0; stage < 8; ++stage) {
            // Inputs of both halves of 8 layers (everything else is made again), and on the last stage of the final
            // norm: t h a each, 17 of them there with the norm's output 18.
            const double one = (stage < 7 ? 16 : 18) * 2048 * 3072 * 2.0;
            EXPECT_EQ(label(all.of(stage), "activations"), std::min(8 - stage, micro_batches) * one) << stage;
            // [8 (stage + 1) layers, t, N] of one micro-batch: sent on with its message.
            EXPECT_EQ(label(all.of(stage), "router_logits"), 8 * (stage + 1) * 2048.0 * model.num_experts * 2) << stage;
        }
    }
}

TEST(StageMemory, gpipe_holds_every_micro_batch) {
    // All 5 micro-batches, each the inputs of both halves of 8 layers: 16 t h a = 16 x 2048 x 3072 x 2 bytes.
    const models::Workload model = workload("mula-220b-a10b");
    models::Plan p = plan("mula-220b-a10b");
    p.schedule = models::ScheduleKind::kGpipe;
    p.micro_batches = 5;
    const Memories all = memories(model, p);
    for (const int stage : {0, 3, 6}) {
        EXPECT_EQ(label(all.of(stage), "activations"), 5 * 16 * 2048 * 3072 * 2.0) << stage;
    }
}

TEST(StageMemory, gpipe_never_needs_less_than_1f1b) {
    for (std::uint64_t seed = 4'100; seed < 4'200; ++seed) {
        Case c = random_case(seed, false);
        c.plan.virtual_stages = 1;
        c.plan.schedule = models::ScheduleKind::kGpipe;
        const double gpipe = Memories(c).peak();
        c.plan.schedule = models::ScheduleKind::k1f1b;
        EXPECT_GE(gpipe, Memories(c).peak()) << "seed " << seed;
    }
}

TEST(StageMemory, recompute_never_raises_what_is_kept) {
    for (std::uint64_t seed = 4'200; seed < 4'300; ++seed) {
        Case c = random_case(seed, false);
        for (const auto& [word, part] : models::kRecomputeWords) {
            if (part == &models::Recompute::latent_up && c.workload.q_rank == 0) {
                continue;
            }
            c.plan.recompute.*part = false;
            const Memories kept(c);
            c.plan.recompute.*part = true;
            const Memories again(c);
            for (int stage = 0; stage < c.plan.pp; ++stage) {
                EXPECT_LE(label(again.of(stage), "activations"), label(kept.of(stage), "activations"))
                    << "seed " << seed << ", " << word;
            }
        }
    }
}

// A layer that is recomputed whole keeps its input, [t, h] a; an activation that is recomputed [t, I] a less.
TEST(StageMemory, parts_that_are_recomputed_are_not_kept) {
    models::Workload w = workload("llama3-70b");
    w.layers = 4;
    models::Plan p = plan("llama3-70b");
    p.pp = p.virtual_stages = p.micro_batches = 1, p.schedule = models::ScheduleKind::kGpipe;
    p.sequence_parallel = false, p.recompute = {}, p.stages = models::StageDeal::kEven;
    const auto kept = [&](const models::Recompute& recompute, int layers) {
        p.recompute = recompute, p.recompute_layers = layers;
        return label(memories(w, p).of(0), "activations");
    };
    const double tokens = 1.0 * p.micro_batch_size * w.sequence_length, a = p.weight_bytes;
    const double all = kept({}, 0);
    EXPECT_EQ(all - kept({.activation = true}, 0), 4 * tokens * w.intermediate_size / p.tp * a);
    EXPECT_EQ(all - kept({.activation = true}, 1), tokens * w.intermediate_size / p.tp * a);
    EXPECT_EQ(kept({.layer = true}, 0) - kept({.layer = true}, 3) + (all - kept({.layer = true}, 0)) / 4, 0);
    EXPECT_EQ(kept({.norm = true, .attention = true, .expert = true}, 0) - kept({.layer = true}, 0),
              4 * tokens * w.hidden_size * a);
}

TEST(StageMemory, recompute_lowers_the_peak_of_deep_stages) {
    for (const char* name : {"mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "llama3-70b"}) {
        models::Plan p = plan(name);
        double before = std::numeric_limits<double>::infinity();
        p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
        for (bool models::Recompute::*choice :
             {&models::Recompute::expert, &models::Recompute::attention, &models::Recompute::norm}) {
            const double peak = memories(workload(name), p).peak();
            EXPECT_LT(peak, before) << name;
            before = peak;
            p.recompute.*choice = true;
        }
        EXPECT_LT(memories(workload(name), p).peak(), before) << name;
    }
}

TEST(StageMemory, replicated_states_of_mula_7b_are_16_bytes_a_parameter_and_more_than_110_gb) {
    // bf16 weights and gradients 2 + 2, fp32 master weights 4, two moments 8: 16 bytes of each of 6.92e9
    // parameters, 110.7 GB.
    const models::Workload model = workload("mula-7b-a1b");
    models::Plan p = plan("mula-7b-a1b");
    p.optimizer = models::OptimizerSharding::kReplicated;
    const StageMemory memory = memories(model, p).of(0);
    const double states = label(memory, "weights") + label(memory, "gradients") + label(memory, "master_weights") +
                          label(memory, "moments");
    EXPECT_NEAR(states, 16 * count_parameters(model).total(), 1e-6 * states);
    EXPECT_GT(states, 110e9);
}

TEST(StageMemory, ep_aware_states_are_12_bytes_of_dense_over_dp_ep_and_experts_over_dp) {
    for (const char* name : {"mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b"}) {
        const Memories m = memories(workload(name), plan(name));
        for (int stage = 0; stage < m.c.plan.pp; ++stage) {
            const StageParameters held = stage_parameters(m.c.workload, m.c.plan, stage);
            const double dp = m.c.plan.dp, ep = m.c.plan.ep;
            const StageMemory memory = m.of(stage);
            const double states = label(memory, "master_weights") + label(memory, "moments");
            EXPECT_NEAR(states, 12 * (held.dense / (dp * ep) + held.experts / dp), 1e-9 * states) << name;
        }
    }
}

TEST(StageMemory, plain_sharding_keeps_ep_times_the_dense_states_of_ep_aware) {
    const models::Workload model = workload("mula-220b-a10b");
    models::Plan p = plan("mula-220b-a10b");
    p.optimizer = models::OptimizerSharding::kSharded;
    const Memories plain = memories(model, p);
    const StageParameters held = stage_parameters(model, plain.c.plan, 2);
    EXPECT_NEAR(label(plain.of(2), "moments"), 8 * (held.dense / 32 + held.experts / 32), 1);
}

TEST(StageMemory, context_parallelism_keeps_the_keys_and_values_of_the_whole_sequence) {
    // With cp = 2 everything that cp = 1 keeps halves; [S, 2 kv heads head_size] of gathered keys and values, bf16,
    // come on top in each of the stage's 10 layers.
    const models::Workload model = workload("llama3-70b");
    models::Plan p = plan("llama3-70b");
    p.micro_batches = 1, p.tp = 1, p.dp = 2;
    p.sequence_parallel = p.recompute.attention = false;
    p.etp_given = false;
    const double whole = label(memories(model, p).of(3), "activations");
    p.cp = 2;
    const double half = label(memories(model, p).of(3), "activations");
    EXPECT_EQ(half, whole / 2 + 10 * 8192.0 * 2 * 8 * 128 * 2);
}

TEST(StageMemory, fsdp_has_the_unit_that_runs_and_those_gathered_ahead_of_it) {
    const models::Workload model = workload("mixtral-8x7b");
    models::Plan p = plan("toy-ep2-dp2");
    p.optimizer = models::OptimizerSharding::kFsdp;
    p.ep = 1, p.dp = 2, p.pp = 4, p.tp = 1, p.etp_given = false;
    const double message = message_bytes(model, resolve_plan(p, model, 0), stack("optimus"), 1);
    const StageParameters layer = layer_parameters(model, resolve_plan(p, model, 0), 9);
    const double one = layer.dense + layer.experts;
    // Backward in a middle stage of 8 layers: weights of a layer and of `prefetch` more in front of it, gradients of
    // the one (forward there are weights alone, of as many).
    for (const int prefetch : {0, 1, 3}) {
        p.prefetch = prefetch;
        const Memories m = memories(model, p);
        EXPECT_NEAR(label(m.of(1), "communication"), one * ((1 + prefetch) * 2 + m.c.plan.gradient_bytes), 1);
        EXPECT_GT(label(m.of(1), "communication"), message);
    }
    // Kept from forward: all weights, in their own place, and gradients of a layer.
    p.reshard_after_forward = false;
    const Memories kept = memories(model, p);
    const StageParameters stage = stage_parameters(model, kept.c.plan, 1);
    EXPECT_NEAR(label(kept.of(1), "weights"), 2 * (stage.dense + stage.experts), 1);
    EXPECT_NEAR(label(kept.of(1), "communication"), one * kept.c.plan.gradient_bytes, 1);
}

TEST(StageMemory, weights_left_with_n_neighbours_are_an_nth_of_them_besides) {
    const models::Workload model = workload("mixtral-8x7b");
    models::Plan p = plan("toy-ep2-dp2");
    p.optimizer = models::OptimizerSharding::kFsdp;
    p.ep = 1, p.dp = 8, p.pp = 1, p.tp = 1, p.etp_given = false;
    const Memories anywhere = memories(model, p);
    const StageParameters all = stage_parameters(model, anywhere.c.plan, 0);
    for (const int ranks : {2, 4}) {
        p.reshard_ranks = ranks;
        EXPECT_NEAR(label(memories(model, p).of(0), "weights") - label(anywhere.of(0), "weights"),
                    2 * (all.dense + all.experts) / ranks, 1);
    }
}

TEST(StageMemory, what_is_sharded_is_held_by_the_ranks_of_a_group_together) {
    const models::Workload model = workload("mixtral-8x7b");
    models::Plan p = plan("toy-ep2-dp2");
    p.ep = 2, p.dp = 4, p.pp = 1, p.tp = 1, p.etp_given = false;
    for (const int replicas : {1, 2, 4}) {
        p.shard_replicas = replicas;
        for (const auto& [optimizer, shards_weights] : {std::pair{models::OptimizerSharding::kEpAware, false},
                                                        {models::OptimizerSharding::kZero2, false},
                                                        {models::OptimizerSharding::kFsdp, true}}) {
            p.optimizer = optimizer;
            const Memories m = memories(model, p);
            const StageParameters all = stage_parameters(model, m.c.plan, 0);
            // Dense over dp ep / replicas ranks, experts over dp / replicas.
            const double whole = all.dense + all.experts;
            const double shard = all.dense / (8 / replicas) + all.experts / (4 / replicas);  // NOLINT: divisors
            EXPECT_NEAR(label(m.of(0), "moments"), 8 * shard, 1);
            EXPECT_NEAR(label(m.of(0), "weights"), 2 * (shards_weights ? shard : whole), 1);
            const double gradients = optimizer == models::OptimizerSharding::kEpAware ? whole : shard;
            EXPECT_NEAR(label(m.of(0), "gradients"), m.c.plan.gradient_bytes * gradients, 1);
        }
    }
}

TEST(StageMemory, the_masks_of_the_loop_cover_the_gathered_tokens_or_with_all_to_all_the_ranks_own) {
    // One int64 a token, choice and expert: N K ep t 8 with all-gather, N K t 8 with all-to-all, whose rows to send (h
    // and an int64 each) are made beside it. With 512 experts of width 8 nothing else comes near.
    models::Workload model = workload("toy-moe");
    model.num_experts = 512, model.expert_size = 8;
    models::Plan p = plan("toy-ep2-dp2");
    p.micro_batches = 1, p.expert_kernels = models::ExpertKernels::kLoop, p.recompute.expert = false;
    const double t = 64, k = model.top_k, mask = t * k * 512 * 8;
    p.dispatch = models::Dispatch::kAllToAll;
    EXPECT_EQ(label(memories(model, p).of(0), "workspace"), mask + t * k * (model.hidden_size * 2 + 8));
    p.dispatch = models::Dispatch::kAllGatherReduceScatter;
    EXPECT_EQ(label(memories(model, p).of(0), "workspace"), 2 * mask);
}

TEST(StageMemory, a_heavier_rank_computes_more_rows) {
    // Every row more costs, in each layer: its slot 4, h a twice, 3 i a.
    const models::Workload model = workload("mula-20b-a2b");
    const Memories m = memories(model, plan("mula-20b-a2b"));
    models::RoutingLoad load;
    load.heaviest_rank = 1.5;
    load.by_rank = {0.5, 1.5};
    const StageMemory heavy = stage_memory(m.c.workload, m.c.plan, m.c.stack, machine(), m.layout, m.program, 0, load);
    const double rows = 0.5 * 2048 * model.top_k;
    EXPECT_EQ(label(heavy, "activations") - label(m.of(0), "activations"),
              model.layers * rows * (4 + 2 * model.hidden_size * 2 + 3 * model.expert_size * 2));
}

TEST(StageMemory, cross_entropy_in_several_passes_keeps_logits_twice) {
    // optimus: [t, V] of 4 and of 2 bytes, and three numbers a token; bare: once.
    const models::Workload model = workload("mula-7b-a1b");
    const models::Plan p = resolve_plan(plan("mula-7b-a1b"), model, 0);
    EXPECT_EQ(label(Memories({model, p, stack("optimus")}).of(0), "logits"), 2048.0 * (model.vocab_size * 6 + 12));
    EXPECT_EQ(label(Memories({model, p, stack("bare")}).of(0), "logits"), 2048.0 * (model.vocab_size * 4 + 12));
}

TEST(StageMemory, fp32_weights_have_no_master_copy) {
    const models::Workload model = workload("toy-moe");
    models::Plan p = plan("toy-ep2-dp2");
    p.weight_bytes = 4;
    EXPECT_EQ(label(memories(model, p).of(0), "master_weights"), 0);
}

TEST(StageMemory, the_papers_layouts_of_all_five_models_fit_64_gb) {
    for (const char* name : {"mula-1b", "mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b"}) {
        EXPECT_LT(memories(workload(name), plan(name)).peak(), 64e9) << name;
    }
}

TEST(StageMemory, mula_7b_with_replicated_states_and_mula_220b_on_one_stage_do_not_fit_64_gb) {
    // States alone are 110.7 GB (above). Of MULA-220B a tile holds a twelfth of the experts and all of the rest,
    // 20.9e9 parameters: 41.8 GB of weights and as much of gradients.
    models::Plan replicated = plan("mula-7b-a1b");
    replicated.optimizer = models::OptimizerSharding::kReplicated;
    EXPECT_GT(memories(workload("mula-7b-a1b"), replicated).peak(), 64e9);
    models::Plan flat = plan("mula-220b-a10b");
    flat.pp = 1;
    EXPECT_GT(memories(workload("mula-220b-a10b"), flat).peak(), 64e9);
}

/// mula-1b on 4 replicas, nothing recomputed.
models::Plan four_replicas() {
    models::Plan p = plan("mula-1b");
    p.dp = 4, p.pp = 1, p.micro_batches = 2;
    p.recompute.norm = p.recompute.attention = p.recompute.expert = false;
    p.gradient_bytes = 4;
    p.optimizer = models::OptimizerSharding::kReplicated;
    return p;
}

StageMemory with_stack(const models::Plan& p, const models::Stack& s) {
    const models::Workload model = workload("mula-1b");
    return Memories({model, resolve_plan(p, model, 0), s}).of(0);
}

TEST(StageMemory, buckets_hold_the_gradients_as_computed_where_there_are_replicas) {
    models::Plan p = four_replicas();
    models::Stack s = stack("optimus"), buckets = s;
    buckets.gradient_buckets = true;
    const double parameters = count_parameters(workload("mula-1b")).total();
    EXPECT_EQ(label(with_stack(p, buckets), "gradients"), label(with_stack(p, s), "gradients") + 2 * parameters);
    p.dp = 1;
    EXPECT_EQ(label(with_stack(p, buckets), "gradients"), label(with_stack(p, s), "gradients"));
}

TEST(StageMemory, fragments_are_a_share_of_what_comes_and_goes) {
    const models::Plan p = four_replicas();
    const models::Stack s = stack("optimus");
    models::Stack fragmented = s;
    fragmented.fragmentation = 0.25;
    const StageMemory before = with_stack(p, s), after = with_stack(p, fragmented);
    double fixed = label(before, "runtime");
    for (const char* name : {"weights", "gradients", "master_weights", "moments"}) {
        fixed += label(before, name);
    }
    EXPECT_NEAR(after.peak_bytes - before.peak_bytes, 0.25 * (before.peak_bytes - fixed), 1);
    EXPECT_NEAR(label(after, "fragments"), 0.25 * (before.peak_bytes - fixed), 1);
    EXPECT_EQ(label(before, "fragments"), 0);
    EXPECT_EQ(label(after, "runtime"), label(before, "runtime"));
}

TEST(StageMemory, unfused_kernels_keep_rotated_queries_and_keys_and_the_activated_gate) {
    // Of 16 layers [t, q + kv] and [t, inner] of 2 bytes, t = micro_batch_size x 2048; keys as many as key-value heads.
    const models::Plan p = four_replicas();
    const models::Workload model = workload("mula-1b");
    const models::Stack s = stack("optimus");
    models::Stack rotated = s, activated = s, copies = s;
    rotated.keeps_rotated = activated.keeps_activation = true;
    copies.cross_entropy_copies = 2;
    const double t = static_cast<double>(p.micro_batch_size) * model.sequence_length;
    const double before = label(with_stack(p, s), "activations");
    EXPECT_EQ(label(with_stack(p, rotated), "activations") - before,
              model.layers * t * (model.heads + model.kv_heads) * model.head_size * 2);
    EXPECT_EQ(label(with_stack(p, activated), "activations") - before, model.layers * t * model.intermediate_size * 2);
    EXPECT_EQ(label(with_stack(p, copies), "logits") - label(with_stack(p, s), "logits"), 2 * t * model.vocab_size * 4);
}

}  // namespace
}  // namespace auspex::schedule
