#pragma once
/// @file Keys of another project's configuration: what is read is remembered, and what is not is refused.
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace auspex::interop {

/// An object of a configuration whose keys are asked for one by one. A key that is null is as one that is not there.
class ConfigKeys {
 public:
    explicit ConfigKeys(JsonValue object) : object_(std::move(object)) {}

    /// Whether it is there, null or not.
    [[nodiscard]] bool has(std::string_view key) const { return object_.find(key).has_value(); }
    [[nodiscard]] std::optional<JsonValue> find(std::string_view key);
    /// Throws InputError where the key is not there, or null.
    [[nodiscard]] JsonValue at(std::string_view key);
    /// A whole number of at least 1, or as `low` has it.
    [[nodiscard]] int count(std::string_view key, int low = 1);
    [[nodiscard]] int count_or(std::string_view key, int fallback, int low = 0);
    [[nodiscard]] bool flag_or(std::string_view key, bool fallback);
    /// Keys that change no cost.
    void pass_over(std::initializer_list<std::string_view> keys);
    /// Throws InputError for the first key that nobody has asked for: nothing says that it changes no cost.
    void refuse_the_rest() const;

 private:
    JsonValue object_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace auspex::interop
