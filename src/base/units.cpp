/// @file Unit tables, one a dimension, read in both directions.
#include "base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/number_text.hpp"

namespace auspex {
namespace {

struct Unit {
    const char* name;
    double scale;  ///< SI value of one
};

constexpr double kKibi = 1024.0;
constexpr std::array kBytesUnits{Unit{"B", 1},
                                 Unit{"KB", 1e3},
                                 Unit{"MB", 1e6},
                                 Unit{"GB", 1e9},
                                 Unit{"TB", 1e12},
                                 Unit{"PB", 1e15},
                                 Unit{"KiB", kKibi},
                                 Unit{"MiB", kKibi* kKibi},
                                 Unit{"GiB", kKibi* kKibi* kKibi},
                                 Unit{"TiB", kKibi* kKibi* kKibi* kKibi}};
constexpr std::array kBytesPerSecondUnits{Unit{"B/s", 1},
                                          Unit{"KB/s", 1e3},
                                          Unit{"MB/s", 1e6},
                                          Unit{"GB/s", 1e9},
                                          Unit{"TB/s", 1e12},
                                          Unit{"PB/s", 1e15},
                                          Unit{"KiB/s", kKibi},
                                          Unit{"MiB/s", kKibi* kKibi},
                                          Unit{"GiB/s", kKibi* kKibi* kKibi},
                                          Unit{"TiB/s", kKibi* kKibi* kKibi* kKibi},
                                          Unit{"Mbit/s", 1e6 / 8},
                                          Unit{"Gbit/s", 1e9 / 8},
                                          Unit{"Tbit/s", 1e12 / 8}};
constexpr std::array kFlopPerSecondUnits{
    Unit{"F/s", 1},       Unit{"KF/s", 1e3},     Unit{"MF/s", 1e6},     Unit{"GF/s", 1e9},    Unit{"TF/s", 1e12},
    Unit{"PF/s", 1e15},   Unit{"EF/s", 1e18},    Unit{"FLOP/s", 1},     Unit{"KFLOP/s", 1e3}, Unit{"MFLOP/s", 1e6},
    Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15}, Unit{"EFLOP/s", 1e18}};
constexpr std::array kSecondsUnits{Unit{"s", 1},      Unit{"ms", 1e-3}, Unit{"us", 1e-6},  Unit{"ns", 1e-9},
                                   Unit{"ps", 1e-12}, Unit{"min", 60},  Unit{"h", 3600.0}, Unit{"d", 86400.0}};
constexpr std::array kPerSecondUnits{Unit{"1/s", 1},         Unit{"Hz", 1},    Unit{"kHz", 1e3},
                                     Unit{"MHz", 1e6},       Unit{"GHz", 1e9}, Unit{"1/min", 1.0 / 60},
                                     Unit{"1/h", 1.0 / 3600}};
constexpr std::array kWattsUnits{Unit{"W", 1}, Unit{"kW", 1e3}, Unit{"MW", 1e6}};
constexpr std::array kCountUnits{Unit{"", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}, Unit{"B", 1e9}, Unit{"T", 1e12}};

/// The first unit of a table is the dimension's base unit.
std::span<const Unit> units_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::kNone: return {};
        case Dimension::kBytes: return kBytesUnits;
        case Dimension::kBytesPerSecond: return kBytesPerSecondUnits;
        case Dimension::kFlopPerSecond: return kFlopPerSecondUnits;
        case Dimension::kSeconds: return kSecondsUnits;
        case Dimension::kPerSecond: return kPerSecondUnits;
        case Dimension::kWatts: return kWattsUnits;
        case Dimension::kCount: return kCountUnits;
    }
    check_failed("dimension", "unknown dimension", __FILE__, __LINE__);
}

std::string quoted(std::string_view text) { return "\"" + printable(text) + "\""; }

std::string joined_names(std::span<const Unit> units) {
    std::string out;
    for (const Unit& unit : units) {
        out += (out.empty() ? "" : " ") + std::string(unit.name);
    }
    return out;
}

