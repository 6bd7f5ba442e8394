/// @file Writing the report's files.
#include "report/scaling/scaling_report.hpp"

#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/scaling/charts.hpp"
#include "report/scaling/headlines.hpp"

namespace auspex::report {

void write_scaling_report(const ScalingReport& report, const std::string& directory) {
    const std::string html = render_html(report);
    const std::string markdown = render_markdown(report);
    const std::string csv = render_csv(report);
    const std::filesystem::path folder = make_report_folder(directory, "index.html, report.md and points.csv");
    write_report_file(folder / "index.html", html);
    write_report_file(folder / "report.md", markdown);
    write_report_file(folder / "points.csv", csv);
    if (report.points.size() > 1) {
        write_report_file(folder / "efficiency.svg", standalone_svg(efficiency_chart(report), scaling_headline(report),
                                                                    source_line(report.command, report.inputs)));
    }
}

}  // namespace auspex::report
