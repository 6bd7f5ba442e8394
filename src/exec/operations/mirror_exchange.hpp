#pragma once
/// @file What a stage that is there twice exchanges with its mirror (has_stages_twice): sums, then parameters.
#include "exec/state/rank.hpp"

namespace auspex::exec {

/// The rank sends its shard of the sums that its mirror updates, and adds the mirror's to its own of what it updates.
template <class P>
void exchange_gradients_with_mirror(Rank<P>& rank);
/// The rank sends its shard of the weights that it updates, and takes the mirror's.
template <class P>
void exchange_parameters_with_mirror(Rank<P>& rank);

}  // namespace auspex::exec
