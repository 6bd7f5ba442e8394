#pragma once
/// @file The bytes that ranks go through on a core and on a computer, which decide what their caches hold.
#include <vector>

#include "models/cpu/cpu_model.hpp"
#include "models/inputs.hpp"
#include "schedule/program/step_program.hpp"

namespace auspex::cpu {

/// Bytes that are gone through before a cold operand is used again: in the passes all but optimizer states, in the
/// optimizer everything.
struct WorkingSets {
    models::WorkingSet in_passes, in_optimizer;
};

/// By stage, of the rank that shares its core, or its computer, with the most live bytes: peaks of memory without what
/// is reserved.
[[nodiscard]] std::vector<WorkingSets> working_sets(const models::Inputs& inputs, const schedule::StepProgram& step);

}  // namespace auspex::cpu
