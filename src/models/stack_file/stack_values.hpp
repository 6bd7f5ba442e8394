#pragma once
/// @file Constants, flags and names as the sections of a stack file have them.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "models/stack.hpp"

namespace auspex::models {

inline constexpr const char* kStackRole = "stack";
inline constexpr double kMaxStackBytes = 1e15;
inline constexpr double kMaxOverhead = 10.0;  ///< seconds; software costs above it are slips of a unit

/// Constants of `section`, which are added to the stack's. Throw InputError for what is out of range: times above 10 s,
/// fractions below 0.01 or above 1, sizes above kMaxStackBytes.
[[nodiscard]] double read_time(const JsonValue& section, std::string_view key, Stack& stack);
[[nodiscard]] double read_time_or_none(const JsonValue& section, std::string_view key, Stack& stack);
[[nodiscard]] double read_fraction(const JsonValue& section, std::string_view key, Stack& stack);
[[nodiscard]] double read_size(const JsonValue& section, std::string_view key, Stack& stack);
/// False where there is no such key.
[[nodiscard]] bool read_flag(const JsonValue& section, std::string_view key);
/// A whole number up to 1,000.
[[nodiscard]] int read_count(const JsonValue& section, std::string_view key, std::int64_t low);

/// Names of the entries of a section of "use" and "entries", and the one in use, after `check` has been called with
/// each. Throws InputError for names with other characters than letters, digits and "-", and for one in use that is not
/// there.
struct DatedEntry {
    std::string name;
    JsonValue value;
};
[[nodiscard]] DatedEntry entry_in_use(const JsonValue& section, std::vector<std::string>& names,
                                      const std::function<void(const JsonValue& entry)>& check);
/// "YYYY-MM".
void check_date(const JsonValue& value);

}  // namespace auspex::models
