#pragma once
/// @file What rank 0 gathers from all ranks at the end of a run. Collective over the world; ranks other than 0 get
/// nothing.
#include <vector>

#include "exec/run/run_report.hpp"
#include "exec/state/run_settings.hpp"
#include "models/routing_record.hpp"

namespace auspex::exec {

/// In rank order.
[[nodiscard]] std::vector<RankReport> collect_reports(Communicator& communicator, const RankReport& own);

/// The tracks of all ranks, in rank order.
[[nodiscard]] schedule::Timeline collect_timelines(Communicator& communicator, const schedule::Timeline& own);

/// A record with room for every token of steps [first_step, end_step), no choice made yet.
[[nodiscard]] models::RoutingRecord empty_routing_record(const RunInputs& run, int first_step, int end_step);
/// Puts into rank 0's record what the others have recorded: of each rank with tp index 0 the tokens of its
/// data-parallel rank in the MoE layers of its stage.
void collect_routing(Communicator& communicator, const RunInputs& run, models::RoutingRecord& record);

}  // namespace auspex::exec
