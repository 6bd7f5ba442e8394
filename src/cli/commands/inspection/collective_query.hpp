#pragma once
/// @file What `auspex collective` is asked for.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/flags/options.hpp"
#include "sim/network/collective/collective_run.hpp"

namespace auspex::cli {

/// Everything that is asked for, checked against the machine.
struct CollectiveQuery {
    std::string kind;
    JsonDocument machine_document, stack_document;
    models::Machine machine;
    models::Stack stack;
    network::CollectiveJob job;
    std::vector<double> sizes;  ///< bytes
    std::vector<std::string> notes;
};

/// Throws InputError, which names the flag.
[[nodiscard]] CollectiveQuery read_collective(const Options& options);

/// Flags over the stack's rule. The rule's levels are kept as far as the group has them; what flags name is played
/// as named or refused. Throws InputError.
[[nodiscard]] network::AlgorithmChoice choice_for(const Options& options, const CollectiveQuery& query,
                                                  const network::GroupForm& form, double bytes);

}  // namespace auspex::cli
