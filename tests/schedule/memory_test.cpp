/// @file Memory of a tile: what is in flight, what optimizer shards hold, and which layouts fit.
#include <gtest/gtest.h>

#include "plan_fixture.hpp"
#include "schedule/memory.hpp"

namespace auspex {
namespace {

using namespace testing_plans;

struct Memories {
    Case c;
    Layout layout;
    Program program;
    explicit Memories(Case the_case)
        : c(std::move(the_case)),
          layout(layout_of(c.plan)),
          program(build_program(c.workload, c.plan, c.stack, layout)) {}
    [[nodiscard]] StageMemory of(int stage) const {
        static const Machine kAurora = machine();
        return stage_memory(c.workload, c.plan, c.stack, kAurora, layout, program, stage, 1);
    }
    [[nodiscard]] double peak() const {
        double most = 0;
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            most = std::max(most, of(stage).peak_bytes);
        }
        return most;
    }
};

Memories memories(const Workload& model, const Plan& p) {
    return Memories({model, resolve_plan(p, model, 0), stack("optimus")});
}

double label(const StageMemory& memory, const std::string& name) {
    for (const auto& [key, bytes] : memory.by_label) {
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
        }
    }
}

TEST(StageMemory, one_f_one_b_holds_pp_micro_batches_on_the_first_stage_and_one_on_the_last) {
    const Workload model = workload("mula-220b-a10b");
    Plan p = plan("mula-220b-a10b");
    p.micro_batches = 8;
    const Memories eight = memories(model, p);
    p.micro_batches = 1;
    const Memories one = memories(model, p);
    for (int stage = 0; stage < 8; ++stage) {
        EXPECT_NEAR(label(eight.of(stage), "activations"), (8 - stage) * label(one.of(stage), "activations"), 1)
            << stage;
        EXPECT_NEAR(label(eight.of(stage), "router_logits"), (8 - stage) * label(one.of(stage), "router_logits"), 1)
            << stage;
    }
    // One micro-batch keeps the inputs of both halves of 8 layers (everything else is made again): 8 x 2 x t H a.
    EXPECT_NEAR(label(one.of(3), "activations"), 8 * 2 * 2048 * 3072 * 2.0, 1);
}

TEST(StageMemory, gpipe_never_needs_less_than_1f1b) {
    for (std::uint64_t seed = 4'100; seed < 4'200; ++seed) {
        Case c = random_case(seed, false);
        c.plan.virtual_stages = 1;
        c.plan.schedule = ScheduleKind::kGpipe;
        const double gpipe = Memories(c).peak();
        c.plan.schedule = ScheduleKind::k1f1b;
        EXPECT_GE(gpipe, Memories(c).peak()) << "seed " << seed;
    }
}

TEST(StageMemory, recompute_never_raises_what_is_kept) {
    for (std::uint64_t seed = 4'200; seed < 4'300; ++seed) {
        Case c = random_case(seed, false);
        for (bool Plan::*choice : {&Plan::recompute_norm, &Plan::recompute_attention, &Plan::recompute_expert}) {
            c.plan.*choice = false;
            const Memories kept(c);
            c.plan.*choice = true;
            const Memories again(c);
            for (int stage = 0; stage < c.plan.pp; ++stage) {
                EXPECT_LE(label(again.of(stage), "activations"), label(kept.of(stage), "activations"))
                    << "seed " << seed;
                EXPECT_LE(again.of(stage).peak_bytes, kept.of(stage).peak_bytes * (1 + 1e-12))
                    << "seed " << seed << " stage " << stage;
            }
        }
    }
}

TEST(StageMemory, replicated_states_of_mula_7b_are_16_bytes_a_parameter_and_more_than_110_gb) {
    const Workload model = workload("mula-7b-a1b");
    Plan p = plan("mula-7b-a1b");
    p.optimizer = OptimizerSharding::kReplicated;
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
    const Workload model = workload("mula-220b-a10b");
    Plan p = plan("mula-220b-a10b");
    p.optimizer = OptimizerSharding::kSharded;
    const Memories plain = memories(model, p);
    const StageParameters held = stage_parameters(model, plain.c.plan, 2);
    EXPECT_NEAR(label(plain.of(2), "moments"), 8 * (held.dense / 32 + held.experts / 32), 1);
}

