#pragma once
/// @file An object of a case as it is read: keys that nobody asks for are passed over, and told.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace auspex::evaluate {

/// Keys count in any case, values of null are as none. Throws InputError naming file, path, value and what is expected.
class CaseObject {
 public:
    /// `name` is the object's key in the case, for messages; empty: it is the case.
    CaseObject(JsonValue value, std::string name) : value_(std::move(value)), name_(std::move(name)) {}

    [[nodiscard]] std::optional<JsonValue> find(std::string_view key);
    /// Throws where there is none.
    [[nodiscard]] JsonValue at(std::string_view key);
    /// Empty where there is none.
    [[nodiscard]] std::string text(std::string_view key);
    /// Also true, false, a number, or a list of these: "a, b". An empty list is "none", no value is empty.
    [[nodiscard]] std::string words(std::string_view key);
    /// Also "yes", "no", "on", "off", "true" and "false", in any case.
    [[nodiscard]] std::optional<bool> flag(std::string_view key);
    /// 0 where there is none.
    [[nodiscard]] double number(std::string_view key);
    [[nodiscard]] int count(std::string_view key, int otherwise = 0);
    [[nodiscard]] int required_count(std::string_view key);
    /// Throws: the object lacks what is expected.
    [[noreturn]] void fail(const std::string& expected) const;
    /// Of a kind of parallelism; 1 where the case does not say.
    [[nodiscard]] int ranks(std::string_view key);

    /// `plan.microbatch is passed over; did you mean micro_batch?` of each key that was not asked for and is not in
    /// `beside`; one is suggested that was asked for, and that the object lacks, where the key is that but for "num_"
    /// in front, "_size" behind, capitals or, of six letters and more, two of them, not in its last word.
    [[nodiscard]] std::vector<std::string> passed_over(const std::vector<std::string_view>& beside) const;

 private:
    /// As the object spells it: in any case.
    [[nodiscard]] std::string key_of(std::string_view key) const;
    [[nodiscard]] std::optional<JsonValue> value_of(std::string_view key) const;

    JsonValue value_;
    std::string name_;
    std::vector<std::string> asked_;
};

}  // namespace auspex::evaluate
