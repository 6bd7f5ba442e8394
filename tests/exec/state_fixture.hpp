#pragma once
/// @file Ranks that have parameters and optimizer states, and whole tensors collected from them. No passes are run.
#include "exec/operations/operations.hpp"
#include "exec_fixture.hpp"
#include "file_fixture.hpp"

namespace auspex::state_fixture {

using exec_fixture::dense_model;
using exec_fixture::mixture_model;
using exec_fixture::run_inputs;
using exec_fixture::single_plan;
using file_fixture::bytes_of;
using file_fixture::message_of;
using file_fixture::TestFolder;
using file_fixture::write_bytes;

/// The mixture with a leading dense layer and norms of queries and keys: every kind of tensor.
inline Workload every_tensor_model() {
    Workload w = mixture_model();
    w.layers = 3, w.first_dense_layers = 1, w.intermediate_size = 12;
    w.qk_norm = true;
    return w;
}

inline Plan plan_of(int pp, int dp, int ep, int tp, OptimizerSharding optimizer) {
    Plan p = single_plan();
    p.pp = pp, p.dp = dp, p.ep = ep, p.tp = tp;
    p.optimizer = optimizer;
    return p;
}

/// Grids of up to eight ranks with every way to shard the optimizer.
inline std::vector<Plan> layouts() {
    std::vector<Plan> plans;
    for (const OptimizerSharding optimizer :
         {OptimizerSharding::kReplicated, OptimizerSharding::kSharded, OptimizerSharding::kEpAware}) {
        plans.push_back(plan_of(1, 1, 1, 2, optimizer));
        plans.push_back(plan_of(1, 1, 2, 1, optimizer));
        plans.push_back(plan_of(2, 1, 1, 1, optimizer));
        plans.push_back(plan_of(1, 3, 1, 1, optimizer));
        plans.push_back(plan_of(1, 2, 2, 2, optimizer));
        plans.push_back(plan_of(2, 2, 2, 1, optimizer));
        plans.back().rank_order = {Axis::kPp, Axis::kDp, Axis::kEp, Axis::kTp};
    }
    return plans;
}

inline std::string words_of(const Plan& p) {
    return "pp " + std::to_string(p.pp) + " dp " + std::to_string(p.dp) + " ep " + std::to_string(p.ep) + " tp " +
           std::to_string(p.tp) + " " + to_string(p.optimizer);
}

template <class P>
struct StateRank {
    Arena arena;
    OptimizerState<P> optimizer;
    Rank<P> rank;

    StateRank(const RunInputs& run, Communicator& communicator) {
        rank = make_rank(run, communicator, arena, optimizer, nullptr);
        initialise_rank(rank);
    }
};

template <class P>
void on_ranks(const RunInputs& run, const std::function<void(Rank<P>&)>& body) {
    run_in_process(run.layout, [&](Communicator& communicator) {
        StateRank<P> state(run, communicator);
        body(state.rank);
    });
}

/// Whole tensors by name, as fp32.
using FloatTensors = std::map<std::string, std::vector<float>>;

/// Adds what the rank owns of a kind of state. An element that nobody owns stays NaN, one that two own is infinite.
template <class P>
void collect(const Rank<P>& rank, StateKind kind, FloatTensors& tensors) {
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    for (const TensorPart& part : owned_parts(rank)) {
        std::vector<float> values(part.size());
        copy_state(rank, kind, part, values);
        std::vector<float>& whole = tensors[part.parameter->name];
        whole.resize(elements_of(part.parameter->shape), NAN);
        for_each_run(slice_of(*part.parameter), part.begin, part.end,
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
void for_each_element(const ParameterTable& table, const Set& set) {
    for (const bool is_expert : {false, true}) {
        for (const Parameter& p : is_expert ? table.experts : table.dense) {
            for_each_run(slice_of(p), 0, p.size, [&](std::size_t whole, std::size_t at, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) {
                    set(is_expert, p.offset + at + i, whole + i, p);
                }
            });
        }
    }
}

/// Moments that tell every element: m in [-1, 1], v in [0, 1].
template <class P>
void fill_moments(Rank<P>& rank) {
    for (const TensorPart& part : shard_parts(rank)) {
        std::vector<float> m(part.size()), v(part.size());
        for_each_run(slice_of(*part.parameter), part.begin, part.end,
                     [&](std::size_t whole, std::size_t at, std::size_t count) {
                         for (std::size_t i = 0; i < count; ++i) {
                             const double x = number_of(part.parameter->name, whole + i, 3);
                             m[at - part.begin + i] = static_cast<float>(x);
                             v[at - part.begin + i] = static_cast<float>(x * x);
                         }
                     });
        store_state(rank, StateKind::kFirstMoment, part, m);
        store_state(rank, StateKind::kSecondMoment, part, v);
    }
}

}  // namespace auspex::state_fixture
