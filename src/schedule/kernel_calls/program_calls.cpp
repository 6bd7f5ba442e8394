/// @file Roles, their blocks, and the calls of these.
#include "schedule/kernel_calls/program_calls.hpp"

#include <map>

namespace auspex::schedule {

void for_each_call(const models::Inputs& inputs, const models::Plan& plan, const models::Layout& layout,
                   const Program& program, const std::function<void(const models::CpuCall&, double times)>& visit) {
    for (const Role& role : program.roles) {
        std::map<std::uint32_t, double> uses;
        for (const BlockUse& use : role.order) {
            ++uses[use.block];
        }
        for (const auto& [block, times] : uses) {
            for (const Operation& op : program.operations_of(program.blocks[block])) {
                const OperationCalls calls = kernel_calls(inputs.workload, plan, inputs.stack, layout, role.stage, op);
                for (const auto* list : {&calls.before, &calls.after}) {
                    for (const models::CpuCall& call : *list) {
                        visit(call, times);
                    }
                }
            }
        }
    }
}

}  // namespace auspex::schedule
