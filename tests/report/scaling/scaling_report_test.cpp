/// @file The files of a report: CSV against the points, Markdown tables, the folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/story.hpp"
#include "report/scaling/waterfall.hpp"
#include "report_fixture.hpp"

namespace auspex::report {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

TEST(ScalingReport, a_change_of_picoseconds_is_none) {
    EXPECT_EQ(change_text(-1e-12), "0");
    EXPECT_EQ(change_text(9.9e-10), "0");
    EXPECT_EQ(change_text(2e-3), "+0.00200");
}

std::vector<std::map<std::string, std::string>> parse_csv(const std::string& csv) {
    const std::vector<std::string> lines = split(csv, '\n');
    const std::vector<std::string> head = split(lines.front(), ',');
    std::vector<std::map<std::string, std::string>> rows;
    for (std::size_t line = 1; line < lines.size(); ++line) {
        const std::vector<std::string> cells = split(lines[line], ',');
        EXPECT_EQ(cells.size(), head.size()) << lines[line];
        std::map<std::string, std::string> row;
        for (std::size_t column = 0; column < std::min(cells.size(), head.size()); ++column) {
            row[head[column]] = cells[column];
        }
        EXPECT_EQ(row.size(), head.size()) << "a column name stands twice";
        rows.push_back(row);
    }
    return rows;
}

/// "1.250000000000" -> 1250000000000: the twelve decimals are picoseconds.
Picoseconds picoseconds_of(std::string seconds) {
    const std::size_t point = seconds.find('.');
    EXPECT_EQ(seconds.size() - point, 13U) << seconds;
    return std::stoll(seconds.erase(point, 1));
}

std::string read_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CsvReport, has_a_row_a_point_and_as_many_cells_as_the_head) {
    const ScalingReport report = fixture_report();
    const auto rows = parse_csv(render_csv(report));
    ASSERT_EQ(rows.size(), report.points.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const predict::Prediction& p = report.points[i].prediction;
        EXPECT_EQ(rows[i].at("tiles"), std::to_string(p.tiles));
        EXPECT_EQ(rows[i].at("data_parallel"), std::to_string(p.data_parallel));
        EXPECT_EQ(std::stod(rows[i].at("tokens_per_s")), p.tokens_per_s);  // written so that it reads back the same
        EXPECT_EQ(std::stod(rows[i].at("efficiency")), report.points[i].efficiency);
        EXPECT_EQ(std::stod(rows[i].at("memory_peak_bytes")), p.memory.peak_bytes);
        EXPECT_EQ(rows[i].at("memory_fits"), "true");
    }
}

TEST(CsvReport, losses_of_a_row_sum_to_its_step_to_the_picosecond) {
    for (const auto& row : parse_csv(render_csv(fixture_report()))) {
        Picoseconds sum = 0;
        std::size_t losses = 0;
        for (const auto& [name, value] : row) {
            if (name.starts_with("loss_")) {
                sum += picoseconds_of(value);
                ++losses;
            }
        }
        EXPECT_EQ(losses, schedule::kLossCount);
        EXPECT_EQ(sum, picoseconds_of(row.at("step_time_s")));  // sum of losses = step
    }
}

TEST(CsvReport, names_each_loss_as_the_enum_does) {
    const auto row = parse_csv(render_csv(fixture_report())).front();
    for (const char* name :
         {"useful_compute", "recompute", "bubble", "exposed_tp", "exposed_ep", "exposed_dp", "exposed_pp", "exposed_cp",
          "exposed_host", "optimizer", "imbalance", "jitter", "waiting", "host_bound"}) {
        EXPECT_EQ(row.count(std::string("loss_") + name + "_s"), 1U) << name;
    }
    EXPECT_EQ(picoseconds_of(row.at("loss_bubble_s")), fixture_report().points[0].prediction.losses[2]);
}

/// Bars that separate cells: those that are not escaped.
std::size_t bars(const std::string& line) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        found += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1U : 0U;
    }
    return found;
}

TEST(MarkdownReport, every_table_row_has_as_many_cells_as_its_head) {
    ScalingReport report = fixture_report();
    report.inputs[0].file = "odd|name\nwith <b>markup</b>.json";
    report.title = "A *title* with `marks`";
    const std::string markdown = render_markdown(report);
    std::size_t wanted = 0, rows = 0;
    for (const std::string& line : split(markdown, '\n')) {
        if (line.empty() || line[0] != '|') {
            wanted = 0;
            continue;
        }
        wanted = wanted == 0 ? bars(line) : wanted;
        EXPECT_EQ(bars(line), wanted) << line;
        ++rows;
    }
    EXPECT_GT(rows, 6U * 3U);
    EXPECT_EQ(markdown.find("<b>"), std::string::npos);
    EXPECT_NE(markdown.find("odd\\|name with \\<b\\>markup"), std::string::npos);
    EXPECT_TRUE(markdown.starts_with("# A \\*title\\* with \\`marks\\`\n"));
    EXPECT_NE(markdown.find("\n    auspex scale --machine"), std::string::npos);
}

