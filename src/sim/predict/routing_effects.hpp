#pragma once
/// @file What uneven routing and the capacity of experts do to a prediction beside its times.
#include <string>
#include <vector>

#include "models/routing.hpp"

namespace auspex::predict {

/// Of a token, in experts what is left of its rows where some are dropped.
[[nodiscard]] models::TokenFlop computed_flop(const models::Workload& workload, const models::RoutingLoad& load);
/// How uneven the load is, what is dropped, and what is not known of it.
void add_routing_notes(std::vector<std::string>& notes, const models::Workload& workload, const models::Plan& plan,
                       const models::RoutingLoad& load);

}  // namespace auspex::predict
