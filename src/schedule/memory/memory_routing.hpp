#pragma once
/// @file Rows that the experts of one rank computed, by a record of routing.
#include <cstdint>
#include <vector>

#include "models/routing_record.hpp"
#include "schedule/memory/memory_sizes.hpp"

namespace auspex::schedule {

/// Throws InputError where the record is not of this workload and batch.
void check_record(const models::RoutingRecord& record, const models::Workload& workload, const models::Layout& layout);

/// Of each layer of `layers`: choices of a micro-batch's tokens, over all data ranks of the ep group, that fell on the
/// rank's experts, which are N / ep in order; and those of the rank's own tokens. Of the tokens of one rank no expert
/// gets more than its capacity.
[[nodiscard]] std::vector<LayerRows> recorded_rows(const models::RoutingRecord& record,
                                                   const models::Workload& workload, const models::Plan& plan,
                                                   const models::GridCoordinates& coordinates, LayerRange layers,
                                                   int step, int micro_batch);

}  // namespace auspex::schedule
