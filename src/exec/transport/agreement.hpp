#pragma once
/// @file What one rank has met, known to all, so that all go the same way.
#include <functional>
#include <string>

#include "exec/transport/communicator.hpp"

namespace auspex::exec {

/// Runs work of this rank alone (no communication in it); what() of what it throws, empty if it throws nothing.
[[nodiscard]] std::string problem_of(const std::function<void()>& work);
/// The text of the lowest rank whose own is not empty; empty if there is none. Collective over the world.
[[nodiscard]] std::string first_problem(Communicator& communicator, const std::string& own);
/// The same, with the rank in front: "rank 3: …".
[[nodiscard]] std::string first_problem_and_rank(Communicator& communicator, const std::string& own);
/// Throws InputError with the text of the lowest rank whose own is not empty, on every rank; nothing if there is none.
/// Collective over the world.
void agree_on_input(Communicator& communicator, const std::string& own);
/// The text of one rank, on every rank. Collective over the world.
[[nodiscard]] std::string shared_text(Communicator& communicator, int root, const std::string& own);

}  // namespace auspex::exec
