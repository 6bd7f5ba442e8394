/// @file Documents to inputs.
#include "models/inputs.hpp"

#include <utility>

#include "base/json.hpp"

namespace auspex::models {

Inputs load_inputs(JsonDocument machine, JsonDocument stack, JsonDocument workload, JsonDocument plan) {
    Machine m = load_machine(machine);
    Stack s = load_stack(stack);
    Workload w = load_workload(workload);
    Plan p = load_plan(plan);
    return {std::move(machine), std::move(stack), std::move(workload), std::move(plan),
            std::move(m),       std::move(s),     std::move(w),        std::move(p)};
}

}  // namespace auspex::models
