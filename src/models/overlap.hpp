#pragma once
/// @file The streams whose communication may run beside compute: what a plan asks for, and what a stack can do.
#include <array>

#include "models/plan.hpp"
#include "models/stack.hpp"

namespace auspex::models {

struct OverlapStream {
    const char* word;  ///< in files
    bool Plan::*is_wanted;
    bool Stack::*can;
};
inline constexpr std::array<OverlapStream, 4> kOverlapStreams{{{"tp", &Plan::overlap_tp, &Stack::can_overlap_tp},
                                                               {"ep", &Plan::overlap_ep, &Stack::can_overlap_ep},
                                                               {"dp", &Plan::overlap_dp, &Stack::can_overlap_dp},
                                                               {"pp", &Plan::overlap_pp, &Stack::can_overlap_pp}}};

}  // namespace auspex::models
