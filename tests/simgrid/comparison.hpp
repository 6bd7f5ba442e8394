#pragma once
/// @file Both simulators' results of a case.
#include <vector>

#include "cases.hpp"
#include "child_process.hpp"

namespace auspex::simgrid_check {

/// The largest difference that passes, relative to SimGrid.
inline constexpr double kTolerance = 0.05;

struct Comparison {
    Case of;
    Measured auspex, simgrid, simgrid_in_step;  ///< values: by collective, seconds until its last rank is done
    /// Of this collective: Auspex / SimGrid - 1.
    [[nodiscard]] double difference(std::size_t collective) const;
    /// The same with SimGrid's ranks held in step.
    [[nodiscard]] double difference_in_step(std::size_t collective) const;
    /// Free-running ranks, every collective.
    [[nodiscard]] bool is_within(double tolerance) const;
};

[[nodiscard]] Comparison compare(const Case& of);

}  // namespace auspex::simgrid_check
