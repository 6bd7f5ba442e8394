/// @file Readers of single values.
#include "models/stack_file/stack_values.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/json_writer.hpp"

namespace auspex::models {
namespace {

constexpr double kMinFraction = 0.01;

}  // namespace

double read_time(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kSeconds, 0, kMaxOverhead, kStackRole, stack.constants);
}

double read_time_or_none(const JsonValue& section, std::string_view key, Stack& stack) {
    return section.find(key) ? read_time(section, key, stack) : 0;
}

double read_fraction(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kNone, kMinFraction, 1, kStackRole, stack.constants);
}

double read_size(const JsonValue& section, std::string_view key, Stack& stack) {
    return read_constant(section, key, Dimension::kBytes, 0, kMaxStackBytes, kStackRole, stack.constants);
}

bool read_flag(const JsonValue& section, std::string_view key) {
    const auto value = section.find(key);
    return value && value->as_bool();
}

int read_count(const JsonValue& section, std::string_view key, std::int64_t low) {
    return static_cast<int>(section.at(key).as_integer(low, 1000));
}

void check_date(const JsonValue& value) {
    const std::string date = value.as_string();
    const auto is_digit = [&date](std::size_t at) { return date[at] >= '0' && date[at] <= '9'; };
    const bool shaped = date.size() == 7 && is_digit(0) && is_digit(1) && is_digit(2) && is_digit(3) &&
                        date[4] == '-' && is_digit(5) && is_digit(6);
    if (!shaped || date.substr(5) < "01" || date.substr(5) > "12") {
        value.fail("a year and a month, such as \"2025-03\"");
    }
}

namespace {

/// Names are part of a constant's path, where a dot separates.
void check_entry_name(const JsonValue& entries, const std::string& name) {
    const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!good) {
        throw InputError(entries.where(),
                         "found the name " + json_quote(name) + "; expected names of letters, digits and \"-\"");
    }
}

[[noreturn]] void fail_unknown_entry(const JsonValue& use, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + json_quote(name);
    }
    use.fail("the name of an entry: " + list);
}

}  // namespace

DatedEntry entry_in_use(const JsonValue& section, std::vector<std::string>& names,
                        const std::function<void(const JsonValue& entry)>& check) {
    const JsonValue use = section.at("use"), entries = section.at("entries");
    const std::string wanted = use.as_string();
    for (const std::string& name : entries.keys()) {
        if (name == "comment" || name.starts_with("$")) {
            continue;
        }
        check_entry_name(entries, name);
        names.push_back(name);
        check(entries.at(name));
    }
    if (names.empty()) {
        entries.fail("at least one entry");
    }
    if (std::ranges::find(names, wanted) == names.end()) {
        fail_unknown_entry(use, names);
    }
    return {wanted, entries.at(wanted)};
}

}  // namespace auspex::models
