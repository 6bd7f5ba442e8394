#pragma once
/// @file A run beside another one, and beside what was predicted of it.
#include <optional>
#include <span>
#include <string>

#include "launch/train/train_result.hpp"

namespace auspex::workflows {

/// Largest |a - b| / |b| over the elements; infinite where the lengths differ or a number is not finite.
[[nodiscard]] double largest_difference(std::span<const double> a, std::span<const double> b);

/// Where the experts that two runs chose differ first: by step, then layer (of those with experts), then token of the
/// batch. The order of a token's experts does not count. Requires records of the same model, batch and steps.
struct ChoicePosition {
    int step = 0, layer = 0, token = 0;
};
[[nodiscard]] std::optional<ChoicePosition> first_differing_choice(const models::RoutingRecord& a,
                                                                   const models::RoutingRecord& b);

/// Steps of a run: from `first` on, before `end`.
struct StepRange {
    int first = 0, end = 0;
};
/// A run that began elsewhere or lacks a step: what was found instead; else empty.
[[nodiscard]] std::string fault_of_steps(const launch::TrainResult& run, StepRange expected);

/// Throws std::runtime_error unless the run ended well, with all of so many steps: a run that others are compared with.
void require_whole(const launch::TrainResult& run, int steps, const std::string& what);

/// Peaks of every rank, label by label and of the sum, against rank_memory: empty if all are equal, else the first that
/// is not: "rank 3, activations: 1,024 bytes predicted, 2,048 measured". `routing`: of that very run; null: uniform.
[[nodiscard]] std::string memory_difference(const exec::RunInputs& inputs, const launch::TrainResult& run,
                                            const models::RoutingRecord* routing);

/// Operations and bytes by kind, summed over all ranks, against the program: empty if equal, else the first kind that
/// differs. Whatever experts are chosen, all-to-alls of a group together send what the program says: no row is dropped.
[[nodiscard]] std::string counts_difference(const exec::RunInputs& inputs, const launch::TrainResult& run);

/// Bytes of the optimizer's states (moments and master weights) on the rank that has most of them.
[[nodiscard]] std::uint64_t measured_optimizer_bytes(const launch::TrainResult& run);
[[nodiscard]] std::uint64_t predicted_optimizer_bytes(const exec::RunInputs& inputs);

}  // namespace auspex::workflows
