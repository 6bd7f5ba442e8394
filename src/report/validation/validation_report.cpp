/// @file Markdown, and writing the files.
#include "report/validation/validation_report.hpp"

#include "report/parts/markdown_parts.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/validation/case_inputs.hpp"
#include "report/validation/validation_charts.hpp"
#include "report/validation/validation_rows.hpp"

namespace auspex::report {
namespace {

std::string part(const char* title, const TextRows& rows, std::size_t left, const char* note) {
    return rows.size() < 2 ? ""
                           : "## " + std::string(title) + "\n\n" + markdown_table(rows, left) + note +
                                 (*note == '\0' ? "" : "\n\n");
}

}  // namespace

std::string render_validation_markdown(const ValidationReport& report) {
    const auto& runs = report.runs;
    std::string out =
        "# Published training runs, predicted\n\n" + markdown_escape(validation_headline(report)) + ".\n\n";
    out += by_machine(runs).empty() ? "" : "![Predicted against measured steps](scatter.svg)\n\n";
    out += part("Errors", group_rows(runs), 1, kGroupsNote);
    out += part("Errors by what the predicted step is made of", mechanism_rows(runs), 1, kMechanismsNote);
    out += part("Errors by what runs are like", trait_rows(runs), 1, kTraitsNote);
    out += part("The largest errors", worst_rows(runs), worst_rows(runs).front().size(),
                "Reasons are found by people and stand in machines/published/runs.json.");
    out += part("Cases that were not predicted", unmapped_rows(runs), 2, "");
    out += part("Fitted constants", fitted_rows(report), 2, "All other cases gave none.");
    out += part("What fitted constants are worth", ablation_rows(report), 3, kAblationNote);
    out += "## Where this comes from\n\nThis command makes the report again:\n\n" + markdown_code(report.command);
    out +=
        "Every case is in validation.csv and validation.json; inputs/CASE has the workload and plan from which it "
        "was predicted, and the command that does it again.\n\n";
    return out + markdown_inputs(report.files);
}

void write_validation_report(const ValidationReport& report) {
    const std::string html = render_validation_html(report), markdown = render_validation_markdown(report);
    const std::filesystem::path folder =
        make_report_folder(report.folder, "index.html, report.md, validation.csv, validation.json and inputs/");
    write_report_file(folder / "index.html", html);
    write_report_file(folder / "report.md", markdown);
    write_report_file(folder / "validation.csv", render_validation_csv(report));
    if (const std::vector<ScatterGroup> machines = by_machine(report.runs); !machines.empty()) {
        write_report_file(
            folder / "scatter.svg",
            standalone_svg(scatter_chart("Predicted against measured steps", machines, false, kPagePicture),
                           validation_headline(report), source_line(report.command, {})));
    }
    write_case_inputs(report, folder / "inputs");
}

}  // namespace auspex::report