TEST(StageMemory, context_parallelism_keeps_the_keys_and_values_of_the_whole_sequence) {
    // Per layer and micro-batch, S tokens over cp: t (2 q + rotated q, k) + S (k, v), all bf16, and softmax sums of 4
    // bytes; between cp = 1 and 2 all but the [S, 2 kv heads head_size] of keys and values halves.
    const Workload model = workload("llama3-70b");
    Plan p = plan("llama3-70b");
    p.micro_batches = 1, p.tp = 1, p.dp = 2;
    p.sequence_parallel = p.recompute_attention = false;
    p.etp_given = false;
    const double whole = label(memories(model, p).of(3), "activations");
    p.cp = 2;
    const double half = label(memories(model, p).of(3), "activations");
    const double key_value = 8192.0 * 2 * 8 * 128 * 2, layers = 10;
    EXPECT_NEAR(half, (whole - layers * key_value) / 2 + layers * key_value, 1e-9 * whole);
}

TEST(StageMemory, fsdp_gathers_two_of_the_largest_of_a_stages_own_layers_embedding_and_head) {
    const Workload model = workload("mixtral-8x7b");
    Plan p = plan("toy-ep2-dp2");
    p.optimizer = OptimizerSharding::kFsdp;
    p.ep = 8, p.dp = 2, p.pp = 4, p.tp = 1, p.etp_given = false;
    const Memories m = memories(model, p);
    const double message = message_bytes(model, m.c.plan, m.c.stack, 1), width = 2 * (2 + m.c.plan.gradient_bytes);
    const StageParameters layer = layer_parameters(model, m.c.plan, 9);
    EXPECT_NEAR(label(m.of(1), "communication"), 2 * message + width * (layer.dense + layer.experts), 1);
    // Dense, V H > a layer: the first stage gathers its embedding, a middle one a layer.
    const Workload small = workload("mula-1b");
    Plan q = p;
    q.ep = 1;
    const Memories n = memories(small, q);
    const StageParameters one = layer_parameters(small, n.c.plan, 0);
    ASSERT_GT(embedding_parameters(small, n.c.plan, 0).dense, one.dense);
    const double sent = message_bytes(small, n.c.plan, n.c.stack, 1);
    EXPECT_NEAR(label(n.of(0), "communication"), sent + width * embedding_parameters(small, n.c.plan, 0).dense, 1);
    EXPECT_NEAR(label(n.of(1), "communication"), 2 * sent + width * one.dense, 1);
    EXPECT_NEAR(label(n.of(3), "communication"), sent + width * head_parameters(small, n.c.plan, 3).dense, 1);
}

TEST(StageMemory, the_masks_of_the_loop_cover_the_gathered_tokens_or_with_all_to_all_the_ranks_own) {
    // One int64 a token, choice and expert: t K N 8 with all-to-all, ep t K N 8 with all-gather; all-gather also keeps
    // ep t rows of H, all-to-all its t K received.
    const Workload model = workload("toy-moe");
    Plan p = plan("toy-ep2-dp2");
    p.micro_batches = 1, p.expert_kernels = ExpertKernels::kLoop, p.recompute_expert = false;
    p.dispatch = Dispatch::kAllToAll;
    const double own = label(memories(model, p).of(0), "activations");
    p.dispatch = Dispatch::kAllGatherReduceScatter;
    const double gathered = label(memories(model, p).of(0), "activations");
    const double t = 64, k = model.top_k;
    EXPECT_NEAR(gathered - own,
                model.layers * ((2 - 1) * t * k * model.num_experts * 8 + (2 - k) * t * model.hidden_size * 2), 1);
}

TEST(StageMemory, fp32_weights_have_no_master_copy) {
    const Workload model = workload("toy-moe");
    Plan p = plan("toy-ep2-dp2");
    p.weight_bytes = 4;
    EXPECT_EQ(label(memories(model, p).of(0), "master_weights"), 0);
}

TEST(StageMemory, the_papers_layouts_of_all_five_models_fit_64_gb) {
    for (const char* name : {"mula-1b", "mula-7b-a1b", "mula-20b-a2b", "mula-100b-a7b", "mula-220b-a10b"}) {
        EXPECT_LT(memories(workload(name), plan(name)).peak(), 64e9) << name;
    }
}

}  // namespace
}  // namespace auspex
