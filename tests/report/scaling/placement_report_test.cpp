/// @file The report of placements: what differs comes first, and every file is there.
#include "report/scaling/placement_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "report_fixture.hpp"

namespace auspex::report {
namespace {

PlacementReport two_placements() {
    PlacementReport report;
    report.title = "a model on a machine, 384 tiles, 2 placements";
    report.command = "auspex place --placements contiguous,random";
    report.steps.push_back({"contiguous", fixture_point(0).prediction});
    report.steps.push_back({"random", fixture_point(0).prediction});
    const double step_s = report.steps[0].prediction.step_time_s, little_s = 0.0005 * step_s;
    report.steps[0].prediction.operations_by_time = {{"rings", 1.0, 1}, {"messages", 0.25, 8}, {"gathers", 0.5, 8}};
    report.steps[1].prediction.operations_by_time = {
        {"rings", 0.75, 1}, {"messages", 1.0, 8}, {"gathers", 0.5 + little_s, 8}};
    report.steps[0].prediction.link_use = {{"global", "group 0 to group 1", 0.5, 0.25, 1e12, true},
                                           {"NIC", "node 0: NIC", 0.125, 0.125, 1e12, false}};
    report.steps[1].prediction.link_use = {{"NIC", "node 1: NIC", 0.25, 0.125, 1e12, false}};
    return report;
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
}

// Differences: messages 0.75 s, rings 0.25 s, gathers half a thousandth of the step: left out.
TEST(PlacementReport, operations_come_by_how_much_they_differ) {
    const std::vector<OperationDifference> differences = largest_differences(two_placements(), 5);
    ASSERT_EQ(differences.size(), 2U);
    EXPECT_EQ(differences[0].name, "messages");
    EXPECT_EQ(differences[0].seconds, (std::vector<double>{0.25, 1.0}));
    EXPECT_EQ(differences[1].name, "rings");
    EXPECT_EQ(largest_differences(two_placements(), 1).size(), 1U);
}

TEST(PlacementReport, links_that_only_one_placement_uses_are_compared_with_nothing) {
    const std::vector<LinkUseComparison> links = compare_link_use(two_placements());
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].kind, "global");
    EXPECT_EQ(links[0].uses[0].busiest_share, 0.5);
    EXPECT_TRUE(links[0].uses[1].kind.empty());
    EXPECT_EQ(links[1].uses[1].busiest_share, 0.25);
}

TEST(PlacementReport, its_files_name_placements_command_and_busiest_link) {
    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / ("auspex-placements-" + std::to_string(getpid()));
    write_placement_report(two_placements(), folder.string());
    const std::string markdown = text_of(folder / "report.md"), csv = text_of(folder / "placements.csv");
    for (const char* part : {"contiguous", "random", "auspex place", "group 0 to group 1"}) {
        EXPECT_NE(markdown.find(part), std::string::npos) << part;
    }
    std::istringstream lines(csv);
    std::size_t columns = 0, rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) {
        const auto commas = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
        columns = rows == 0 ? commas : columns;
        EXPECT_EQ(commas, columns);
    }
    EXPECT_EQ(rows, 3U);
    EXPECT_NE(text_of(folder / "losses.svg").find("<svg xmlns"), std::string::npos);
    std::filesystem::remove_all(folder);
    EXPECT_THROW(write_placement_report(two_placements(), "/proc/nope"), InputError);
}

}  // namespace
}  // namespace auspex::report
