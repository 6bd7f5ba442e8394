/// @file The calls of every stage against calibration's list.
#include "workflows/compare/calibrated_shapes.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "microbench/kernel_bench.hpp"
#include "schedule/kernel_calls/kernel_calls.hpp"

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

bool any_calibrated(const std::vector<models::CpuCall>& calls) {
    return std::ranges::any_of(
        calls, [](const models::CpuCall& call) { return calibrated_shapes().contains(shape_of(call)); });
}

}  // namespace

bool has_calibrated_shape(const models::Inputs& inputs, const models::Plan& plan, const models::Layout& layout,
                          const schedule::Program& program) {
    for (const schedule::Role& role : program.roles) {
        std::set<std::uint32_t> blocks;
        for (const schedule::BlockUse& use : role.order) {
            blocks.insert(use.block);
        }
        for (const std::uint32_t block : blocks) {
            for (const schedule::Operation& op : program.operations_of(program.blocks[block])) {
                const schedule::OperationCalls calls =
                    schedule::kernel_calls(inputs.workload, plan, inputs.stack, layout, role.stage, op);
                if (any_calibrated(calls.before) || any_calibrated(calls.after)) {
                    return true;
                }
            }
        }
        if (any_calibrated(schedule::step_start_calls(inputs.workload, plan, layout, role.stage))) {
            return true;
        }
    }
    return false;
}

}  // namespace auspex::workflows
