/// @file Errors that README.md and docs/validation.md quote are those of the committed report of published runs.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace auspex {
namespace {

std::string in_percent(double share, bool has_sign = false) {
    char text[32];
    std::snprintf(text, sizeof text, has_sign ? "%+.1f %%" : "%.1f %%", 100 * share);
    return text;
}

double number(const JsonValue& group, const char* key) { return group.at(key).as_number(-1e9, 1e9); }

/// `| verified | 153 | 5.9 % | 4.4 % | 13.5 % | -1.6 % | 92.2 % | 5.7 % of 30 |`
std::string row_of(const std::string& name, const JsonValue& group) {
    const int with_memory = static_cast<int>(number(group, "memory_n"));
    return "| " + name + " | " + std::to_string(static_cast<int>(number(group, "n"))) + " | " +
           in_percent(number(group, "mape")) + " | " + in_percent(number(group, "median_ape")) + " | " +
           in_percent(number(group, "p90_ape")) + " | " + in_percent(number(group, "bias"), true) + " | " +
           in_percent(number(group, "coverage")) + " | " +
           (with_memory > 0 ? in_percent(number(group, "memory_mape")) + " of " + std::to_string(with_memory) : "-") +
           " |";
}

std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(ValidationNumbers, of_the_documents_are_those_of_the_report) {
    const JsonDocument report = JsonDocument::load("reports/validation/validation.json");
    const JsonValue summary = report.root().at("summary");
    int rows = 0;
    for (const std::string& line : lines_of("docs/validation.md")) {
        const std::size_t end = line.find(" | ", 2);
        const std::string name = line.starts_with("| ") && end != std::string::npos ? line.substr(2, end - 2) : "";
        const auto group = name.empty() ? std::nullopt : summary.find(name);
        if (group) {
            EXPECT_EQ(line, row_of(name, *group));
            ++rows;
        }
    }
    EXPECT_GE(rows, 20);
    const std::string verified = in_percent(number(summary.at("verified"), "mape"));
    const std::string runs =
        std::to_string(static_cast<int>(number(summary.at("all"), "n"))) + " published training runs";
    bool is_quoted = false;
    for (const std::string& line : lines_of("README.md")) {
        is_quoted = is_quoted || (line.find(runs) != std::string::npos && line.ends_with("| " + verified + " |"));
    }
    EXPECT_TRUE(is_quoted) << "README.md: expected " << runs << " with " << verified;
}

}  // namespace
}  // namespace auspex