[[noreturn]] void refuse(const std::string& where, std::string_view text, Dimension dimension, const char* example) {
    if (dimension == Dimension::kNone) {
        throw InputError(where, "found " + quoted(text) + "; expected a plain number without a unit");
    }
    if (dimension == Dimension::kCount) {
        throw InputError(where, "found " + quoted(text) + "; expected a number such as \"" + example +
                                    "\" (k M B T: powers of 1000)");
    }
    throw InputError(where, "found " + quoted(text) + "; expected a number and a unit, such as \"" + example +
                                "\" (units: " + joined_names(units_of(dimension)) + ")");
}

/// False for powers of 1024, bits, and second names.
bool is_readable(const Unit& unit) {
    const std::string_view name = unit.name;
    return name.find("iB") == std::string_view::npos && name.find("FLOP") == std::string_view::npos &&
           name.find("bit") == std::string_view::npos && name != "1/min";
}

/// The unit in which a value is easiest to read: the largest power-of-1000 one not above it.
const Unit& readable_unit(std::span<const Unit> units, double magnitude) {
    const Unit* best = nullptr;
    const Unit* smallest = &units.front();
    for (const Unit& unit : units) {
        const std::string_view name = unit.name;
        if (!is_readable(unit)) {
            continue;
        }
        // Minutes, hours and days read well only when there are a few of them.
        const double least =
            unit.scale >= 60 && (name == "min" || name == "h" || name == "d") ? 2 * unit.scale : unit.scale;
        if (magnitude >= least && (best == nullptr || unit.scale > best->scale)) {
            best = &unit;
        }
        if (unit.scale < smallest->scale) {
            smallest = &unit;
        }
    }
    return best != nullptr ? *best : *smallest;
}

std::string printed(const char* format, double value) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, value);
    return buffer.data();
}

}  // namespace

double parse_quantity(std::string_view text, Dimension dimension, const std::string& where, const char* example) {
    example = example == nullptr ? example_of(dimension) : example;
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, status] = std::from_chars(text.data(), end, number);
    if (status != std::errc() || !std::isfinite(number)) {
        refuse(where, text, dimension, example);
    }
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (dimension == Dimension::kNone && unit.empty()) {
        return number;
    }
    if (!unit.empty() && unit.front() == ' ') {
        unit.remove_prefix(1);
    }
    for (const Unit& known : units_of(dimension)) {
        if (unit == known.name && std::isfinite(number * known.scale)) {
            return number * known.scale;
        }
    }
    refuse(where, text, dimension, example);
}

std::string format_quantity(double value, Dimension dimension) {
    if (dimension == Dimension::kNone) {
        const bool is_whole = std::abs(value) < 1e15 && value == std::trunc(value);
        return printed(is_whole ? "%.0f" : "%.4g", value);
    }
    const auto units = units_of(dimension);
    const Unit& unit = value == 0 || !std::isfinite(value) ? units.front() : readable_unit(units, std::abs(value));
    return printed("%.4g", value / unit.scale) + " " + unit.name;
}

std::string in_unit(double value, Dimension dimension) {
    if (dimension == Dimension::kNone) {
        return six_digits(value);
    }
    if (dimension == Dimension::kBytes) {
        return printed("%.0f B", value);
    }
    const Unit& unit = readable_unit(units_of(dimension), std::abs(value));
    return six_digits(value / unit.scale) + " " + unit.name;
}

std::vector<std::pair<std::string, double>> readable_units(Dimension dimension) {
    std::vector<std::pair<std::string, double>> out;
    for (const Unit& unit : units_of(dimension)) {
        if (is_readable(unit)) {
            out.emplace_back(unit.name, unit.scale);
        }
    }
    return out;
}

std::string exact_quantity(double value, Dimension dimension) {
    const std::string number = printed("%.17g", value);
    return dimension == Dimension::kNone ? number : number + " " + base_unit(dimension);
}

const char* base_unit(Dimension dimension) {
    return dimension == Dimension::kNone ? "" : units_of(dimension).front().name;
}

const char* example_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::kNone: return "0.5";
        case Dimension::kBytes: return "64 GB";
        case Dimension::kBytesPerSecond: return "25 GB/s";
        case Dimension::kFlopPerSecond: return "205 TF/s";
        case Dimension::kSeconds: return "350 ns";
        case Dimension::kPerSecond: return "10 1/s";
        case Dimension::kWatts: return "500 W";
        case Dimension::kCount: return "100B";
    }
    check_failed("dimension", "unknown dimension", __FILE__, __LINE__);
}

}  // namespace auspex
