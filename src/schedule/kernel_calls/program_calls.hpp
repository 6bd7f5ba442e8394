#pragma once
/// @file All kernel calls of a step, with how often each is made.
#include <functional>

#include "models/inputs.hpp"
#include "schedule/kernel_calls/kernel_calls.hpp"

namespace auspex::schedule {

/// Visits every call of kernel_calls of every operation of every role's program, with the number of times that a rank
/// of that role makes it in a step (the call's own `repeat` apart). Requires what kernel_calls does.
void for_each_call(const models::Inputs& inputs, const models::Plan& plan, const models::Layout& layout,
                   const Program& program, const std::function<void(const models::CpuCall&, double times)>& visit);

}  // namespace auspex::schedule
