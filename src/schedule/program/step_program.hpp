#pragma once
/// @file What is known of a step before it is played.
#include "models/inputs.hpp"
#include "models/layout.hpp"
#include "models/routing.hpp"
#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// Plan, layout and program of one step, and the load of its routing.
struct StepProgram {
    models::Plan plan;  ///< resolved
    models::Layout layout;
    Program program;
    models::RoutingLoad load;  ///< imbalance of routed work; even without experts
};

/// `tiles` of the job; 0: what the plan's dp gives. Throws InputError for a plan that does not match workload, machine
/// or tiles.
[[nodiscard]] StepProgram make_step_program(const models::Inputs& inputs, int tiles);

}  // namespace auspex::schedule
