#pragma once
/// @file The kernels of a stack file, and the releases that differ in them.
#include <optional>
#include <string>

#include "base/json.hpp"
#include "models/stack.hpp"
#include "models/workload.hpp"

namespace auspex::models {

/// The entry of "releases" that is in use, after all of them are checked; sets Stack::release and releases. None where
/// the file has no such section.
[[nodiscard]] std::optional<JsonValue> release_in_use(const JsonValue& root, Stack& stack);
/// What the release in use has to say of predictions of a mixture; empty: nothing, or the model is none.
[[nodiscard]] std::string mixtures_note(const JsonDocument& document, const Stack& stack, const Workload& workload);
/// "can_overlap" of the release, or of the file.
void read_can_overlap(const JsonValue& root, const std::optional<JsonValue>& release, Stack& stack);
/// "kernels", of which a release may have some keys (and some of "counts") of its own.
void read_kernels(const JsonValue& section, const std::optional<JsonValue>& release, Stack& stack);

}  // namespace auspex::models