TEST(MarkdownReport, of_one_point_has_no_picture_and_no_change_columns) {
    ScalingReport report = fixture_report();
    EXPECT_NE(render_markdown(report).find("](efficiency.svg)"), std::string::npos);
    EXPECT_NE(render_markdown(report).find("change, s"), std::string::npos);
    report.points.resize(1);
    EXPECT_EQ(render_markdown(report).find("efficiency.svg"), std::string::npos);
    EXPECT_EQ(render_markdown(report).find("change, s"), std::string::npos);
}

TEST(ScalingReport, speaks_of_a_run_only_when_asked_for_one) {
    ScalingReport report = fixture_report();
    for (const std::string& page : {render_markdown(report), render_html(report), render_csv(report)}) {
        EXPECT_EQ(page.find("run_tokens"), std::string::npos);
        EXPECT_EQ(page.find("What the whole run costs"), std::string::npos);
    }
    for (ScalePoint& point : report.points) {
        point.prediction.run_tokens = 1e12;
        point.prediction.run_time_s = 7.2e6;
        point.prediction.node_hours = 64000;
    }
    EXPECT_NE(render_markdown(report).find("| 384 | 1.00 T | 2,000 | 64,000 |"), std::string::npos);
    EXPECT_NE(render_html(report).find("What the whole run costs"), std::string::npos);
    EXPECT_EQ(parse_csv(render_csv(report)).front().at("run_tokens"), "1e+12");
}

class ReportFolder : public ::testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "auspex_report_XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(ReportFolder, holds_three_files_with_the_same_bytes_each_time) {
    const ScalingReport report = fixture_report();
    write_scaling_report(report, (folder_ / "new" / "nested").string());
    write_scaling_report(report, (folder_ / "again").string());
    for (const char* file : {"index.html", "report.md", "points.csv"}) {
        const std::string content = read_file(folder_ / "again" / file);
        EXPECT_GT(content.size(), 1000U) << file;
        EXPECT_EQ(read_file(folder_ / "new" / "nested" / file), content) << file;
    }
    EXPECT_EQ(read_file(folder_ / "again" / "points.csv"), render_csv(report));
}

TEST_F(ReportFolder, that_is_a_file_is_refused_by_name) {
    const std::string file = (folder_ / "taken").string();
    std::ofstream(file) << "x";
    try {
        write_scaling_report(fixture_report(), file);
        FAIL() << "a file is no folder";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(file), std::string::npos);
    }
    EXPECT_EQ(read_file(file), "x");
}

TEST(Losses, have_twelve_different_names_and_meanings) {
    std::map<std::string, int> names, meanings;
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        ++names[to_string(static_cast<schedule::Loss>(loss))];
        ++meanings[meaning_of(static_cast<schedule::Loss>(loss))];
    }
    EXPECT_EQ(names.size(), schedule::kLossCount);
    EXPECT_EQ(meanings.size(), schedule::kLossCount);
    EXPECT_STREQ(to_string(schedule::Loss::kExposedDp), "exposed_dp");
    EXPECT_STREQ(to_string(schedule::Loss::kWaiting), "waiting");
}

// Shares of a column sum to 1, whichever causes a size has; a cause that only some have stands where theirs has it.
TEST(Waterfalls, are_side_by_side_with_every_cause_of_any_size) {
    std::vector<ScalePoint> points{fixture_point(0), fixture_point(1)};
    points[0].prediction.step_time_s = 2;
    points[0].prediction.waterfall = {{"peak", 0.5, 1}, {"shapes", 0.5, 0.5}, {"waiting", 1, 0.25}};
    points[1].prediction.step_time_s = 4;
    points[1].prediction.waterfall = {
        {"peak", 0.5, 1}, {"shapes", 0.5, 0.5}, {"bubble", 2, 0.2}, {"waiting", 1, 0.125}};
    const std::vector<WaterfallBySize> rows = waterfall_by_size(points);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[2].cause, "bubble");
    EXPECT_EQ(rows[2].share, (std::vector{0.0, 0.5}));
    EXPECT_EQ(rows[0].share, (std::vector{0.25, 0.125})) << "MFU";
    for (const std::size_t point : {0U, 1U}) {
        double sum = 0;
        for (const WaterfallBySize& row : rows) {
            sum += row.share[point];
        }
        EXPECT_DOUBLE_EQ(sum, 1);
    }
    ScalingReport report = fixture_report();
    report.points = points;
    EXPECT_NE(render_html(report).find("From the peak to MFU at every size"), std::string::npos);
    EXPECT_NE(render_html(report).find("data-v=\"-12.5\""), std::string::npos) << "what MFU loses";
}

}  // namespace
}  // namespace auspex::report
