#pragma once
/// @file The kernels of a stack file, and the releases that differ in them.
#include <optional>
#include <string_view>

#include "base/json.hpp"
#include "models/stack.hpp"

namespace auspex::models {

/// What the entry of "releases" that is in use changes on tiles of an architecture (Tile::architecture): its part for
/// it, or the entry itself, after all of them are checked; sets Stack::release and releases. None where the file has no
/// such section.
[[nodiscard]] std::optional<JsonValue> release_in_use(const JsonValue& root, std::string_view architecture,
                                                      Stack& stack);
/// "can_overlap" of the release, or of the file.
void read_can_overlap(const JsonValue& root, const std::optional<JsonValue>& release, Stack& stack);
/// "kernels", of which a release may have some keys (and some of "counts") of its own.
void read_kernels(const JsonValue& section, const std::optional<JsonValue>& release, Stack& stack);

}  // namespace auspex::models
