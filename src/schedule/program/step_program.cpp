/// @file Inputs to the program of a step.
#include "schedule/program/step_program.hpp"

namespace auspex::schedule {

StepProgram make_step_program(const models::Inputs& inputs, int tiles) {
    StepProgram s;
    s.plan = resolve_plan(inputs.plan, inputs.workload, tiles);
    s.layout = make_layout(s.plan, inputs.machine, tiles_of(s.plan));
    s.program = build_program(inputs.workload, s.plan, inputs.stack, s.layout);
    s.load = routing_load(s.plan, inputs.workload);
    return s;
}

}  // namespace auspex::schedule
