/// @file Documents to inputs.
#include "models/inputs.hpp"

#include <array>

#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "models/kernel_cost.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::models {
namespace {

void check_fp8(const Machine& machine, const Plan& plan) {
    static constexpr std::array<const char*, kFp8Words.size()> kRates{"", "gemm_fp8", "gemm_fp8_blocks", "gemm_nvfp4"};
    if (plan.fp8 != Fp8::kNone && gemm_rate(machine.tile, operands_of(plan.fp8)) == 0) {
        throw InputError(plan.file + ": $.fp8", std::string("found \"") + to_string(plan.fp8) +
                                                    "\"; expected one that its tile has a rate of, or \"none\", on " +
                                                    machine.name + ": " + machine.file + " has no tile." +
                                                    kRates.at(static_cast<std::size_t>(plan.fp8)));
    }
}

}  // namespace

Inputs load_inputs(JsonDocument machine, JsonDocument stack, JsonDocument workload, JsonDocument plan) {
    Machine m = load_machine(machine);
    stack = with_communication(stack, m.tile.architecture);
    Stack s = load_stack(stack, m);
    Workload w = load_workload(workload);
    Plan p = load_plan(plan);
    check_fp8(m, p);
    return {std::move(machine), std::move(stack), std::move(workload), std::move(plan),
            std::move(m),       std::move(s),     std::move(w),        std::move(p)};
}

}  // namespace auspex::models
