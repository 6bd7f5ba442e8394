#pragma once
/// @file States written to checkpoints and read from them, on any layout; damage.
#include <stdexcept>
#include <string>
#include <vector>

#include "../state_fixture.hpp"
#include "exec/checkpoint/checkpoint.hpp"
#include "exec/checkpoint/checkpoint_manifest.hpp"

namespace auspex::state_fixture {

/// Everything that a checkpoint must bring back, as whole tensors.
struct State {
    FloatTensors weights, m, v;
    bool operator==(const State&) const = default;
};

template <class P>
void collect_state(const exec::Rank<P>& rank, State& state) {
    collect(rank, exec::StateKind::kWeight, state.weights);
    collect(rank, exec::StateKind::kFirstMoment, state.m);
    collect(rank, exec::StateKind::kSecondMoment, state.v);
}

/// Writes a checkpoint of a state that depends on the seed, by a run that began from `source`; returns that state.
/// Throws if that wrote over the source.
template <class P>
State write_state(const models::Plan& plan, const std::string& folder, int steps_done, const std::string& source = "",
                  std::uint64_t seed = 1) {
    State state;
    exec::RunInputs run = run_inputs(every_tensor_model(), plan);
    run.seed = seed;
    on_ranks<P>(run, [&](exec::Rank<P>& rank) {
        fill_moments(rank);
        collect_state(rank, state);
        const std::string written = exec::write_checkpoint(
            rank, {folder, source, steps_done, 4 * steps_done, {{"seed", std::to_string(seed)}}});
        if (written == source) {
            throw std::runtime_error("written over what the run began from");
        }
    });
    return state;
}

inline exec::CheckpointInfo newest(const std::string& folder, std::vector<std::string>* notes = nullptr,
                                   const models::Workload& workload = every_tensor_model()) {
    std::vector<std::string> own;
    return newest_checkpoint(folder, run_inputs(workload, single_plan()), notes == nullptr ? own : *notes);
}

template <class P>
State read_state(const models::Plan& plan, const exec::CheckpointInfo& info) {
    State state;
    exec::RunInputs run = run_inputs(every_tensor_model(), plan);
    run.seed = 999;
    on_ranks<P>(run, [&](exec::Rank<P>& rank) {
        exec::read_checkpoint(rank, info);
        collect_state(rank, state);
        rank.communicator->barrier(models::GroupKind::kWorld);
        int different = 0;  // replicas have the owners' weights
        for_each_element(
            rank.table, [&](bool is_expert, std::size_t flat, std::size_t whole, const exec::Parameter& p) {
                if (is_expert ? rank.weights.sharded.experts : rank.weights.sharded.dense) {
                    return;  // no replica has the owners' weights
                }
                const auto weight = (is_expert ? rank.weights.experts : rank.weights.dense)[flat];
                different +=
                    exec::real(weight) != exec::real(exec::stored<typename P::Value>(state.weights.at(p.name)[whole]));
            });
        if (different > 0) {
            throw std::runtime_error("replicas have other weights than their owners: " + words_of(plan));
        }
    });
    return state;
}

inline void flip_byte(const std::string& file) {
    std::string bytes = bytes_of(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_bytes(file, bytes);
}

}  // namespace auspex::state_fixture
