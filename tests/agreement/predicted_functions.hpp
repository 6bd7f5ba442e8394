#pragma once
/// @file The functions that predicted kernel calls stand for, and by name what is predicted otherwise than it is done.
#include <string>
#include <vector>

#include "exec/kernels/call_record.hpp"
#include "exec/state/rank.hpp"
#include "schedule/kernel_calls/kernel_calls.hpp"
#include "schedule/program/split_sequences.hpp"

namespace auspex::testing_agreement {

/// An operation on one rank.
struct OnRank {
    const exec::RunInputs& run;
    const schedule::Operation& op;
    exec::RankCoordinates place;

    [[nodiscard]] bool forward() const {
        return op.phase == schedule::Phase::kForward || op.phase == schedule::Phase::kRecompute;
    }
    [[nodiscard]] double tokens() const {
        return double{1} * run.plan.micro_batch_size * run.workload.sequence_length / run.plan.cp;
    }
    [[nodiscard]] bool splits_sequences() const { return schedule::splits_routed_sequences(run.workload, run.plan); }
};

/// Texts (call_text) of the functions that the calls stand for, sorted.
[[nodiscard]] std::vector<std::string> functions_of(const OnRank& on, const std::vector<models::CpuCall>& calls);

/// Texts of what the rank called, sorted: without what belongs to kernels that are one in the prediction, and without
/// what the transport does between messages.
[[nodiscard]] std::vector<std::string> functions_called(const OnRank& on, const std::vector<exec::RecordedCall>& calls);

/// What the transport did between messages: sums, and the copy of a part to itself.
[[nodiscard]] bool is_of_transport(const exec::RecordedCall& call);

}  // namespace auspex::testing_agreement
