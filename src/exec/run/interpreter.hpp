#pragma once
/// @file Plays the program of a step on one rank, in real time.
#include <stdexcept>
#include <vector>

#include "exec/operations/operations.hpp"

namespace auspex::exec {

/// Found before any weight changed: numbers that are not finite. The message names step and ranks: those where they
/// came from (Rank::unhealthy); none where each rank's gradients are finite and only their sum or its norm is not.
class SoftFailure : public std::runtime_error {
 public:
    SoftFailure(int failed_step, std::vector<int> failed_ranks);
    int step;
    std::vector<int> ranks;
};

/// A timeline of one rank, without spans: a track "rank R" for every stream, and every operation's name at
/// operation_name_index.
[[nodiscard]] schedule::Timeline empty_rank_timeline(int rank);

/// Runs every operation of the rank's role in the program's order: rank.tokens must hold the step's micro-batches.
/// What runs beside others (schedule::runs_beside) is begun there, and ends before what waits for it.
/// Gradients begin at zero and are left as the program's reductions leave them. Each operation becomes a span of
/// `timeline` (made by empty_rank_timeline; seconds since `epoch`) unless that is null. rank.counts are of the
/// operations that were run and of the calls that they made (CountingCommunicator).
/// After the step no pass is in flight and only weights, gradients and optimizer states are live. Throws SoftFailure
/// and CommunicationError; the rank then is of no further use, but may be destroyed.
template <class P>
void run_step(Rank<P>& rank, schedule::Timeline* timeline, std::chrono::steady_clock::time_point epoch);

extern template void run_step<Fp32>(Rank<Fp32>&, schedule::Timeline*, std::chrono::steady_clock::time_point);
extern template void run_step<Fp64>(Rank<Fp64>&, schedule::Timeline*, std::chrono::steady_clock::time_point);
extern template void run_step<Bf16Precision>(Rank<Bf16Precision>&, schedule::Timeline*,
                                             std::chrono::steady_clock::time_point);
extern template void run_step<Bf16WithFp32Gradients>(Rank<Bf16WithFp32Gradients>&, schedule::Timeline*,
                                                     std::chrono::steady_clock::time_point);

/// Weights, gradients (zero) and optimizer states in the arena, weights drawn from the seed: the state before step 0.
template <class P>
void initialise_rank(Rank<P>& rank);

}  // namespace auspex::exec
