#pragma once
/// @file What is known of the normal distribution and of Student's t.

namespace auspex {

/// The value below which a share p of a normal distribution with mean 0 and standard deviation 1 lies. Requires
/// 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// So many standard deviations from the mean lies such a share of a normal distribution: 1.96 of 0.95. Requires
/// 0 < share < 1.
[[nodiscard]] double normal_reach(double share);

/// 95 % of estimates whose standard deviation comes from so many degrees of freedom (below 1: 1) lie within so many of
/// their own standard deviations, by Student's t: 12.7 of one, 1.96 of very many.
[[nodiscard]] double student_95(int degrees);

/// So many standard deviations wide is the mean range of `count` values of a normal distribution: 1.128 of two, 3.078
/// of ten, beyond that 0.9 more for each factor of e, within 1 % to fifty. Requires count >= 2. Source: d2 in
/// tables of control charts, such as Montgomery, Introduction to Statistical Quality Control, appendix VI.
[[nodiscard]] double mean_normal_range(int count);

}  // namespace auspex
