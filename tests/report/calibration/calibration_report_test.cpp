/// @file What the tables and the figures of a calibration say.
#include "report/calibration/calibration_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "report/calibration/residual_chart.hpp"

namespace auspex::report {
namespace {

fit::FitQuality made(const std::string& kind, const std::string& name, const std::vector<double>& seconds) {
    fit::FitQuality fit;
    fit.kind = kind;
    fit.name = name;
    fit.verdict = "good";
    for (const double one : seconds) {
        models::Measurement& point = fit.points.emplace_back();
        point.seconds = one;
        fit.predicted.push_back(one);
    }
    return fit;
}

std::size_t count(const std::string& text, const std::string& words) {
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
        ++found;
    }
    return found;
}

std::string page_of(const CalibrationReport& report) {
    const std::string folder =
        std::filesystem::temp_directory_path().string() + "/auspex-page-" + std::to_string(getpid());
    write_calibration_report(report, folder);
    std::ifstream stream(folder + "/index.html");
    std::string page{std::istreambuf_iterator<char>(stream), {}};
    stream.close();
    std::filesystem::remove_all(folder);
    return page;
}

TEST(CalibrationReport, figures_have_whole_names) {
    CalibrationReport report;
    report.calibration.fits = {made("kernel", "gemm_forward", {1e-6, 1e-3}),
                               made("kernel", "gemm_input_gradient", {1e-6, 1e-3}),
                               made("kernel", "all_from_memory", {1e-6, 1e-3}),
                               made("kernel", "all_from_memory", {1e-6, 1e-3}), made("message", "near", {1e-6, 1e-3})};
    const std::string page = page_of(report);
    for (const char* title : {"kernels gemm_…", "kernel all_from_memory", "message"}) {
        EXPECT_NE(page.find(std::string("<b>") + title + "</b>"), std::string::npos) << title;
    }
}

// A quarter of a decade without a power of ten in it, and six decades.
TEST(CalibrationReport, an_axis_has_two_ticks_at_least) {
    for (const std::vector<double>& seconds : {std::vector<double>{2.1e-6, 2.5e-6}, std::vector<double>{1e-6, 1}}) {
        const fit::FitQuality fit = made("kernel", "copy", seconds);
        const fit::FitQuality* const fits[] = {&fit};
        const std::string svg = residual_chart("kernel copy", fits);
        const std::size_t ticks = count(svg, " us</text>") + count(svg, " ms</text>") + count(svg, " s</text>");
        EXPECT_GE(ticks, 3U) << svg;
        EXPECT_LE(ticks, 9U) << svg;
        // No room for them beside that of 1.
        EXPECT_EQ(count(svg, ">1.00</text>"), 1U);
        EXPECT_EQ(count(svg, ">1.05</text>") + count(svg, ">0.95</text>"), 0U);
    }
}

TEST(CalibrationReport, a_single_row_is_not_called_good) {
    CalibrationReport report;
    report.calibration.fits = {made("link", "nic", {1e-3}), made("link", "mesh", {1e-3, 1e-2, 1e-1})};
    EXPECT_EQ(verdict_of(report), "2 fits, all good.");
    report.calibration.fits[0].verdict = fit::kOneRow;
    EXPECT_EQ(verdict_of(report), "2 fits, none of them poor. Of one row, and not checked: 1.");
    report.calibration.fits[1].is_poor = true;
    EXPECT_EQ(verdict_of(report), "2 fits, 1 of them poor: their verdicts say where. Of one row, and not checked: 1.");
    EXPECT_EQ(count(fits_text(report.calibration), "0.0 %"), 2U) << "typical and worst of the other one";
    fit::ConstantChange change;
    change.interval.low = change.interval.high = change.now.value = 20e9;
    change.verdict = fit::kOneRow;
    report.calibration.changes = {change};
    report.constants_of_machine = 1;
    EXPECT_EQ(count(changes_text(report), " - "), 2U) << changes_text(report);
}

TEST(CalibrationReport, collectives_of_a_table_are_checks_and_no_fits) {
    CalibrationReport report;
    report.is_from = true;
    report.constants_of_machine = 7;
    report.calibration.fits = {made("collective", "all-reduce", {1e-3, 1e-3, 1e-2})};
    report.calibration.fits[0].predicted = {0.9e-3, 1.2e-3, 1.3e-2};  // 10, 20 and 30 % off
    report.calibration.fits[0].is_poor = true;
    const std::string checked = "3 rows of collectives checked, not fitted: typically 20.0 % off, at most 30.0 %";
    EXPECT_EQ(verdict_of(report), "No constant was fitted; " + checked + ".");
    EXPECT_EQ(calibration_headline(report), ": no constant fitted, " + checked);
    EXPECT_EQ(changes_text(report), "No row determines a constant of the machine: all 7 constants stayed.\n");
    report.calibration.fits.push_back(made("link", "mesh", {1e-3, 1e-2, 1e-1}));
    EXPECT_EQ(verdict_of(report), "1 fit, all good. Besides, " + checked + ".");
}

}  // namespace
}  // namespace auspex::report
