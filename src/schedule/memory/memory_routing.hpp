#pragma once
/// @file Rows that the experts of one rank computed, by a record of routing.
#include <cstdint>
#include <vector>

#include "models/routing_record.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Throws InputError where the record is not of this workload and batch, or the plan is one that no run records.
void check_record(const models::RoutingRecord& record, const models::Workload& workload, const models::Plan& plan,
                  const models::Layout& layout);

/// R of each layer of `layers` (0 for dense ones): choices of a micro-batch's tokens, over all data ranks of the ep
/// group, that fell on the rank's experts, which are N / ep in order.
[[nodiscard]] std::vector<std::uint64_t> recorded_rows(const models::RoutingRecord& record,
                                                       const models::Workload& workload, const models::Plan& plan,
                                                       const models::GridCoordinates& coordinates, LayerRange layers,
                                                       int step, int micro_batch);

}  // namespace auspex::schedule
