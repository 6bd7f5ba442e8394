#pragma once
/// @file Bounds of the fields of a grid, and the deal of its layers, as a user gives them.
#include <string>
#include <vector>

#include "sim/search/space/candidate.hpp"

namespace auspex::search {

/// "pp<=16": one of <=, <, >=, >, = between a field of the grid and a whole number. "stages=even": the word of a deal
/// of layers, whose models::StageDeal is the value.
struct Constraint {
    std::string field, comparison;
    int value = 0;
};
/// Of "pp<=16,tp<=12". Fields: dp, ep, etp, tp, cp, pp, virtual_stages, micro_batch_size, micro_batches;
/// stages. Throws InputError that names `flag`.
[[nodiscard]] std::vector<Constraint> read_constraints(const std::string& flag, const std::string& text);
/// "pp<=16", "stages=even": as it was given.
[[nodiscard]] std::string text_of(const Constraint& constraint);
[[nodiscard]] bool holds(const Constraint& constraint, const Candidate& candidate);
/// True if constraints leave a deal of layers: those of other fields leave all.
[[nodiscard]] bool leave_deal(const std::vector<Constraint>& constraints, models::StageDeal deal);

}  // namespace auspex::search
