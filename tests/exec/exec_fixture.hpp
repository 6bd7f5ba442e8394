#pragma once
/// @file Training steps on ranks in memory: small models, plans over a few ranks, fixed tokens, gradients of whole
/// tensors.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/rng.hpp"
#include "exec/run/collection.hpp"
#include "exec/run/interpreter.hpp"
#include "exec/state/optimizer.hpp"
#include "exec/state/tensor_slices.hpp"
#include "exec/state/unit_arrays.hpp"
#include "exec/transport/in_process.hpp"
#include "models/machine.hpp"

namespace auspex::exec_fixture {

/// Two dense layers, grouped queries.
inline models::Workload dense_model() {
    models::Workload w;
    w.name = "tiny-dense";
    w.layers = 2;
    w.hidden_size = 8;
    w.heads = 4, w.kv_heads = 2, w.head_size = 4;
    w.intermediate_size = 12;
    w.vocab_size = 20;
    w.sequence_length = 6;
    return w;
}
/// Two MoE layers of four experts.
inline models::Workload mixture_model() {
    models::Workload w = dense_model();
    w.name = "tiny-moe";
    w.intermediate_size = 0;
    w.num_experts = 4, w.top_k = 2, w.expert_size = 6;
    return w;
}

/// Latent attention in place of a model's own: queries whole where q_rank is 0.
inline models::Workload latent(models::Workload w, int q_rank) {
    w.name += "-latent";
    w.attention = models::AttentionKind::kLatent;
    w.kv_heads = w.heads;
    w.qk_norm = false;
    w.q_rank = q_rank, w.kv_rank = 5, w.rope_head_size = 2, w.value_head_size = 3;
    return w;
}

/// As GPT-3 is: layer norms, GELU, biases, learned positions, one table for both ends.
inline models::Workload gpt_model() {
    models::Workload w = dense_model();
    w.name = "tiny-gpt";
    w.kv_heads = w.heads;
    w.norm = models::NormKind::kLayer, w.feed_forward = models::FeedForward::kGelu;
    w.biases = w.learned_positions = w.tied_embeddings = true;
    return w;
}

/// Experts as in a GPT with a mixture in place of its feed-forwards: GELU, biases everywhere, the router's among them.
inline models::Workload gpt_mixture_model() {
    models::Workload w = gpt_model();
    w.name = "tiny-gpt-moe";
    w.intermediate_size = 0;
    w.num_experts = 4, w.top_k = 2, w.expert_size = 6;
    return w;
}

/// Windows of three tokens in every layer but the last of four, or of every second one of two.
inline models::Workload windowed(models::Workload w) {
    w.name += "-windowed";
    w.window = 3, w.windowed_layers = w.layers - 1;
    return w;
}

/// Modules behind the last layer, each of which predicts a token further.
inline models::Workload predicting(models::Workload w, int modules) {
    w.name += "-predicting";
    w.mtp_layers = modules;
    return w;
}

/// One rank, two micro-batches of two sequences, fp32, nothing recomputed, uniform routing.
inline models::Plan single_plan() {
    models::Plan p;
    p.name = p.file = "tiny";
    p.dp = 1;
    p.micro_batch_size = 2, p.micro_batches = 2;
    p.schedule = models::ScheduleKind::k1f1b;
    p.precision = "fp32", p.weight_bytes = 4, p.gradient_bytes = 4;
    return p;
}

/// Weights large enough for every part of the model to matter, and left as they are by a step.
inline models::Training still_training() {
    models::Training t;
    t.learning_rate = 0, t.weight_decay = 0, t.clip = 0;
    t.initial_deviation = 0.3;
    return t;
}

inline models::Stack trainer_stack() {
    return models::load_stack(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/stacks/auspex.json"));
}

/// Everything of a run over as many ranks as the plan's grid has.
inline exec::RunInputs run_inputs(const models::Workload& workload, const models::Plan& plan,
                                  const models::Training& training = still_training(),
                                  const models::Stack& stack = trainer_stack()) {
    static const models::Machine kMachine =
        models::load_machine(JsonDocument::load(std::string(AUSPEX_SOURCE_DIR) + "/machines/aurora.json"));
    exec::RunInputs run;
    run.workload = workload;
    run.plan = resolve_plan(plan, workload, 0);
    run.stack = stack;
    run.training = training;
    run.layout = make_layout(run.plan, kMachine, tiles_of(run.plan));
    run.program = schedule::build_program(run.workload, run.plan, run.stack, run.layout);
    run.last_step = 10;
    return run;
}

/// Tokens of one sequence of a step's batch: the same whichever rank reads it.
inline std::vector<std::int32_t> sequence_tokens(const models::Workload& workload, int step, int sequence) {
    Rng rng(static_cast<std::uint64_t>(step) * 100'003 + static_cast<std::uint64_t>(sequence) + 7);
    std::vector<std::int32_t> tokens;
    for (int i = 0; i <= workload.sequence_length; ++i) {
        tokens.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(workload.vocab_size))));
    }
    return tokens;
}
/// Of a rank, by micro-batch.
inline std::vector<exec::MicroBatchTokens> tokens_of(const exec::RunInputs& run,
                                                     const exec::RankCoordinates& coordinates, int step) {
    std::vector<exec::MicroBatchTokens> batch;
    for (int m = 0; m < run.plan.micro_batches; ++m) {
        exec::MicroBatchTokens tokens;
        for (int i = 0; i < run.plan.micro_batch_size; ++i) {
            const int sequence = (coordinates.data * run.plan.micro_batches + m) * run.plan.micro_batch_size + i;
            const std::vector<std::int32_t> more = sequence_tokens(run.workload, step, sequence);
            tokens.insert(tokens.end(), more.begin(), more.end());
        }
        batch.push_back(std::move(tokens));
    }
    return batch;
}

