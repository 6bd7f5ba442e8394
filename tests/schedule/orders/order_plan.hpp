#pragma once
/// @file A plan of which nothing but the order of passes matters.
#include "models/plan.hpp"

namespace auspex::testing_plans {

inline models::Plan plan_of(models::ScheduleKind kind, int pp, int micro_batches, int virtual_stages = 1) {
    models::Plan plan;
    plan.schedule = kind;
    plan.pp = pp;
    plan.micro_batches = micro_batches;
    plan.virtual_stages = virtual_stages;
    return plan;
}

}  // namespace auspex::testing_plans
