/// @file Words and numbers of arguments.
#include "interop/argument_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"

namespace auspex::interop {
namespace {

constexpr int kMostOfArgument = 10'000'000;
constexpr std::size_t kLongestShown = 60;

std::string shown(const std::string& value) { return json_quote(printable(value, kLongestShown)); }

}  // namespace

bool ArgumentReader::has(const std::string& name) {
    read_.insert(name);
    return values_.contains(name);
}

std::string ArgumentReader::word(const std::string& name, const std::string& otherwise) {
    return has(name) ? values_.at(name) : otherwise;
}

std::string ArgumentReader::one_of(const std::string& name, std::initializer_list<const char*> words) {
    const std::string found = word(name, *words.begin());
    std::string allowed;
    for (const char* one : words) {
        if (found == one) {
            return found;
        }
        allowed += (allowed.empty() ? "" : ", ") + std::string(one);
    }
    refuse(name, shown(found), words.size() == 1 ? allowed : "one of " + allowed);
}

std::int64_t ArgumentReader::whole(const std::string& name, std::int64_t otherwise, std::int64_t most) {
    if (!has(name)) {
        return otherwise;
    }
    const std::string& text = values_.at(name);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
        refuse(name, shown(text), "a whole number from 1 to " + std::to_string(most));
    }
    return value;
}

int ArgumentReader::number(const std::string& name, int otherwise) {
    return static_cast<int>(whole(name, otherwise, kMostOfArgument));
}

double ArgumentReader::share(const std::string& name, double otherwise) {
    if (!has(name)) {
        return otherwise;
    }
    const std::string& text = values_.at(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1)) {
        refuse(name, shown(text), "a number from 0 to 1");
    }
    return value;
}

bool ArgumentReader::truth(const std::string& name, bool otherwise) {
    if (!has(name)) {
        return otherwise;
    }
    const std::string text = lower_case(values_.at(name));
    if (text != "0" && text != "1" && text != "true" && text != "false") {
        refuse(name, shown(values_.at(name)), "1 or 0, true or false");
    }
    return text == "1" || text == "true";
}

bool ArgumentReader::is_switched_on(const std::string& name) {
    if (has(name) && !values_.at(name).empty()) {
        refuse(name, shown(values_.at(name)), "no value: it is a switch");
    }
    return has(name);
}

void ArgumentReader::refuse(const std::string& name, const std::string& found, const std::string& expected) const {
    throw InputError(file_ + ": " + printable(name, kLongestShown),
                     "found " + printable(found, found.size()) + "; expected " + expected);
}

void ArgumentReader::refuse_unknown(const std::string& name) const {
    const std::string& value = values_.at(name);
    refuse(name, value.empty() ? "a switch" : shown(value),
           "no such argument: it may change what a step costs and is not understood");
}

}  // namespace auspex::interop