/// Random choices of different experts for every token of step 0, uneven on purpose: lower numbers come more often.
inline models::RoutingRecord uneven_record(const exec::RunInputs& run) {
    const models::Workload& w = run.workload;
    models::RoutingRecord record = empty_routing_record(run, 0, 1);
    record.choices.clear();
    Rng rng(11);
    for (int token = 0; token < record.tokens * record.layers; ++token) {
        const std::size_t begin = record.choices.size();
        while (record.choices.size() < begin + static_cast<std::size_t>(w.top_k)) {
            const double u = rng.uniform();
            const auto expert = static_cast<std::uint16_t>(u * u * w.num_experts);
            const auto of_token = record.choices.begin() + static_cast<std::ptrdiff_t>(begin);
            if (std::find(of_token, record.choices.end(), expert) == record.choices.end()) {
                record.choices.push_back(expert);
            }
        }
    }
    return record;
}

inline exec::RoutingMode mode_of(const models::Plan& plan) {
    return plan.routing.kind == models::RoutingDistribution::kUniform ? exec::RoutingMode::kUniform
                                                                      : exec::RoutingMode::kLearned;
}

/// A rank with all that it points to, initialised, and with the tokens of step 0. Weights of norms, which begin at 1,
/// are spread, so that it is seen where they are forgotten.
template <class P>
struct TestRank {
    exec::Arena arena;
    exec::OptimizerState<P> optimizer;
    exec::RoutingSource routing;
    exec::Rank<P> rank;

    TestRank(const exec::RunInputs& run, exec::Communicator& communicator) {
        routing.mode = mode_of(run.plan);
        rank = exec::make_rank(run, communicator, arena, optimizer, &routing);
        exec::initialise_rank(rank);
        for (const bool experts : {false, true}) {
            const bool sharded = experts ? rank.weights.sharded.experts : rank.weights.sharded.dense;
            for (const exec::Parameter& p : experts ? rank.table.experts : rank.table.dense) {
                if (p.shape.size() == 1 && !sharded) {
                    spread({&p, experts, 0, p.size, 0});
                }
            }
            for (const exec::TensorPart& part : shard_parts(rank)) {
                if (part.parameter->shape.size() == 1 && sharded && part.is_expert == experts) {
                    spread(part);
                }
            }
        }
        rank.tokens = tokens_of(run, rank.coordinates, 0);
    }

