#pragma once
/// @file A function in a process of its own, so that its memory is its own.
#include <functional>
#include <vector>

namespace auspex::simgrid_check {

struct Measured {
    std::vector<double> values;
    double wall_s = 0;
    double peak_bytes = 0;  ///< resident, the program itself included
};

/// Runs `compute` in a fork. Throws std::runtime_error if that ends otherwise than with its values.
[[nodiscard]] Measured run_in_child(const std::function<std::vector<double>()>& compute);

}  // namespace auspex::simgrid_check
