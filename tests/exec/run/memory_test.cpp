/// @file Memory of a step as predicted and as the arenas counted it: equal, label by label, to the byte.
#include "schedule/memory/memory.hpp"

#include <gtest/gtest.h>

#include "../../schedule/recompute_fixture.hpp"
#include "../exec_fixture.hpp"
#include "schedule/bindings/bindings.hpp"

namespace auspex::exec {
namespace {

using namespace exec_fixture;

std::string recomputed_words(const models::Plan& p) {
    std::string words = p.recompute_layers > 0 ? " of " + std::to_string(p.recompute_layers) + " layers" : "";
    for (const auto& [word, part] : models::kRecomputeWords) {
        words += p.recompute.*part ? " " + std::string(word) : "";
    }
    return words;
}

std::string text_of(const RunInputs& run, int rank, const schedule::RankMemory& memory) {
    const models::Plan& p = run.plan;
    const schedule::Block& block = run.program.blocks[memory.use.block];
    const schedule::Operation& op = run.program.operations_of(block)[memory.operation];
    return run.workload.name + " tp " + std::to_string(p.tp) + " etp " + std::to_string(p.etp) + " pp " +
           std::to_string(p.pp) + " ep " + std::to_string(p.ep) + " dp " + std::to_string(p.dp) +
           (p.sequence_parallel ? " sliced" : "") + (p.overlap_dp ? " buckets" : "") +
           (p.cp > 1 ? " cp " + std::to_string(p.cp) + " " + to_string(p.context) : "") +
           (run.workload.qk_norm ? " qk-norm" : "") + " " + to_string(p.optimizer) + " of " +
           std::to_string(p.shard_replicas) + (p.reshard_after_forward ? "" : " kept") + " ahead " +
           std::to_string(p.prefetch) + recomputed_words(p) +
           (p.offload_layers > 0 ? " offloads " + std::to_string(p.offload_layers) : "") + " " + to_string(p.schedule) +
           " " + to_string(p.dispatch) + " " + to_string(p.expert_kernels) + ", rank " + std::to_string(rank) +
           ": predicted to peak in " + to_string(block.kind) + " at " +
           schedule::operation_name(operation_name_index(op.kind, op.phase)) + " of layer " + std::to_string(op.layer);
}

/// With uniform routing, or replaying an uneven record.
template <class P>
void expect_predicted_memory(const models::Workload& workload, const models::Plan& plan, bool uneven) {
    models::Stack stack = trainer_stack();
    stack.bucket_bytes = 900;  // a unit or a few
    const RunInputs run = run_inputs(workload, plan, still_training(), stack);
    const models::RoutingRecord record = uneven ? uneven_record(run) : models::RoutingRecord{};
    const StepResult result = one_step<P>(run, [&](TestRank<P>& test) {
        if (uneven) {
            test.routing = {RoutingMode::kReplayed, &record, nullptr};
        }
    });
    for (int rank = 0; rank < run.layout.tiles; ++rank) {
        const schedule::RankMemory memory =
            rank_memory(run.workload, run.plan, run.stack, run.layout, run.program, rank, uneven ? &record : nullptr);
        const auto i = static_cast<std::size_t>(rank);
        EXPECT_EQ(result.host_peaks[i], memory.host_bytes) << "in host memory, " << text_of(run, rank, memory);
        for (std::size_t label = 0; label < schedule::kMemoryLabelCount; ++label) {
            EXPECT_EQ(result.peaks[i][label], memory.peaks[label])
                << to_string(static_cast<schedule::MemoryLabel>(label)) << ", most at any time, "
                << text_of(run, rank, memory);
            EXPECT_EQ(result.at_peak[i][label], memory.at_peak[label])
                << to_string(static_cast<schedule::MemoryLabel>(label)) << ", at the peak, "
                << text_of(run, rank, memory);
        }
    }
}

models::Plan random_plan(Rng& rng, const models::Workload& w, bool mixture) {
    const auto coin = [&] { return rng.below(2) == 1; };
    models::Plan p = single_plan();
    p.tp = p.etp = coin() ? 2 : 1;
    p.pp = coin() ? 2 : 1;
    p.dp = coin() ? 2 : 1;
    p.sequence_parallel = coin();
    p.micro_batch_size = coin() ? 2 : 4;
    p.micro_batches = coin() ? 2 : 4;
    p.schedule = models::kScheduleKinds[rng.below(p.pp > 1 ? models::kScheduleKinds.size() : 2)];
    p.virtual_stages = least_chunks(p.schedule);
    if (is_v_shaped(p.schedule)) {
        p.micro_batches = 4;
    }
    testing_plans::draw_recompute(rng, w, p);
    p.offload_layers = rng.below(3) == 0 ? 1 + static_cast<int>(rng.below(3)) : 0;
    constexpr models::OptimizerSharding kOptimizers[] = {
        models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
        models::OptimizerSharding::kEpAware, models::OptimizerSharding::kZero2, models::OptimizerSharding::kFsdp};
    p.optimizer = kOptimizers[rng.below(has_stages_twice(p.schedule) ? 3 : 5)];
    p.overlap_dp = coin() && !shards_gradients(p.optimizer), p.overlap_pp = coin();
    if (shards_in_groups(p.optimizer) && !has_stages_twice(p.schedule) && rng.below(3) == 0) {
        p.dp = coin() ? 4 : 2;
        p.shard_replicas = 2;
    }
    if (p.optimizer == models::OptimizerSharding::kFsdp) {
        p.prefetch = static_cast<int>(rng.below(4));
        p.reshard_after_forward = rng.below(3) > 0;
    }
    if (mixture) {
        p.ep = coin() ? 2 : 1;
        p.dispatch = coin() ? models::Dispatch::kAllToAll : models::Dispatch::kAllGatherReduceScatter;
        constexpr models::ExpertKernels kKernels[] = {models::ExpertKernels::kLoop, models::ExpertKernels::kGrouped,
                                                      models::ExpertKernels::kFused};
        p.expert_kernels = kKernels[rng.below(3)];
    }
    return p;
}

/// Sequences shared by cp ranks within data parallelism, in any way that the heads of a rank let them be.
void share_sequences(Rng& rng, models::Workload& w, models::Plan& p) {
    using Kind = models::ContextParallel;
    const auto rarely = [&] { return rng.below(3) == 0; };
    p.cp = rarely() ? 4 : rarely() ? 2 : 1;
    if (p.cp == 1) {
        return;
    }
    constexpr Kind kKinds[] = {Kind::kAllGather, Kind::kRing, Kind::kAllToAll, Kind::kTwoLevel};
    p.context = kKinds[rng.below(4)];
    const bool too_few_heads = p.context == Kind::kAllToAll && p.cp * p.tp > w.heads;
    const bool keeps_heads = p.recompute.latent_up && p.context != Kind::kAllGather;  // as plans have to
    p.context = too_few_heads || keeps_heads || (p.context == Kind::kTwoLevel && p.cp == 2) ? Kind::kRing : p.context;
    p.context_all_to_all = p.context == Kind::kTwoLevel ? 2 : 1;
    p.dp *= p.cp;
    w.sequence_length = 16;
    w.global_aux_loss = false;
    const bool one_head = p.tp == 1 && w.attention == models::AttentionKind::kMultiHead && rarely();
    w.kv_heads = one_head ? 1 : w.kv_heads;
}

/// Experts over another number of ranks than the rest of their layers; what the trainer refuses stays as it was.
void split_experts(Rng& rng, models::Workload& w, models::Plan& p) {
    if (rng.below(3) > 0 || p.cp > 1) {
        return;
    }
    models::Plan split = p;
    split.etp = p.tp == 1 || rng.below(3) == 0 ? 2 * p.tp : 1;
    split.dp = split.ep * split.dp * split.etp % split.tp == 0 ? split.dp : split.tp * split.dp;
    split.etp_given = true;
    split.shard_replicas = 1;  // the dense part may have fewer replicas than drawn
    models::Workload of = w;
    of.sequence_length = 16, of.expert_size = 8, of.global_aux_loss = false;
    const RunInputs run = run_inputs(of, split);
    if (executor_runs(run.workload, run.plan, run.stack, run.program)) {
        w = of, p = split;
    }
}

models::Workload random_model(Rng& rng, bool mixture) {
    models::Workload w = mixture ? mixture_model() : dense_model();
    w.layers = 4;
    w.window = rng.below(3) == 0 ? 5 : 0, w.windowed_layers = w.window > 0 ? 2 : 0;
    w.qk_norm = rng.below(2) == 1;
    w.vocab_size = rng.below(2) == 1 ? 20 : 100;
    w.tied_embeddings = rng.below(3) == 0;
    if (mixture) {
        w.first_dense_layers = static_cast<int>(rng.below(2));
        w.intermediate_size = w.first_dense_layers > 0 ? 12 : 0;
        w.global_aux_loss = rng.below(2) == 1;
        w.shared_experts = static_cast<int>(rng.below(3));
        constexpr double kFactors[] = {0, 0, 0.5, 1};
        w.capacity_factor = kFactors[rng.below(4)];
        w.router_bias = !w.global_aux_loss && rng.below(2) == 1;
    }
    w.feed_forward = rng.below(2) == 1 ? models::FeedForward::kGelu : models::FeedForward::kSwiGlu;
    w.biases = rng.below(3) == 0, w.learned_positions = rng.below(3) == 0;
    if (!w.qk_norm && rng.below(2) == 1) {
        w.norm = models::NormKind::kLayer;
    }
    if (!w.biases && w.norm == models::NormKind::kRms && rng.below(3) == 0) {
        w = latent(w, rng.below(2) == 1 ? 6 : 0);
    }
    w.mtp_layers = !w.global_aux_loss && rng.below(3) == 0 ? 1 + static_cast<int>(rng.below(2)) : 0;
    return w;
}

void check_random_runs(bool mixture) {
    int share_sequences_too = 0, split_experts_too = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Rng rng(seed);
        models::Workload w = random_model(rng, mixture);
        models::Plan p = random_plan(rng, w, mixture);
        w.tied_embeddings = w.tied_embeddings && (p.pp == 1 || !shards_gradients(p.optimizer));
        w.mtp_layers = shards_gradients(p.optimizer) || p.overlap_dp ? 0 : w.mtp_layers;
        const bool uneven = mixture && rng.below(2) == 1;
        Rng others = rng;  // leaves what is drawn behind as it was
        share_sequences(others, w, p);
        if (mixture) {
            split_experts(others, w, p);
        }
        share_sequences_too += p.cp > 1 ? 1 : 0;
        split_experts_too += p.etp != p.tp ? 1 : 0;
        if (rng.below(2) == 1) {
            expect_predicted_memory<Fp32>(w, p, uneven);
            continue;
        }
        p.precision = "bf16", p.weight_bytes = 2;
        p.gradient_bytes = rng.below(2) == 1 ? 2 : 4;
        p.gradient_bytes == 2 ? expect_predicted_memory<Bf16Precision>(w, p, uneven)
                              : expect_predicted_memory<Bf16WithFp32Gradients>(w, p, uneven);
    }
    EXPECT_GT(share_sequences_too, 40);
    EXPECT_EQ(split_experts_too > 10, mixture);
}

TEST(PredictedMemory, of_dense_runs_is_what_the_arena_counts) { check_random_runs(false); }

TEST(PredictedMemory, of_mixture_runs_is_what_the_arena_counts) { check_random_runs(true); }

}  // namespace
}  // namespace auspex::exec