    void spread(const exec::TensorPart& part) {
        const exec::Parameter& p = *part.parameter;
        const std::size_t place = weight_place(rank, part);
        exec::for_each_run(slice_of(p), part.begin, part.end,
                           [&](std::size_t whole, std::size_t at, std::size_t count) {
                               for (std::size_t i = 0; i < count; ++i) {
                                   const double value = 1 + 0.3 * std::sin(static_cast<double>(whole + i) + p.layer);
                                   auto& weights = part.is_expert ? rank.weights.experts : rank.weights.dense;
                                   weights[place + at - part.begin + i] = exec::stored<typename P::Value>(value);
                               }
                           });
    }

    void step(schedule::Timeline* timeline = nullptr) {
        exec::run_step(rank, timeline, std::chrono::steady_clock::now());
    }
};

/// Whole tensors by name.
using Tensors = std::map<std::string, std::vector<double>>;

/// Copies what the rank answers for of its gradients into whole tensors.
template <class P>
void collect_gradients(const exec::Rank<P>& rank, Tensors& tensors) {
    for (const exec::TensorPart& part : exec::owned_parts(rank)) {
        const exec::Parameter& p = *part.parameter;
        const auto& gradients = part.is_expert ? rank.weights.experts_gradient : rank.weights.dense_gradient;
        std::vector<double>& tensor = tensors[p.name];
        tensor.resize(exec::elements_of(p.shape), 0.0);
        exec::for_each_run(
            slice_of(p), part.begin, part.end, [&](std::size_t whole, std::size_t at, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                    tensor[whole + i] = exec::real(gradients[gradient_place(rank, part) + at - part.begin + i]);
                }
            });
    }
}

/// What a step leaves: the loss's parts summed over ranks, the norm of gradients that all ranks know, gradients of
/// whole tensors (those of the batch), and by rank what its arena holds and held, and its counts.
struct StepResult {
    exec::LossParts loss;
    double gradient_norm = 0;
    Tensors gradients;
    std::vector<schedule::LabelBytes> live, peaks, at_peak;
    std::vector<std::uint64_t> host_peaks;  ///< of activations in host memory
    std::vector<std::vector<exec::OperationCount>> counts;
};

/// Runs step 0 on all ranks as threads; `change` is called with each rank before it.
template <class P>
StepResult one_step(const exec::RunInputs& run, const std::function<void(TestRank<P>&)>& change = {}) {
    const auto ranks = static_cast<std::size_t>(run.layout.tiles);
    StepResult result;
    result.live.resize(ranks), result.peaks.resize(ranks), result.at_peak.resize(ranks), result.counts.resize(ranks);
    result.host_peaks.resize(ranks);
    std::vector<exec::LossParts> losses(ranks);
    std::mutex mutex;
    exec::run_in_process(run.layout, [&](exec::Communicator& communicator) {
        TestRank<P> test(run, communicator);
        if (change) {
            change(test);
        }
        test.step();
        const std::scoped_lock lock(mutex);
        const auto rank = static_cast<std::size_t>(communicator.world_rank());
        losses[rank] = test.rank.loss;
        result.gradient_norm = test.rank.gradient_norm;
        collect_gradients(test.rank, result.gradients);
        result.live[rank] = test.arena.live();
        result.peaks[rank] = test.arena.peaks();
        result.at_peak[rank] = test.arena.at_peak();
        result.counts[rank] = test.rank.counts;
        result.host_peaks[rank] = test.rank.host->peak_bytes();
    });
    for (const exec::LossParts& loss : losses) {
        result.loss.cross_entropy += loss.cross_entropy;
        result.loss.auxiliary += loss.auxiliary;
        result.loss.z += loss.z;
    }
    return result;
}

/// Largest difference of two tensors over the largest element of `expected`; infinite where sizes differ or an element
/// is not a number.
inline double relative_difference(const std::vector<double>& found, const std::vector<double>& expected) {
    double difference = found.size() == expected.size() ? 0 : INFINITY, largest = 0;
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
        const double apart = std::abs(found[i] - expected[i]);
        difference = std::max(difference, std::isnan(apart) ? INFINITY : apart);
        largest = std::max(largest, std::abs(expected[i]));
    }
    return difference == 0 ? 0 : difference / largest;
}

}  // namespace auspex::exec_fixture
