#pragma once
/// @file Ranks that have parameters and optimizer states, and whole tensors collected from them. No passes are run.
#include "exec/operations/operations.hpp"
#include "exec_fixture.hpp"
#include "file_fixture.hpp"

namespace auspex::state_fixture {

using exec_fixture::dense_model;
using exec_fixture::latent;
using exec_fixture::mixture_model;
using exec_fixture::run_inputs;
using exec_fixture::single_plan;
using file_fixture::bytes_of;
using file_fixture::message_of;
using file_fixture::TestFolder;
using file_fixture::write_bytes;

/// The mixture with a leading dense layer and norms of queries and keys: every kind of tensor.
inline models::Workload every_tensor_model() {
    models::Workload w = mixture_model();
    w.layers = 3, w.first_dense_layers = 1, w.intermediate_size = 12;
    w.qk_norm = true;
    return w;
}

inline models::Workload shared_model() {
    models::Workload w = every_tensor_model();
    w.shared_experts = 2;
    return w;
}

inline models::Plan plan_of(int pp, int dp, int ep, int tp, models::OptimizerSharding optimizer) {
    models::Plan p = single_plan();
    p.pp = pp, p.dp = dp, p.ep = ep, p.tp = tp;
    p.optimizer = optimizer;
    return p;
}

/// With each stage on two ranks.
inline models::Plan twice(models::Plan p) {
    p.schedule = models::ScheduleKind::kDualPipe;
    p.virtual_stages = 2, p.micro_batches = 4;
    return p;
}

/// Grids of up to eight ranks with every way to shard the optimizer.
inline std::vector<models::Plan> layouts() {
    std::vector<models::Plan> plans;
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kReplicated, models::OptimizerSharding::kSharded,
          models::OptimizerSharding::kEpAware}) {
        plans.push_back(plan_of(1, 1, 1, 2, optimizer));
        plans.push_back(plan_of(1, 1, 2, 1, optimizer));
        plans.push_back(plan_of(2, 1, 1, 1, optimizer));
        plans.push_back(plan_of(1, 3, 1, 1, optimizer));
        plans.push_back(plan_of(1, 2, 2, 2, optimizer));
        plans.push_back(plan_of(2, 2, 2, 1, optimizer));
        plans.back().rank_order = {models::Axis::kPp, models::Axis::kDp, models::Axis::kEp, models::Axis::kTp};
        plans.push_back(twice(plan_of(2, 3, 1, 1, optimizer)));
        plans.push_back(twice(plan_of(2, 1, 2, 2, optimizer)));
    }
    return plans;
}

/// With those whose gradients, or weights, are sharded as well.
inline std::vector<models::Plan> layouts_and_sharded() {
    std::vector<models::Plan> plans = layouts();
    for (const models::OptimizerSharding optimizer :
         {models::OptimizerSharding::kEpAware, models::OptimizerSharding::kZero2, models::OptimizerSharding::kFsdp}) {
        for (const int replicas : {1, 2}) {
            plans.push_back(plan_of(1, 4, 1, 1, optimizer));
            plans.back().shard_replicas = replicas;
            plans.push_back(plan_of(2, 2, 2, 2, optimizer));
            plans.back().shard_replicas = replicas;
            plans.back().reshard_after_forward = replicas == 1;
        }
    }
    return plans;
}

inline std::string words_of(const models::Plan& p) {
    return "pp " + std::to_string(p.pp) + " dp " + std::to_string(p.dp) + " ep " + std::to_string(p.ep) + " tp " +
           std::to_string(p.tp) + " " + to_string(p.optimizer) +
           (p.shard_replicas > 1 ? " in " + std::to_string(p.shard_replicas) + " groups" : "") + " " +
           to_string(p.schedule);
}

template <class P>
struct StateRank {
    exec::Arena arena;
    exec::OptimizerState<P> optimizer;
    exec::Rank<P> rank;

    StateRank(const exec::RunInputs& run, exec::Communicator& communicator) {
        rank = exec::make_rank(run, communicator, arena, optimizer, nullptr);
        exec::initialise_rank(rank);
    }
};

template <class P>
void on_ranks(const exec::RunInputs& run, const std::function<void(exec::Rank<P>&)>& body) {
    exec::run_in_process(run.layout, [&](exec::Communicator& communicator) {
        StateRank<P> state(run, communicator);
        body(state.rank);
    });
}

/// Whole tensors by name, as fp32.
using FloatTensors = std::map<std::string, std::vector<float>>;

/// Adds what the rank owns of a kind of state. An element that nobody owns stays NaN, one that two own is infinite.
template <class P>
void collect(const exec::Rank<P>& rank, exec::StateKind kind, FloatTensors& tensors) {
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    for (const exec::TensorPart& part : exec::owned_parts(rank)) {
        std::vector<float> values(part.size());
        exec::copy_state(rank, kind, part, values);
        std::vector<float>& whole = tensors[part.parameter->name];
        whole.resize(exec::elements_of(part.parameter->shape), NAN);
        exec::for_each_run(slice_of(*part.parameter), part.begin, part.end,
                           [&](std::size_t to, std::size_t at, std::size_t count) {
                               for (std::size_t i = 0; i < count; ++i) {
                                   whole[to + i] = std::isnan(whole[to + i]) ? values[at - part.begin + i] : INFINITY;
                               }
                           });
    }
}

/// A number for every element of the model: what tests put into gradients and moments.
inline double number_of(const std::string& name, std::size_t whole, double phase) {
    double sum = phase;
    for (const char letter : name) {
        sum = sum * 1.1 + letter;
    }
    return std::sin(sum + 0.7 * static_cast<double>(whole));
}

/// Calls set(is expert, element of the flat array, element of the whole tensor, parameter) for all that a rank holds.
template <class Set>
void for_each_element(const exec::ParameterTable& table, const Set& set) {
    for (const bool is_expert : {false, true}) {
        for (const exec::Parameter& p : is_expert ? table.experts : table.dense) {
            exec::for_each_run(slice_of(p), 0, p.size, [&](std::size_t whole, std::size_t at, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                    set(is_expert, p.offset + at + i, whole + i, p);
                }
            });
        }
    }
}

/// Moments that tell every element: m in [-1, 1], v in [0, 1].
template <class P>
void fill_moments(exec::Rank<P>& rank) {
    for (const exec::TensorPart& part : exec::shard_parts(rank)) {
        std::vector<float> m(part.size()), v(part.size());
        exec::for_each_run(slice_of(*part.parameter), part.begin, part.end,
                           [&](std::size_t whole, std::size_t at, std::size_t count) {
                               for (std::size_t i = 0; i < count; ++i) {
                                   const double x = number_of(part.parameter->name, whole + i, 3);
                                   m[at - part.begin + i] = static_cast<float>(x);
                                   v[at - part.begin + i] = static_cast<float>(x * x);
                               }
                           });
        exec::store_state(rank, exec::StateKind::kFirstMoment, part, m);
        exec::store_state(rank, exec::StateKind::kSecondMoment, part, v);
    }
}

}  // namespace auspex::state_fixture
