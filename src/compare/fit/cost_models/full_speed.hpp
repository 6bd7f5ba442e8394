#pragma once
/// @file Rows that were taken on slowed cores, as they would be on cores at their full speed.
#include <vector>

#include "models/measurement.hpp"

namespace auspex::fit {

/// What models::at_speed does, undone: slow = the row's probe over the median one of rows at full speed (where there is
/// none: over the full speed itself), for rows that are slowed (models::is_slowed).
///
///   kernels from the cache, messages, collectives, passes and turns     seconds / slow
///   kernels from memory      seconds - (slow - 1) of what the same call takes from the cache, at full speed
///
/// Copies, calls from memory that were not timed from the cache, and slowed rows of older files, which have no probe,
/// stay as they are.
/// Such a row from memory is at least as long as the one from the cache. Without rows "host,probe" nothing is slowed.
[[nodiscard]] std::vector<models::Measurement> at_full_speed(std::vector<models::Measurement> rows);

/// The row of the same call of a kernel, alone, with operands from the cache; null where there is none.
[[nodiscard]] const models::Measurement* row_from_cache(const std::vector<models::Measurement>& rows,
                                                        const models::Measurement& from_memory);

}  // namespace auspex::fit
