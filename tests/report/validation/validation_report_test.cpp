/// @file The folder of auspex validate: page, Markdown, table, inputs of cases.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../parts/markup_fixture.hpp"
#include "base/csv.hpp"
#include "report/validation/case_inputs.hpp"
#include "report/validation/validation_charts.hpp"
#include "report/validation/validation_report.hpp"

namespace auspex::report {
namespace {

using evaluate::ValidatedRun;

/// Measured 2 s, predicted `predicted_s`, all of it useful compute.
ValidatedRun run_of(const std::string& id, double predicted_s) {
    ValidatedRun one;
    one.run.id = id, one.run.source_key = "Source", one.run.gpus = 8;
    one.machine = "dgx", one.stack = "megatron";
    one.measured = {2, "step"};
    one.predicted_s = predicted_s, one.low_s = 0.9 * predicted_s, one.high_s = 1.1 * predicted_s;
    one.losses[0] = to_picoseconds(predicted_s);
    one.workload = "{\"w\": 1}\n", one.plan = "{\"p\": 1}\n";
    one.traits.tiles = 8;
    return one;
}

ValidationReport report_of() {
    ValidationReport report;
    for (int i = 0; i < 12; ++i) {
        report.runs.push_back(run_of("case<" + std::to_string(i) + ">", 2.1 + 0.1 * i));
    }
    report.runs.back().why = "it is \"known\"";
    report.runs.back().settings = {"machine.tile.count=4 x"};
    report.runs.back().notes = {"GELU is assumed"};
    report.runs[0].is_fitted = true;
    ValidatedRun unmapped;
    unmapped.run.id = "elsewhere", unmapped.why_unmapped = "elsewhere: no such GPU";
    report.runs.push_back(unmapped);
    report.names.fitted = {{{"case<0>"}, "", "", "", "stack.kernels.gemm_efficiency"}};
    report.command = "auspex validate --cases x --out y";
    report.folder = testing::TempDir() + "auspex-validation";
    return report;
}

TEST(ValidationReport, page_is_well_formed_and_says_what_is_known) {
    const std::string page = render_validation_html(report_of());
    EXPECT_EQ(first_unbalanced_tag(page), "");
    EXPECT_FALSE(contains(page, "case<11>"));  // escaped
    for (const char* const text :
         {"11 published runs that gave no constant", "it is &quot;known&quot;", "not found yet", "GELU is assumed",
          "no such GPU", "stack.kernels.gemm_efficiency", "useful compute", "auspex validate --cases x --out y",
          "case&lt;11&gt; (dgx, megatron): measured 2.00 s, predicted 3.20 s, +60.0 %"}) {
        EXPECT_TRUE(contains(page, text)) << text;
    }
    EXPECT_EQ(count(page, "not found yet"), 9U);  // ten worst, one of them with a reason
}

TEST(ValidationReport, markdown_has_the_same_tables) {
    const std::string text = render_validation_markdown(report_of());
    for (const char* const part : {"| all | 12 |", "| verified | 11 |", "| fitted | 1 |", "| elsewhere | no such GPU |",
                                   "![Predicted against measured steps](scatter.svg)"}) {
        EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
    }
}

TEST(ValidationReport, table_has_a_line_a_case) {
    const std::string csv = render_validation_csv(report_of());
    const std::vector<CsvLine> lines = csv_lines(csv, "csv");
    ASSERT_EQ(lines.size(), 14U);
    const std::vector<std::string> head = csv_fields(lines[0].text, "head");
    for (const CsvLine& line : lines) {
        EXPECT_EQ(csv_fields(line.text, line.place).size(), head.size());
    }
    EXPECT_TRUE(contains(std::string(lines[12].text), "it is \"\"known\"\""));
    EXPECT_TRUE(contains(std::string(lines[13].text), "no such GPU"));
}

TEST(ValidationReport, without_a_prediction_there_is_a_page_all_the_same) {
    ValidationReport report = report_of();
    report.runs.erase(report.runs.begin(), report.runs.end() - 1);
    const std::string page = render_validation_html(report);
    EXPECT_EQ(first_unbalanced_tag(page), "");
    EXPECT_TRUE(contains(page, "None of 1 published run could be predicted"));
}

TEST(CaseInputs, folders_are_safe_and_each_cases_own) {
    const std::vector<ValidatedRun> runs{run_of("a/b", 1), run_of("a b", 1), run_of("../x", 1),
                                         run_of("A_B", 1), run_of("", 1),    run_of("a_b-2", 1)};
    EXPECT_EQ(case_folders(runs), (std::vector<std::string>{"a_b", "a_b-2", "_._x", "A_B-3", "case", "a_b-2-2"}));
}

TEST(CaseInputs, the_command_names_files_and_settings) {
    ValidationReport report = report_of();
    report.folder = "out";
    report.machines = "mine";
    const std::vector<std::string> folders = case_folders(report.runs);
    EXPECT_EQ(case_command(report, 11, folders),
              "auspex predict --machine mine/dgx.json --stack megatron --workload out/inputs/case_11_/workload.json "
              "--plan out/inputs/case_11_/plan.json --tiles 8 --set 'machine.tile.count=4 x'");
    EXPECT_EQ(case_command(report, 12, folders), "");
    report.folder.clear();
    EXPECT_EQ(case_command(report, 11, folders), "");
}

TEST(CaseInputs, every_predicted_case_has_its_files) {
    const ValidationReport report = report_of();
    std::filesystem::remove_all(report.folder);
    write_validation_report(report);
    const std::filesystem::path folder(report.folder);
    for (const char* const file : {"index.html", "report.md", "scatter.svg", "validation.csv"}) {
        EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
    }
    EXPECT_TRUE(std::filesystem::exists(folder / "inputs/case_0_/plan.json"));
    EXPECT_FALSE(std::filesystem::exists(folder / "inputs/elsewhere"));
    std::ifstream in(folder / "inputs/case_3_/workload.json");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "{\"w\": 1}\n");
}

}  // namespace
}  // namespace auspex::report
