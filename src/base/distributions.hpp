#pragma once
/// @file What is known of the normal distribution and of Student's t.

namespace auspex {

/// So many standard deviations wide is the mean range of `count` values of a normal distribution: 1.128 of two, 3.078
/// of ten, beyond that 0.9 more for each factor of e, within 1 % to fifty. Requires count >= 2. Source: d2 in
/// tables of control charts, such as Montgomery, Introduction to Statistical Quality Control, appendix VI.
[[nodiscard]] double mean_normal_range(int count);

}  // namespace auspex
