#pragma once
/// @file Rows of attention to the curve of the kernel that they are of.
#include "compare/fit/table_calibration.hpp"

namespace auspex::fit {

/// Rows "forward", "backward" and "forward+backward" of kind attention, whose column `where` names the kernel: what it
/// takes for both directions of a shape together gives efficiency and half_sequence of models::AttentionKernel, heads
/// below 128 beside those of 128 its half_head. A kernel that a machine with tile.attention_kernels lacks is added.
/// Throws InputError for rows without sizes, and for rows of which the machine cannot tell the kernel.
void take_attention(TableCalibration& work, const Rows& all);

}  // namespace auspex::fit
