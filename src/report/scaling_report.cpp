/// @file Writing the report's files.
#include "report/scaling_report.hpp"

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "report/charts.hpp"
#include "report/page_style.hpp"

namespace auspex {

namespace {

void write_file(const std::filesystem::path& file, const std::string& content) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    if (!out) {
        throw InputError(file.string(), "cannot be written; a folder with write permission and free space is needed");
    }
}

/// The efficiency chart as a picture of its own, for pages that embed it.
std::string standalone_efficiency_chart(const ScalingReport& report) {
    std::string svg = efficiency_chart(report);
    const std::string tag = "<svg ";
    const std::size_t start = svg.find(tag);
    svg.insert(start + tag.size(), "xmlns=\"http://www.w3.org/2000/svg\" ");
    svg.insert(svg.find('>', start) + 1,
               std::string("\n<style>") + page_style() +
                   "svg{font:15px system-ui,\"Liberation Sans\",sans-serif;background:var(--page)}</style>");
    return svg + "\n";
}

}  // namespace

void write_scaling_report(const ScalingReport& report, const std::string& directory) {
    const std::string html = render_html(report);
    const std::string markdown = render_markdown(report);
    const std::string csv = render_csv(report);
    const std::filesystem::path folder(directory);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder, error)) {
        throw InputError(
            directory,
            "not a folder and cannot be made one; a folder for index.html, report.md and points.csv is needed");
    }
    write_file(folder / "index.html", html);
    write_file(folder / "report.md", markdown);
    write_file(folder / "points.csv", csv);
    if (report.points.size() > 1) {
        write_file(folder / "efficiency.svg", standalone_efficiency_chart(report));
    }
}

}  // namespace auspex
