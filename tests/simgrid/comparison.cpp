/// @file Three plays of a case, each in a process of its own.
#include "comparison.hpp"

#include <cmath>

#include "play.hpp"

namespace auspex::simgrid_check {

double Comparison::difference(std::size_t collective) const {
    return auspex.values[collective] / simgrid.values[collective] - 1;
}

double Comparison::difference_in_step(std::size_t collective) const {
    return auspex.values[collective] / simgrid_in_step.values[collective] - 1;
}

bool Comparison::is_within(double tolerance) const {
    for (std::size_t c = 0; c < of.collectives.size(); ++c) {
        if (!(std::abs(difference(c)) <= tolerance)) {
            return false;
        }
    }
    return true;
}

Comparison compare(const Case& of) {
    return {of, run_in_child([&] { return play_auspex(of); }),
            run_in_child([&] { return play_simgrid(of, Ranks::kFree); }),
            run_in_child([&] { return play_simgrid(of, Ranks::kInStep); })};
}

}  // namespace auspex::simgrid_check
