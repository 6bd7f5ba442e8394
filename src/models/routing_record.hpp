#pragma once
/// @file The experts that every token of some steps chose: recorded by a run, replayed by another, read by the memory
/// model.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace auspex::models {

/// choices[((step * layers + layer) * tokens + token) * top_k + j]; `layers` counts MoE layers only, in order; `token`
/// is the index in the global batch: (sequence of the step) * sequence_length + position, where data-parallel rank d's
/// sequence i of micro-batch m is (d * micro_batches + m) * micro_batch_size + i.
struct RoutingRecord {
    int first_step = 0, steps = 0, layers = 0, top_k = 0, num_experts = 0;
    int tokens = 0;  ///< of a global batch
    std::vector<std::uint16_t> choices;

    [[nodiscard]] std::span<const std::uint16_t> of_token(int step, int layer, std::int64_t token) const {
        const std::size_t i = ((static_cast<std::size_t>(step - first_step) * static_cast<std::size_t>(layers) +
                                static_cast<std::size_t>(layer)) *
                                   static_cast<std::size_t>(tokens) +
                               static_cast<std::size_t>(token));
        return {choices.data() + i * static_cast<std::size_t>(top_k), static_cast<std::size_t>(top_k)};
    }
};

/// Writes FILE (JSON: shares of each expert over all, sizes, SHA-256 and name of the companion) and FILE.choices (the
/// choices, little-endian). A plan's {"trace": FILE} reads both. Throws InputError where FILE cannot be written.
void write_routing_record(const RoutingRecord& record, const std::string& file);
/// Reads both files. Throws InputError for missing, short, damaged or inconsistent files.
[[nodiscard]] RoutingRecord read_routing_record(const std::string& file);

/// Of the tokens [first, first + count) of a step's layer, how many choices fell on each expert.
[[nodiscard]] std::vector<std::int64_t> choices_by_expert(const RoutingRecord& record, int step, int layer,
                                                          std::int64_t first, std::int64_t count);

}  // namespace auspex::models
