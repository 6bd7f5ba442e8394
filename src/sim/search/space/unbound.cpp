/// @file By its program.
#include "sim/search/space/unbound.hpp"

#include "schedule/bindings/bindings.hpp"
#include "schedule/program/step_program.hpp"

namespace auspex::search {

std::string why_unbound(const models::Inputs& inputs, const Candidate& plan) {
    models::Inputs own = inputs;
    own.plan = plan_of(plan, inputs.plan);
    const schedule::StepProgram step = schedule::make_step_program(own, 0);
    const auto lines = unbound_operations(inputs.workload, step.plan, inputs.stack, step.program);
    return lines.empty() ? "" : lines.front();
}

}  // namespace auspex::search
