#pragma once
/// @file The program as text: blocks with their operations, then the order in which each role runs them.
#include <string>

#include "schedule/program/program.hpp"

namespace auspex::schedule {

/// One operation a line:
///   <index> <stream> <kind>.<phase> [layer=<l>] [flop=<F>] [bytes=<B>] [comm=<kind> group=<g> bytes=<B> [x<repeat>]
///   [carries=<what>]] [message=<boundary>] after <indices>
/// then a line a role: "stage 3: F0.0 F0.1 B0.0 … optimizer" (F/B, chunk.micro-batch). Equal programs give equal text.
[[nodiscard]] std::string program_text(const Program& program);

}  // namespace auspex::schedule
