/// @file Losses, choices, bytes and counts, compared.
#include "workflows/verify/differences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "report/parts/text.hpp"
#include "schedule/memory/memory.hpp"

namespace auspex::workflows {
namespace {

constexpr auto kMaster = static_cast<std::size_t>(schedule::MemoryLabel::kMasterWeights);
constexpr auto kMoments = static_cast<std::size_t>(schedule::MemoryLabel::kMoments);

std::string against(const std::string& what, std::uint64_t predicted, std::uint64_t measured, const char* unit) {
    return what + ": " + thousands(static_cast<double>(predicted)) + " " + unit + " predicted, " +
           thousands(static_cast<double>(measured)) + " measured";
}

std::string rank_difference(const schedule::RankMemory& predicted, const exec::RankReport& measured) {
    const std::string rank = "rank " + std::to_string(measured.rank) + ", ";
    for (std::size_t label = 0; label < schedule::kMemoryLabelCount; ++label) {
        if (predicted.peaks[label] != measured.peaks[label]) {
            return against(rank + to_string(static_cast<schedule::MemoryLabel>(label)), predicted.peaks[label],
                           measured.peaks[label], "bytes");
        }
    }
    return predicted.peak_bytes == measured.peak_bytes
               ? ""
               : against(rank + "all labels", predicted.peak_bytes, measured.peak_bytes, "bytes");
}

std::vector<exec::OperationCount> counts_of_program(const exec::RunInputs& inputs) {
    std::vector<exec::OperationCount> counts(static_cast<std::size_t>(schedule::OpKind::kCount));
    const auto ranks = static_cast<std::uint64_t>(inputs.layout.stage_ranks);
    for (const schedule::Role& role : inputs.program.roles) {
        for (const schedule::BlockUse& use : role.order) {
            for (const schedule::Operation& op : inputs.program.operations_of(inputs.program.blocks[use.block])) {
                exec::OperationCount& count = counts[static_cast<std::size_t>(op.kind)];
                count.operations += static_cast<std::uint64_t>(op.repeat) * ranks;
                count.bytes += op.repeat * op.bytes * static_cast<double>(ranks);
            }
        }
    }
    return counts;
}

}  // namespace

double largest_difference(std::span<const double> a, std::span<const double> b) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    if (a.size() != b.size()) {
        return kInfinite;
    }
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(a[i] - b[i]) / std::abs(b[i]);
        largest = std::max(largest, std::isfinite(difference) ? difference : kInfinite);
    }
    return largest;
}

std::optional<ChoicePosition> first_differing_choice(const models::RoutingRecord& a, const models::RoutingRecord& b) {
    const auto sorted = [](std::span<const std::uint16_t> experts) {
        std::vector<std::uint16_t> list(experts.begin(), experts.end());
        std::sort(list.begin(), list.end());
        return list;
    };
    for (int step = a.first_step; step < a.first_step + a.steps; ++step) {
        for (int layer = 0; layer < a.layers; ++layer) {
            for (int token = 0; token < a.tokens; ++token) {
                if (sorted(a.of_token(step, layer, token)) != sorted(b.of_token(step, layer, token))) {
                    return ChoicePosition{step, layer, token};
                }
            }
        }
    }
    return std::nullopt;
}

std::string fault_of_steps(const launch::TrainResult& run, StepRange expected) {
    const int count = expected.end - expected.first;
    if (run.first_step == expected.first && run.steps.size() == static_cast<std::size_t>(count)) {
        return "";
    }
    return "found " + counted(static_cast<double>(run.steps.size()), "step") + " from step " +
           std::to_string(run.first_step) + "; expected " + std::to_string(count) + " from step " +
           std::to_string(expected.first);
}

void require_whole(const launch::TrainResult& run, int steps, const std::string& what) {
    const std::string fault = run.error.empty() ? fault_of_steps(run, {0, steps}) : run.error;
    if (!fault.empty()) {
        throw std::runtime_error(what + ": " + fault);
    }
}

std::string memory_difference(const exec::RunInputs& inputs, const launch::TrainResult& run,
                              const models::RoutingRecord* routing) {
    if (run.ranks.size() != static_cast<std::size_t>(inputs.layout.tiles)) {
        return against("ranks", static_cast<std::uint64_t>(inputs.layout.tiles), run.ranks.size(), "of them");
    }
    for (const exec::RankReport& measured : run.ranks) {
        const std::string difference =
            rank_difference(rank_memory(inputs.workload, inputs.plan, inputs.stack, inputs.layout, inputs.program,
                                        measured.rank, routing),
                            measured);
        if (!difference.empty()) {
            return difference;
        }
    }
    return "";
}

std::string counts_difference(const exec::RunInputs& inputs, const launch::TrainResult& run) {
    const std::vector<exec::OperationCount> expected = counts_of_program(inputs);
    for (std::size_t kind = 0; kind < expected.size(); ++kind) {
        const std::string name = to_string(static_cast<schedule::OpKind>(kind));
        if (expected[kind].operations != run.counts[kind].operations) {
            return against(name, expected[kind].operations, run.counts[kind].operations, "operations");
        }
        if (std::llround(expected[kind].bytes) != std::llround(run.counts[kind].bytes)) {
            return against(name, static_cast<std::uint64_t>(std::llround(expected[kind].bytes)),
                           static_cast<std::uint64_t>(std::llround(run.counts[kind].bytes)), "bytes");
        }
    }
    return "";
}

std::uint64_t measured_optimizer_bytes(const launch::TrainResult& run) {
    std::uint64_t most = 0;
    for (const exec::RankReport& rank : run.ranks) {
        most = std::max<std::uint64_t>(most, rank.peaks[kMaster] + rank.peaks[kMoments]);
    }
    return most;
}

std::uint64_t predicted_optimizer_bytes(const exec::RunInputs& inputs) {
    std::uint64_t most = 0;
    for (int rank = 0; rank < inputs.layout.tiles; ++rank) {
        const schedule::RankMemory memory = rank_memory(inputs.workload, inputs.plan, inputs.stack, inputs.layout,
                                                        inputs.program, rank, inputs.plan.routing.record.get());
        most = std::max(most, memory.fixed[kMaster] + memory.fixed[kMoments]);
    }
    return most;
}

}  // namespace auspex::workflows
