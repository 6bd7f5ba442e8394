#pragma once
/// @file Constants, flags and names as the sections of a stack file have them.
#include <cstdint>
#include <initializer_list>
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
/// Sets the flags of the words that a list has, each at most once.
void set_flags(const JsonValue& list, std::initializer_list<std::string_view> words,
               std::initializer_list<bool*> flags);

/// Of dated entries: "YYYY-MM"; a name of letters, digits and "-"; and the failure to name one that is there.
void check_date(const JsonValue& value);
void check_entry_name(const JsonValue& entries, const std::string& name);
[[noreturn]] void fail_unknown_entry(const JsonValue& use, const std::vector<std::string>& names);

}  // namespace auspex::models
