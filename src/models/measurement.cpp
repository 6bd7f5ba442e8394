/// @file Measurements as CSV: strict on the way in, exact on the way out.
#include "models/measurement.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "models/attention/attention_kernel.hpp"
#include "models/cpu/cpu_kernel.hpp"

namespace auspex::models {
namespace {

constexpr double kMaxSize = 1e18;
constexpr double kMaxSeconds = 1e9;
constexpr double kMaxCount = 1e9;

namespace column {
enum Column : std::size_t {
    kKind,
    kName,
    kPrecision,
    kWhere,
    kRows,
    kColumns,
    kDepth,
    kGroups,
    kActive,
    kRanks,
    kNodes,
    kBytes,
    kSeconds,
    kSpread,
    kCount,
    kSource,
    kEnd
};
}  // namespace column

/// In the order of the columns.
constexpr std::array<std::string_view, column::kEnd> kColumnNames{
    "kind",   "name",  "precision", "where", "rows",    "columns", "depth", "groups",
    "active", "ranks", "nodes",     "bytes", "seconds", "spread",  "count", "source"};

using Words = std::initializer_list<std::string_view>;

/// One line of the file, cut into its fields.
struct Line {
    std::string place;  ///< "file.csv:12"
    std::vector<std::string> fields;
};

std::string in_words(std::string_view text) { return text.empty() ? "nothing" : json_quote(printable(text)); }

[[noreturn]] void refuse(const Line& line, std::size_t column, const std::string& expected) {
    throw InputError(line.place, "column " + json_quote(kColumnNames.at(column)) + ": found " +
                                     in_words(line.fields.at(column)) + "; expected " + expected);
}

Line cut_line(std::string_view text, const std::string& place) {
    Line line{place, csv_fields(text, place)};
    if (line.fields.size() != kColumnNames.size()) {
        throw InputError(place, "found " + std::to_string(line.fields.size()) + " fields; expected " +
                                    std::to_string(kColumnNames.size()) + ": " + measurement_header());
    }
    return line;
}

void check_word(const Line& line, std::size_t column, Words words) {
    if (std::find(words.begin(), words.end(), line.fields[column]) != words.end()) {
        return;
    }
    std::string list;
    for (const std::string_view word : words) {
        list += (list.empty() ? "" : ", ") + in_words(word);
    }
    refuse(line, column, "one of " + list);
}

void check_filled(const Line& line, std::size_t column) {
    if (line.fields[column].empty()) {
        refuse(line, column, "a text that is not empty");
    }
}

/// 0 where the field is empty.
double read_number(const Line& line, std::size_t column, double high) {
    const std::string& text = line.fields[column];
    if (text.empty()) {
        return 0;
    }
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    if (status != std::errc() || end != last || !(value >= 0 && value <= high)) {
        refuse(line, column, "a plain number from 0 to " + json_number(high) + ", or nothing");
    }
    return value;
}

/// 1 where the field is empty.
int read_count(const Line& line, std::size_t column) {
    const double value = line.fields[column].empty() ? 1 : read_number(line, column, kMaxCount);
    if (value < 1 || value != std::floor(value)) {
        refuse(line, column, "a whole number of at least 1, or nothing");
    }
    return static_cast<int>(value);
}

void check_positive(const Line& line, std::initializer_list<std::size_t> columns) {
    for (const std::size_t column : columns) {
        if (!(read_number(line, column, kMaxSize) > 0)) {
            refuse(line, column, "a number above 0 in a row of kind " + json_quote(line.fields[column::kKind]));
        }
    }
}

void check_kernel_name(const Line& line) {
    std::string names;
    for (std::size_t i = 0; i < kCpuKernels; ++i) {
        const std::string_view name = to_string(static_cast<CpuKernel>(i));
        if (name == line.fields[column::kName]) {
            return;
        }
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    refuse(line, column::kName, "the name of a kernel: " + names);
}

/// What a row must have is a matter of its kind.
void check_kind(const Line& line, const Measurement& row) {
    if (row.kind == "host") {
        if (row.seconds <= 0 && row.bytes <= 0) {
            refuse(line, column::kSeconds, "a number above 0 here, or as bytes, in a row of kind \"host\"");
        }
        return;
    }
    check_positive(line, {column::kSeconds});
    if (row.kind == "kernel") {
        check_kernel_name(line);
        check_word(line, column::kPrecision, {"fp32", "bf16"});
        check_word(line, column::kWhere, {"cache", "memory"});
        check_positive(line, {column::kRows, column::kColumns, column::kDepth, column::kGroups});
    } else if (row.kind == "gemm") {
        check_word(line, column::kPrecision, {"fp32", "bf16"});
        check_positive(line, {column::kRows, column::kColumns, column::kDepth});
    } else if (row.kind == "message") {
        check_word(line, column::kWhere, {"near", "shared", "far"});
        check_positive(line, {column::kBytes});
    } else if (row.kind == "collective" || row.kind == "link" || row.kind == "memory") {
        check_positive(line, {column::kBytes});
    }
}

/// Of attention a kernel, by the name that a machine has for it.
void check_where(const Line& line) {
    const std::string& where = line.fields[column::kWhere];
    if (line.fields[column::kKind] != "attention") {
        check_word(line, column::kWhere, {"cache", "memory", "near", "shared", "far", ""});
    } else if (!where.empty() && !is_attention_kernel_name(where)) {
        refuse(
            line, column::kWhere,
            "the name of a kernel of attention, as \"flash-attention-2\", in letters, digits and hyphens, or nothing");
    }
}

Measurement read_row(const Line& line) {
    check_word(line, column::kKind,
               {"kernel", "message", "collective", "host", "gemm", "memory", "attention", "link", "start"});
    check_filled(line, column::kName);
    check_word(line, column::kPrecision, {"fp32", "bf16", ""});
    check_where(line);
    check_filled(line, column::kSource);
    Measurement row;
    row.kind = line.fields[column::kKind];
    row.name = line.fields[column::kName];
    row.precision = line.fields[column::kPrecision];
    row.where = line.fields[column::kWhere];
    row.rows = read_number(line, column::kRows, kMaxSize);
    row.columns = read_number(line, column::kColumns, kMaxSize);
    row.depth = read_number(line, column::kDepth, kMaxSize);
    row.groups = read_number(line, column::kGroups, kMaxSize);
    row.active = read_count(line, column::kActive);
    row.ranks = read_count(line, column::kRanks);
    row.nodes = read_count(line, column::kNodes);
    row.bytes = read_number(line, column::kBytes, kMaxSize);
    row.seconds = read_number(line, column::kSeconds, kMaxSeconds);
    row.spread = read_number(line, column::kSpread, kMaxSeconds);
    row.count = read_count(line, column::kCount);
    row.source = line.fields[column::kSource];
    row.file_line = line.place;
    check_kind(line, row);
    if (row.nodes > row.ranks) {
        refuse(line, column::kNodes, "not more nodes than ranks, " + std::to_string(row.ranks));
    }
    return row;
}

std::string text_field(const std::string& text) { return csv_field(printable(text, text.size())); }

std::string number_field(double value) { return value == 0 ? "" : json_number(value); }

}  // namespace

const std::string& line_of(const Measurement& measurement) {
    return measurement.file_line.empty() ? measurement.source : measurement.file_line;
}

const std::string& measurement_header() {
    static const std::string header = [] {
        std::string names;
        for (const std::string_view name : kColumnNames) {
            names += (names.empty() ? "" : ",") + std::string(name);
        }
        return names;
    }();
    return header;
}

std::string to_csv(const Measurement& measurement) {
    const Measurement& row = measurement;
    const std::array<std::string, column::kEnd> fields{text_field(row.kind),
                                                       text_field(row.name),
                                                       row.precision,
                                                       row.where,
                                                       number_field(row.rows),
                                                       number_field(row.columns),
                                                       number_field(row.depth),
                                                       number_field(row.groups),
                                                       std::to_string(row.active),
                                                       std::to_string(row.ranks),
                                                       std::to_string(row.nodes),
                                                       number_field(row.bytes),
                                                       number_field(row.seconds),
                                                       number_field(row.spread),
                                                       std::to_string(row.count),
                                                       text_field(row.source)};
    std::string line = fields.front();
    for (std::size_t i = 1; i < fields.size(); ++i) {
        line += "," + fields[i];
    }
    return line;
}

std::vector<Measurement> load_measurements(const std::string& file) {
    return parse_measurements(read_input_file(file, "a CSV file of measurements"), file);
}

std::vector<Measurement> parse_measurements(const std::string& text, const std::string& name) {
    std::vector<Measurement> rows;
    bool has_header = false;
    for (const auto& [place, content] : csv_lines(text, name)) {
        if (!has_header) {
            if (content != measurement_header()) {
                throw InputError(place, "found " + in_words(content) + "; expected the header " + measurement_header());
            }
            has_header = true;
            continue;
        }
        rows.push_back(read_row(cut_line(content, place)));
    }
    if (!has_header) {
        throw InputError(name, "found no line that is no comment; expected the header " + measurement_header());
    }
    return rows;
}

}  // namespace auspex::models
