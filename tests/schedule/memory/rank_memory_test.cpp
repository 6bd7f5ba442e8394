/// @file Memory of one rank to the byte: against sums by hand for tiny models, shards, recorded routing.
#include <gtest/gtest.h>

#include <numeric>

#include "../plan_fixture.hpp"
#include "base/error.hpp"
#include "schedule/memory/memory.hpp"

namespace auspex::schedule {
namespace {

using namespace testing_plans;

/// t = 16 tokens, h = 8, two heads of 4, V = 32, two layers.
models::Workload tiny_dense() {
    models::Workload w;
    w.name = "tiny";
    w.layers = 2, w.hidden_size = 8, w.heads = 2, w.kv_heads = 2, w.head_size = 4;
    w.intermediate_size = 16, w.vocab_size = 32, w.sequence_length = 16;
    return w;
}

/// The same with 4 experts of width 16, 2 chosen, and QK-norm.
models::Workload tiny_mixture() {
    models::Workload w = tiny_dense();
    w.intermediate_size = 0;
    w.num_experts = 4, w.top_k = 2, w.expert_size = 16, w.qk_norm = true;
    return w;
}

models::Plan tiny_plan() {
    models::Plan p;
    p.file = "tiny.json";
    p.dp = 1;
    p.dispatch = models::Dispatch::kAllGatherReduceScatter;
    return p;
}

struct Ranks {
    Case c;
    models::Layout layout;
    Program program;
    Ranks(const models::Workload& w, const models::Plan& p)
        : c{w, resolve_plan(p, w, 0), stack("bare")},
          layout(layout_of(c.plan)),
          program(build_program(c.workload, c.plan, c.stack, layout)) {}
    [[nodiscard]] RankMemory of(int rank, const models::RoutingRecord* routing = nullptr) const {
        return rank_memory(c.workload, c.plan, c.stack, layout, program, rank, routing);
    }
    [[nodiscard]] OpKind peak_kind(const RankMemory& m) const {
        return program.operations_of(program.blocks[m.use.block])[m.operation].kind;
    }
};

std::uint64_t of(const LabelBytes& bytes, MemoryLabel label) { return bytes[static_cast<std::size_t>(label)]; }
std::uint64_t peak(const RankMemory& memory, MemoryLabel label) { return of(memory.peaks, label); }
std::uint64_t sum(const LabelBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }

constexpr auto kActivations = MemoryLabel::kActivations;
constexpr auto kWorkspace = MemoryLabel::kWorkspace;

TEST(RankMemory, a_tiny_mixture_by_hand) {
    const Ranks ranks(tiny_mixture(), tiny_plan());
    const RankMemory m = ranks.of(0);
    const std::uint64_t parameters = 32 * 8 + 2 * (2 * 8 + 2 * 8 + 4 * 64 + 4 * 8 + 4 * 3 * 128) + 8 + 8 * 32;
    EXPECT_EQ(peak(m, MemoryLabel::kWeights), 2 * parameters);
    EXPECT_EQ(peak(m, MemoryLabel::kGradients), 2 * parameters);
    EXPECT_EQ(peak(m, MemoryLabel::kMasterWeights), 4 * parameters);
    EXPECT_EQ(peak(m, MemoryLabel::kMoments), 8 * parameters);
    // Attention: input, norm, [t, 24], sums [t, 2], [t, 16], output, log-sum-exps [t, 2].
    const std::uint64_t attention = 256 + 256 + 768 + 128 + 512 + 256 + 128;
    // Input, norm; logits, probabilities [t, 4]; choices, weights [t, 2]; offsets [5], slots [32]; rows of 8, 32,
    // 16, 8.
    const std::uint64_t experts = 256 + 256 + 256 + 256 + 256 + 128 + 40 + 128 + 512 + 2048 + 1024 + 512;
    EXPECT_EQ(peak(m, kActivations), 2 * (attention + experts) + 256 + 256);
    EXPECT_EQ(peak(m, MemoryLabel::kLogits), 16U * 32 * 4 + 16 * 3 * 4);
    // The experts' backward: g, rows, weights of choices, product, [R, 32], permuted rows, tokens.
    const std::uint64_t backward = 256 + 512 + 128 + 1024 + 2048 + 512 + 256;
    EXPECT_EQ(peak(m, kWorkspace), backward);
    EXPECT_EQ(peak(m, MemoryLabel::kCommunication), 0U);
    EXPECT_EQ(peak(m, MemoryLabel::kRouterLogits), 0U);
    EXPECT_EQ(m.peak_bytes - sum(m.fixed), 2 * (attention + experts) + backward);
    EXPECT_EQ(ranks.peak_kind(m), OpKind::kExpertComputation);
    EXPECT_EQ(sum(m.at_peak), m.peak_bytes);
}

TEST(RankMemory, a_tiny_mixture_made_again_by_hand) {
    models::Plan p = tiny_plan();
    p.recompute.norm = p.recompute.attention = p.recompute.expert = true;
    const RankMemory m = Ranks(tiny_mixture(), p).of(0);
    EXPECT_EQ(peak(m, kActivations), 4 * 256U + 256 + 256);
    // As kept above less the input, now workspace; on top the backward.
    const std::uint64_t experts = 256 + 256 + 256 + 256 + 128 + 40 + 128 + 512 + 2048 + 1024 + 512;
    EXPECT_EQ(peak(m, kWorkspace), experts + 256 + 512 + 128 + 1024 + 2048 + 512 + 256);
}

TEST(RankMemory, a_tiny_dense_model_over_two_slices_by_hand) {
    models::Plan p = tiny_plan();
    p.tp = 2, p.sequence_parallel = true;
    const Ranks ranks(tiny_dense(), p);
    const RankMemory m = ranks.of(1);
    // Slices of 8 tokens; half the heads, width 8 of 16.
    const std::uint64_t attention = 128 + 128 + 16 * 12 * 2 + 16 * 4 * 2 + 16 * 4;
    const std::uint64_t feed_forward = 128 + 128 + 16 * 16 * 2 + 16 * 8 * 2;
    const std::uint64_t head = 128 + 128 + 256;
    EXPECT_EQ(peak(m, kActivations), 2 * (attention + feed_forward) + head);
    EXPECT_EQ(peak(m, MemoryLabel::kLogits), 16U * 16 * 4 + 16 * 3 * 4);
    // The scatter behind gate and up: g, gradient of [t, 16], saved input, gradient of [t, h] and its slice.
    EXPECT_EQ(peak(m, kWorkspace), 128U + 512 + 256 + 256 + 128);
    // The scatter behind the LM head: nothing has been released yet.
    EXPECT_EQ(m.peak_bytes - sum(m.fixed), 2 * (attention + feed_forward) + head + 1216 + 256 + 128);
    EXPECT_EQ(ranks.peak_kind(m), OpKind::kTpReduceScatter);
    EXPECT_EQ(of(m.at_peak, kWorkspace), 256U + 128);
    // Gradients of five norms of 8 are summed over tp in one buffer.
    EXPECT_EQ(peak(m, MemoryLabel::kCommunication), 5U * 8 * 2);
}

TEST(RankMemory, messages_between_stages_by_hand) {
    // A message: t h bf16 = 16 x 8 x 2 = 256 bytes, and with it the logits of one layer, t x 4 experts x 2 bytes;
    // stage 1 has those of both layers. Layers as above: attention 2304, experts 5672. Of three micro-batches stage
    // 0 holds two, stage 1 one and what the final norm reads and makes, 256 each.
    models::Plan p = tiny_plan();
    p.pp = 2, p.micro_batches = 3;
    models::Workload w = tiny_mixture();
    w.global_aux_loss = true;
    Ranks ranks(w, p);
    ranks.c.stack.router_logits_travel = true;
    ranks.program = build_program(ranks.c.workload, ranks.c.plan, ranks.c.stack, ranks.layout);
    const RankMemory first = ranks.of(0), last = ranks.of(1);
    const std::uint64_t logits = 16 * 4 * 2, message = 256 + logits;
    EXPECT_EQ(peak(first, MemoryLabel::kCommunication), message);
    EXPECT_EQ(peak(last, MemoryLabel::kCommunication), message);
    EXPECT_EQ(peak(first, MemoryLabel::kRouterLogits), logits);
    EXPECT_EQ(peak(last, MemoryLabel::kRouterLogits), 2 * logits);
    const std::uint64_t layer = 2304 + 5672;
    EXPECT_EQ(peak(first, kActivations), 2 * layer);
    EXPECT_EQ(peak(last, kActivations), layer + 512);
}

TEST(RankMemory, gathered_and_sent_tokens_by_hand) {
    // One layer, ep = 2: T = 32, R = 32, two experts a rank; shared by both: input, norm, logits, probabilities,
    // choices, weights.
    models::Workload w = tiny_mixture();
    w.layers = 1;
    models::Plan p = tiny_plan();
    p.ep = 2;
    const std::uint64_t common = 2304 + 256 + 256 + 256 + 256 + 256 + 128 + 512;
    // Tokens, choices, weights of all; offsets [3], slots; rows of 8, 32, 16, 8.
    const RankMemory gathered = Ranks(w, p).of(0);
    EXPECT_EQ(peak(gathered, kActivations), common + 512 + 512 + 256 + 24 + 128 + 512 + 2048 + 1024 + 512);
    // g, [T, h] of it, rows, weights [T, K], product, [R, 32], permuted rows, tokens [T, h].
    EXPECT_EQ(peak(gathered, kWorkspace), 256U + 512 + 512 + 256 + 1024 + 2048 + 512 + 512);
    // Offsets [5], slots [t K]; experts of what arrived, offsets [3], order; rows of 8, 32, 16; returned rows.
    p.dispatch = models::Dispatch::kAllToAll;
    const RankMemory sent = Ranks(w, p).of(0);
    EXPECT_EQ(peak(sent, kActivations), common + 40 + 128 + 256 + 24 + 128 + 512 + 2048 + 1024 + 512);
    // g, weights [t, K], rows as they arrived and sorted, product, [R, 32], permuted rows and those sorted back.
    EXPECT_EQ(peak(sent, kWorkspace), 256U + 128 + 512 + 512 + 1024 + 2048 + 512 + 512);
    // One expert a rank: what arrived is kept as it is, and nothing is sorted.
    w.num_experts = 2;
    const RankMemory alone = Ranks(w, p).of(0);
    const std::uint64_t fewer = common - 2 * 16 * 2 * 4;
    EXPECT_EQ(peak(alone, kActivations), fewer + 24 + 128 + 256 + 512 + 16 + 2048 + 1024 + 512);
    EXPECT_EQ(peak(alone, kWorkspace), 256U + 128 + 512 + 1024 + 2048 + 512);
}

TEST(RankMemory, the_loop_keeps_a_mask_for_a_while_and_gradients_of_tokens_twice) {
    // Gradients of tokens once more: t h bf16 = 256 bytes.
    models::Plan p = tiny_plan();
    const RankMemory grouped = Ranks(tiny_mixture(), p).of(0);
    p.expert_kernels = models::ExpertKernels::kLoop;
    const RankMemory loop = Ranks(tiny_mixture(), p).of(0);
    EXPECT_EQ(peak(loop, kActivations), peak(grouped, kActivations));
    EXPECT_EQ(peak(loop, kWorkspace), peak(grouped, kWorkspace) + 256);
}

TEST(RankMemory, any_plan_ends_with_what_is_there_all_the_time) {
    // The walk aborts where a step does not release what it has made, or releases what it has not.
    for (std::uint64_t seed = 5'000; seed < 5'400; ++seed) {
        const Case c = random_case(seed);
        const models::Layout layout = layout_of(c.plan);
        const Program program = build_program(c.workload, c.plan, c.stack, layout);
        for (int stage = 0; stage < c.plan.pp; ++stage) {
            const RankMemory m =
                rank_memory(c.workload, c.plan, c.stack, layout, program, layout.rank(stage, 0), nullptr);
            EXPECT_GT(m.peak_bytes, sum(m.fixed)) << "seed " << seed;
            EXPECT_EQ(sum(m.at_peak), m.peak_bytes) << "seed " << seed;
            for (std::size_t i = 0; i < kMemoryLabelCount; ++i) {
                EXPECT_LE(m.fixed[i], m.at_peak[i]) << "seed " << seed;
                EXPECT_LE(m.at_peak[i], m.peaks[i]) << "seed " << seed;
            }
        }
    }
}

TEST(RankMemory, uneven_shards_sum_to_the_whole) {
    models::Plan p = tiny_plan();
    p.dp = 3, p.ep = 2;
    for (const models::OptimizerSharding sharding :
         {models::OptimizerSharding::kSharded, models::OptimizerSharding::kEpAware,
          models::OptimizerSharding::kReplicated}) {
        p.optimizer = sharding;
        const Ranks ranks(tiny_mixture(), p);
        const StageParameters held = stage_parameters(ranks.c.workload, ranks.c.plan, 0);
        std::uint64_t moments = 0;
        for (int rank = 0; rank < 6; ++rank) {
            moments += peak(ranks.of(rank), MemoryLabel::kMoments);
        }
        const double copies_dense = sharding == models::OptimizerSharding::kReplicated ? 6
                                    : sharding == models::OptimizerSharding::kSharded  ? 2
                                                                                       : 1;
        const double copies_experts = sharding == models::OptimizerSharding::kReplicated ? 6 : 2;
        EXPECT_EQ(static_cast<double>(moments), 8 * (copies_dense * held.dense + copies_experts * held.experts));
    }
}

TEST(RankMemory, a_shard_is_the_place_in_its_group) {
    // 1,160 dense parameters over 3: 386, 387, 387 of them; 3,072 of experts: 1,024 each.
    models::Plan p = tiny_plan();
    p.dp = 3;
    const Ranks ranks(tiny_mixture(), p);
    ASSERT_EQ(stage_parameters(ranks.c.workload, ranks.c.plan, 0).dense, 1160);
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(peak(ranks.of(rank), MemoryLabel::kMasterWeights), 4U * ((rank == 0 ? 386U : 387U) + 1024));
    }
}

/// Every token of micro-batch m chooses the experts of ep rank `rank_of(m)`, which has two.
template <typename RankOf>
models::RoutingRecord record_of(const Ranks& ranks, RankOf rank_of) {
    const models::Plan& p = ranks.c.plan;
    models::RoutingRecord r{7, 2, ranks.c.workload.layers, 2, 4, ranks.layout.global_batch * 16, {}};
    for (int step_and_layer = 0; step_and_layer < r.steps * r.layers; ++step_and_layer) {
        for (int token = 0; token < r.tokens; ++token) {
            const int first = 2 * rank_of(token / 16 % p.micro_batches);
            r.choices.push_back(static_cast<std::uint16_t>(first));
            r.choices.push_back(static_cast<std::uint16_t>(first + 1));
        }
    }
    return r;
}

TEST(RankMemory, recorded_routing_gives_each_rank_its_own_rows) {
    models::Plan p = tiny_plan();
    p.ep = 2, p.micro_batches = 2, p.schedule = models::ScheduleKind::kGpipe;
    const Ranks ranks(tiny_mixture(), p);
    const std::uint64_t uniform = peak(ranks.of(0), kActivations);
    // A row keeps its slot, 8 + 8 elements of width h, 32 + 16 of its expert; 2 layers, 2 micro-batches.
    const std::uint64_t rows = 32 * (4 + 2 * (16 + 48)) * 2 * 2;
    const models::RoutingRecord first = record_of(ranks, [](int) { return 0; });
    EXPECT_EQ(peak(ranks.of(0, &first), kActivations), uniform + rows);
    EXPECT_EQ(peak(ranks.of(1, &first), kActivations), uniform - rows);
    const models::RoutingRecord in_turn = record_of(ranks, [](int m) { return m; });
    EXPECT_EQ(peak(ranks.of(0, &in_turn), kActivations), uniform);
    EXPECT_EQ(peak(ranks.of(1, &in_turn), kActivations), uniform);
}

TEST(RankMemory, a_stage_is_as_full_as_its_fullest_rank) {
    models::Plan p = tiny_plan();
    p.ep = 2, p.micro_batches = 2, p.schedule = models::ScheduleKind::kGpipe;
    const Ranks ranks(tiny_mixture(), p);
    const models::RoutingRecord record = record_of(ranks, [](int) { return 1; });
    const models::Machine aurora = machine();
    const StageMemory stage = recorded_stage_memory(ranks.c.workload, ranks.c.plan, ranks.c.stack, aurora, ranks.layout,
                                                    ranks.program, 0, record);
    const RankMemory busy = ranks.of(1, &record);
    EXPECT_GT(busy.peak_bytes, ranks.of(0, &record).peak_bytes);
    EXPECT_EQ(stage.peak_bytes, static_cast<double>(busy.peak_bytes) + aurora.tile.reserved_bytes);
    EXPECT_EQ(stage.peak_by_label.at(static_cast<std::size_t>(kActivations)).second,
              static_cast<double>(peak(busy, kActivations)));
}

TEST(RankMemory, a_record_of_another_batch_is_refused) {
    models::Plan p = tiny_plan();
    p.ep = 2;
    const Ranks ranks(tiny_mixture(), p);
    models::RoutingRecord record = record_of(ranks, [](int) { return 0; });
    record.tokens += 1;
    EXPECT_THROW(static_cast<void>(ranks.of(0, &record)), InputError);
}

}  // namespace
}  // namespace auspex::schedule
