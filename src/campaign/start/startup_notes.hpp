#pragma once
/// @file What is to be known beside the times of a start.
#include <string>
#include <vector>

#include "campaign/start/start_job.hpp"
#include "models/machine.hpp"
#include "models/stack.hpp"

namespace auspex::campaign {

[[nodiscard]] bool knows_environment(const models::Machine& machine);
[[nodiscard]] bool knows_initialisation(const models::Machine& machine);
/// True where the stack compiles and the machine's file says what that takes.
[[nodiscard]] bool compiles(const models::Machine& machine, const models::Stack& stack);

/// Which limits of public runs a job of this size reaches.
struct PublicLimits {
    bool is_shaky = false;       ///< some bare launches failed
    bool is_wall = false;        ///< all of them did
    bool is_unfinished = false;  ///< none finished compiling, of stacks that compile
};
[[nodiscard]] PublicLimits public_limits(const models::Machine& machine, const models::Stack& stack,
                                         const StartJob& job);

/// What the files do not say and how it was taken, and what public runs met at this size.
[[nodiscard]] std::vector<std::string> start_notes(const models::Machine& machine, const models::Stack& stack,
                                                   const StartJob& job);

}  // namespace auspex::campaign
