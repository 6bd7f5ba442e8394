/// @file Values of a case's object, and keys that nobody asks for.
#include "compare/evaluate/published/case_object.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/input_text.hpp"
#include "base/text/closest_word.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

constexpr double kLargest = 1e15;
constexpr int kLargestCount = 100'000'000;

/// "NUM_EXPERTS" -> "experts", "hidden_size" -> "hidden".
std::string plain_key(std::string_view key) {
    std::string plain = lower_case(key);
    for (const std::string_view front : {"number_of_", "num_", "n_"}) {
        plain = plain.starts_with(front) ? plain.substr(front.size()) : plain;
    }
    for (const std::string_view back : {"_size", "_length", "_degree"}) {
        plain = plain.ends_with(back) ? plain.substr(0, plain.size() - back.size()) : plain;
    }
    return plain;
}

/// Also 8.0, as tables are written by programs that have no other numbers.
int whole_number(const JsonValue& value, int least) {
    const double number = value.is_number() ? value.as_number(-kLargest, kLargest) : 0.5;
    const bool is_real = number != std::floor(number) || number < least || number > kLargestCount;
    return is_real ? static_cast<int>(value.as_integer(least, kLargestCount)) : static_cast<int>(number);
}

/// "tokens_per_s" -> "s".
std::string_view last_word(std::string_view key) { return key.substr(key.find_last_of('_') + 1); }

/// "; did you mean micro_batch?", or nothing. Another last word, as in step_time_ms, is another quantity.
std::string meant_by(const std::string& key, const std::vector<std::string>& lacking) {
    constexpr std::size_t kShort = 6, kSlips = 2;
    const std::string letters = lower_case(key), plain = plain_key(key);
    for (const std::string& one : lacking) {
        const bool is_slip = one.size() >= kShort && letters.size() >= kShort &&
                             letters_apart(letters, one) <= kSlips &&
                             (!has(letters, "_") || last_word(letters) == last_word(one));
        if (one == letters || one == plain || is_slip) {
            return "; did you mean " + one + "?";
        }
    }
    return "";
}

}  // namespace

std::string CaseObject::key_of(std::string_view key) const {
    const std::vector<std::string> keys = value_.keys();
    const auto found =
        value_.find(key) ? keys.end() : std::ranges::find(keys, key, [](const auto& one) { return lower_case(one); });
    return found == keys.end() ? std::string(key) : *found;
}

std::optional<JsonValue> CaseObject::value_of(std::string_view key) const {
    const std::optional<JsonValue> found = value_.find(key_of(key));
    return found && !found->is_null() ? found : std::nullopt;
}

std::optional<JsonValue> CaseObject::find(std::string_view key) {
    asked_.push_back(key_of(key));
    return value_of(key);
}

JsonValue CaseObject::at(std::string_view key) {
    asked_.push_back(key_of(key));
    return value_.at(asked_.back());
}

std::string CaseObject::text(std::string_view key) {
    const std::optional<JsonValue> found = find(key);
    return found ? found->as_string() : "";
}

std::string CaseObject::words(std::string_view key) {
    const auto word = [](const JsonValue& v) { return v.is_bool() || v.is_number() ? v.dump() : v.as_string(); };
    const std::optional<JsonValue> found = find(key);
    if (!found || !found->is_array()) {
        return found ? word(*found) : "";
    }
    std::string words;
    for (const JsonValue& one : found->elements()) {
        words += (words.empty() ? "" : ", ") + word(one);
    }
    return words.empty() ? "none" : words;
}

std::optional<bool> CaseObject::flag(std::string_view key) {
    const std::optional<JsonValue> found = find(key);
    const std::string word = found && found->is_string() ? lower_case(found->as_string()) : "";
    const bool is_yes = is_one_of(word, {"yes", "on", "true"});
    if (is_yes || is_one_of(word, {"no", "off", "false"})) {
        return is_yes;
    }
    return found ? std::optional(found->as_bool()) : std::nullopt;
}

double CaseObject::number(std::string_view key) {
    const std::optional<JsonValue> found = find(key);
    return found ? found->as_number(0, kLargest) : 0;
}

int CaseObject::count(std::string_view key, int otherwise) {
    const std::optional<JsonValue> found = find(key);
    return found ? whole_number(*found, 0) : otherwise;
}

int CaseObject::required_count(std::string_view key) { return whole_number(at(key), 1); }

void CaseObject::fail(const std::string& expected) const { value_.fail(expected); }

int CaseObject::ranks(std::string_view key) {
    const std::optional<JsonValue> found = find(key);
    return found ? whole_number(*found, 1) : 1;
}

std::vector<std::string> CaseObject::passed_over(const std::vector<std::string_view>& beside) const {
    std::vector<std::string> lacking;
    std::ranges::copy_if(asked_, std::back_inserter(lacking), [&](const auto& key) { return !value_of(key); });
    std::vector<std::string> notes;
    for (const std::string& key : value_.keys()) {
        const bool is_known =
            std::ranges::find(asked_, key) != asked_.end() || std::ranges::find(beside, key) != beside.end();
        if (!is_known && !key.starts_with('_')) {
            notes.push_back((name_.empty() ? "" : name_ + ".") + printable(key) + " is passed over" +
                            meant_by(key, lacking));
        }
    }
    return notes;
}

}  // namespace auspex::evaluate
