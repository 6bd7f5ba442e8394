/// @file Reads published rows: strict about what is compared, indifferent to what is not.
#include "compare/evaluate/published_collectives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

constexpr std::array<std::string_view, 5> kCollectives{"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                                       "broadcast"};
constexpr std::array<std::pair<std::string_view, double>, 4> kTimes{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
/// Of collectives: which bandwidth they are of is not one thing, so that they are not compared.
constexpr std::array<std::string_view, 4> kRates{"GB/s", "GiB/s", "MB/s", "MiB/s"};
/// Every rank sends `bytes` to each of the others, or to the one half of all ranks away, and all nodes send at once.
constexpr std::array<std::string_view, 2> kNodeBandwidths{"all_to_all_bw_per_node", "bisection_bw_per_node"};
constexpr std::string_view kNodeRate = "GB/s per node";  ///< what stands behind it is free
constexpr std::int64_t kMostRanks = 10'000'000;
constexpr double kMostBytes = 1e15, kMostValue = 1e18;

std::string text_of_row(const JsonValue& row, std::string_view key) {
    const std::optional<JsonValue> value = row.find(key);
    return value ? value->as_string() : "";
}

std::optional<int> count_of_row(const JsonValue& row, std::string_view key) {
    const std::optional<JsonValue> value = row.find(key);
    return value ? std::optional(static_cast<int>(value->as_integer(1, kMostRanks))) : std::nullopt;
}

std::optional<double> bytes_of(const JsonValue& row) {
    const std::optional<JsonValue> value = row.find("bytes");
    if (!value) {
        return std::nullopt;
    }
    const double bytes = value->as_number(0, kMostBytes);
    if (bytes != std::floor(bytes)) {
        value->fail("a whole number of bytes");
    }
    return bytes;
}

/// Seconds; none where the unit is a rate.
std::optional<double> time_of(const JsonValue& row, const std::string& unit, double value) {
    const auto* const time =
        std::ranges::find(kTimes, std::string_view(unit), &std::pair<std::string_view, double>::first);
    if (time != kTimes.end()) {
        if (value <= 0) {
            row.at("value").fail("a time above 0");
        }
        return value * time->second;
    }
    if (std::ranges::find(kRates, std::string_view(unit)) == kRates.end()) {
        row.at("unit").fail("ns, us, ms or s, the time of a collective; or GB/s, GiB/s, MB/s or MiB/s");
    }
    return std::nullopt;
}

double node_rate_of(const JsonValue& row, const std::string& unit, double value) {
    if (!unit.starts_with(kNodeRate)) {
        row.at("unit").fail(std::string(kNodeRate));
    }
    if (value <= 0) {
        row.at("value").fail("a rate above 0");
    }
    return 1e9 * value;
}

PublishedCollective read_row(const JsonValue& value) {
    PublishedCollective row;
    row.place = "$" + value.path();
    row.machine = name_in(value, "machine");
    row.kind = name_in(value, "kind");
    row.library = text_of_row(value, "library");
    row.algorithm = text_of_row(value, "algorithm");
    row.note = text_of_row(value, "note");
    row.unit = name_in(value, "unit");
    row.value = value.at("value").as_number(0, kMostValue);
    row.nodes = count_of_row(value, "nodes");
    row.ranks = count_of_row(value, "ranks");
    row.bytes = bytes_of(value);
    const std::optional<JsonValue> fitted = value.find("fitted");
    row.fitted = fitted && fitted->as_bool();
    row.is_collective = std::ranges::find(kCollectives, std::string_view(row.kind)) != kCollectives.end();
    if (row.is_collective) {
        row.measured_s = time_of(value, row.unit, row.value);
    }
    if (std::ranges::find(kNodeBandwidths, std::string_view(row.kind)) != kNodeBandwidths.end()) {
        row.node_bytes_per_s = node_rate_of(value, row.unit, row.value);
    }
    return row;
}

std::vector<PublishedCollective> read_rows(const JsonDocument& document) {
    std::vector<PublishedCollective> rows;
    for (const JsonValue& value : document.root().elements()) {
        rows.push_back(read_row(value));
    }
    return rows;
}

}  // namespace

std::string text_in(const JsonValue& object, std::string_view key) {
    return object.find(key) ? name_in(object, key) : "";
}

std::vector<std::string> texts_in(const JsonValue& object, std::string_view key) {
    std::vector<std::string> texts;
    if (const std::optional<JsonValue> list = object.find(key)) {
        for (const JsonValue& text : list->elements()) {
            texts.push_back(text.as_string());
        }
    }
    return texts;
}

std::string name_in(const JsonValue& object, std::string_view key) {
    const JsonValue value = object.at(key);
    std::string name = value.as_string();
    if (name.empty()) {
        value.fail("a name");
    }
    return name;
}

std::vector<PublishedCollective> load_published_collectives(const std::string& file) {
    return read_rows(JsonDocument::load(file));
}

std::vector<PublishedCollective> parse_published_collectives(const std::string& text, const std::string& name) {
    return read_rows(JsonDocument::parse(text, name));
}

}  // namespace auspex::evaluate
