/// @file Units that people use, largest first.
#include "base/unit_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "base/error.hpp"

namespace auspex {
namespace {

struct Unit {
    double size;
    const char* name;
};
constexpr std::array kTimes{Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}, Unit{1e-12, "ps"}};
constexpr std::array kRates{Unit{1e12, "TB/s"}, Unit{1e9, "GB/s"}, Unit{1e6, "MB/s"}, Unit{1e3, "KB/s"},
                            Unit{1, "B/s"}};
constexpr std::array kFlops{Unit{1e12, "TF/s"}, Unit{1e9, "GF/s"}, Unit{1e6, "MF/s"}};

std::span<const Unit> units_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::kSeconds: return kTimes;
        case Dimension::kBytesPerSecond: return kRates;
        case Dimension::kFlopPerSecond: return kFlops;
        default: break;
    }
    check_failed("dimension", "times, rates of bytes and of FLOP have units here", __FILE__, __LINE__);
}

std::string formatted(const char* format, double number) {
    std::array<char, 64> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), format, number));
    return text.data();
}

}  // namespace

std::string six_digits(double number) { return formatted("%.6g", number); }

std::string in_unit(double value, Dimension dimension) {
    if (dimension == Dimension::kNone) {
        return six_digits(value);
    }
    if (dimension == Dimension::kBytes) {
        return formatted("%.0f B", value);
    }
    const std::span<const Unit> units = units_of(dimension);
    const auto unit = std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return value >= u.size; });
    return six_digits(value / unit->size) + " " + unit->name;
}

}  // namespace auspex
