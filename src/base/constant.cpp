/// @file Reading constants with their provenance.
#include "base/constant.hpp"

#include <array>

#include "base/json.hpp"

namespace auspex {
namespace {

/// Of a constant whose file gives no uncertainty, by kind in the order of the enum.
constexpr std::array kUncertaintyOfKind{0.03, 0.02, 0.05, 0.30, 0.10};

}  // namespace

const char* to_string(ConstantKind kind) {
    constexpr std::array kNames{"measured", "specified", "derived", "assumed", "fitted"};
    return kNames.at(static_cast<std::size_t>(kind));
}

double read_constant(const JsonValue& parent, std::string_view key, Dimension dimension, double low, double high,
                     const std::string& role, std::vector<Constant>& constants) {
    const JsonValue entry = parent.at(key);
    Constant constant;
    constant.path = role + "." + entry.path();
    constant.dimension = dimension;
    constant.low = low;
    constant.high = high;
    if (entry.is_object()) {
        entry.allow_only({"value", "source", "kind", "uncertainty"});
        constant.value = entry.at("value").as_quantity(dimension, low, high);
        const JsonValue source = entry.at("source");
        constant.source = source.as_string();
        if (constant.source.empty()) {
            source.fail("where the number comes from");
        }
        constant.kind = static_cast<ConstantKind>(
            entry.at("kind").as_one_of({"measured", "specified", "derived", "assumed", "fitted"}));
        constant.relative_uncertainty = kUncertaintyOfKind.at(static_cast<std::size_t>(constant.kind));
        if (const auto uncertainty = entry.find("uncertainty")) {
            constant.relative_uncertainty = uncertainty->as_number(0, 10);
        }
    } else {
        constant.value = entry.as_quantity(dimension, low, high);
        constant.relative_uncertainty = kUncertaintyOfKind.at(static_cast<std::size_t>(constant.kind));
    }
    constants.push_back(constant);
    return constant.value;
}

}  // namespace auspex
