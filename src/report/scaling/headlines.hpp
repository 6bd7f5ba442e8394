#pragma once
/// @file Findings as headlines of pages, made from results by plain rules.
#include <string>

#include "report/scaling/scale_points.hpp"

namespace auspex::report {

/// "a third of the step is idle pipeline stages": the largest loss; "useful compute fills the step" where there is
/// none.
[[nodiscard]] std::string largest_loss_clause(const predict::Prediction& prediction);
/// "mula-220b-a10b on 3,072 tiles of aurora: 8.31 s a step, 5.1 % MFU; a third of the step is idle pipeline stages";
/// where it does not fit, that instead of the loss.
[[nodiscard]] std::string step_headline(const std::string& workload, const std::string& machine,
                                        const predict::Prediction& prediction);
/// Weak: "mula-220b-a10b keeps 89.7 % of its speed a tile from 384 to 12,288 tiles of aurora (8.39 s a step, 5.0 %
/// MFU); what is lost is mostly data-parallel communication". Strong: what so many times the tiles make of the speed.
/// Of one point its step_headline. Requires a point.
[[nodiscard]] std::string scaling_headline(const ScalingReport& report);

/// Share of the step in which a stage waits for others: the loss bubble.
[[nodiscard]] double bubble_share(const predict::Prediction& prediction);

}  // namespace auspex::report
