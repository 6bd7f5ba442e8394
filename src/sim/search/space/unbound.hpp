#pragma once
/// @file Plans that the ranks of a CPU machine, which are the trainer's, cannot run.
#include <string>

#include "models/inputs.hpp"
#include "sim/search/space/candidate.hpp"

namespace auspex::search {

/// The first thing that the trainer has no kernel or call for (schedule::unbound_operations) in a plan; empty if it
/// runs. Dispatch, expert kernels and recomputed modules change nothing in it.
[[nodiscard]] std::string why_unbound(const models::Inputs& inputs, const Candidate& plan);

}  // namespace auspex::search
