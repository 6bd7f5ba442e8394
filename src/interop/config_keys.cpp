/// @file Keys that are asked for, and those that are left.
#include "interop/config_keys.hpp"

#include <cstdint>

namespace auspex::interop {
namespace {

constexpr std::int64_t kMostOfKey = 100'000'000;

}  // namespace

std::optional<JsonValue> ConfigKeys::find(std::string_view key) {
    known_.emplace(key);
    const auto value = object_.find(key);
    return value && !value->is_null() ? value : std::nullopt;
}

JsonValue ConfigKeys::at(std::string_view key) {
    const auto value = find(key);
    return value ? *value : object_.at(key);
}

int ConfigKeys::count(std::string_view key, int low) { return static_cast<int>(at(key).as_integer(low, kMostOfKey)); }

int ConfigKeys::count_or(std::string_view key, int fallback, int low) {
    const auto value = find(key);
    return value ? static_cast<int>(value->as_integer(low, kMostOfKey)) : fallback;
}

bool ConfigKeys::flag_or(std::string_view key, bool fallback) {
    const auto value = find(key);
    return value ? value->as_bool() : fallback;
}

void ConfigKeys::pass_over(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        known_.emplace(key);
    }
}

void ConfigKeys::refuse_the_rest() const {
    for (const std::string& key : object_.keys()) {
        const JsonValue value = object_.at(key);
        if (!known_.contains(key) && !value.is_null()) {
            value.fail(
                "no such key: it may change what a step costs and is not understood; null, as with --set workload." +
                value.path() + "=null, leaves it out");
        }
    }
}

}  // namespace auspex::interop
