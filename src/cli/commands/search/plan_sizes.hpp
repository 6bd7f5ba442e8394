#pragma once
/// @file auspex plan for several sizes of a job.
#include "cli/flags/options.hpp"

namespace auspex::cli {

/// The best plan of each size, where more tiles stop paying, and the size that --objective picks. Throws InputError,
/// also where no size has a plan that fits.
void run_plan_sizes(const Options& options);
/// The smallest size that trains --tokens within --deadline. Throws InputError, also where none does: with the nearest
/// that works.
void run_plan_deadline(const Options& options);

}  // namespace auspex::cli
