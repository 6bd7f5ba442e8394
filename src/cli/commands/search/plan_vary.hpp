#pragma once
/// @file auspex plan, once for each value of a constant.
#include "cli/flags/options.hpp"

namespace auspex::cli {

/// The best plan for every value of --vary, and where it changes. Throws InputError.
void run_plan_vary(const Options& options);

}  // namespace auspex::cli
