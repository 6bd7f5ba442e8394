/// @file auspex program: the operations of one step as text.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "models/layout.hpp"
#include "schedule/program.hpp"
#include "schedule/text.hpp"

namespace auspex {

void run_program(const Options& options) {
    const Inputs inputs = load_all(options);
    const int wanted = options.tiles.empty() ? 0 : options.tiles.front();
    const Plan plan = resolve_plan(inputs.plan, inputs.workload, wanted);
    const Layout layout = make_layout(plan, inputs.machine, plan.pp * plan.dp * plan.ep * plan.etp);
    const Program program = build_program(inputs.workload, plan, inputs.stack, layout);
    check_program(program);
    std::cout << program_text(program);
}

}  // namespace auspex
