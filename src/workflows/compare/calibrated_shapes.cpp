/// @file The calls of every stage against calibration's list.
#include "workflows/compare/calibrated_shapes.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "microbench/kernel_bench.hpp"
#include "schedule/kernel_calls/program_calls.hpp"

namespace auspex::workflows {
namespace {

using Shape = std::tuple<models::CpuKernel, double, double, double, double>;

Shape shape_of(const models::CpuCall& call) { return {call.kernel, call.rows, call.columns, call.depth, call.groups}; }

const std::set<Shape>& calibrated_shapes() {
    static const std::set<Shape> kShapes = [] {
        std::set<Shape> shapes;
        for (const models::CpuCall& call : microbench::calibration_calls()) {
            if (call.kernel != models::CpuKernel::kOperation) {
                shapes.insert(shape_of(call));
            }
        }
        return shapes;
    }();
    return kShapes;
}

bool is_calibrated(const models::CpuCall& call) { return calibrated_shapes().contains(shape_of(call)); }

}  // namespace

bool has_calibrated_shape(const models::Inputs& inputs) {
    const models::Plan plan = resolve_plan(inputs.plan, inputs.workload, 0);
    const models::Layout layout = rank_grid(plan, tiles_of(plan));
    const schedule::Program program = schedule::build_program(inputs.workload, plan, inputs.stack, layout);
    bool found = false;
    for_each_call(inputs, plan, layout, program,
                  [&](const models::CpuCall& call, double) { found = found || is_calibrated(call); });
    for (const schedule::Role& role : program.roles) {
        found = found || std::ranges::any_of(schedule::step_start_calls(inputs.workload, plan, layout, role.stage),
                                             is_calibrated);
    }
    return found;
}

}  // namespace auspex::workflows
