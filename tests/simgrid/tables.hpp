#pragma once
/// @file The results as text, CSV and Markdown: a row a collective.
#include <iosfwd>
#include <vector>

#include "comparison.hpp"

namespace auspex::simgrid_check {

void print_text(const Comparison& comparison, std::ostream& out);
void print_csv(const std::vector<Comparison>& comparisons, std::ostream& out);
/// With what was played, how, and the notes of cases that differ.
void print_markdown(const std::vector<Comparison>& comparisons, std::ostream& out);

}  // namespace auspex::simgrid_check
