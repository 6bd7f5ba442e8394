/// @file The page, section by section.
#include "report/memory/memory_page.hpp"

#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"

namespace auspex::report {
namespace {

using Rows = std::vector<std::vector<Cell>>;
constexpr std::size_t kMostCharts = 8;  // of stages beside the fullest

std::string gigabytes(double bytes) { return significant(bytes / 1e9); }

std::string course_section(const predict::MemoryCourse& course) {
    const int fullest = course.memory.heaviest_stage;
    std::string out = html_heading("course", "Over the step, stage " + std::to_string(fullest));
    out += html_figure(memory_course_chart(course, fullest),
                       "How to read it: the height of an area is what one tile of this stage holds of that label. At "
                       "every point of time the picture shows the most of the pass that runs then. Red: what a tile "
                       "has; the axis ends below it where that is more than twice the peak.");
    std::string others;
    for (std::size_t stage = 0; stage < std::min(course.stages.size(), kMostCharts); ++stage) {
        if (static_cast<int>(stage) != fullest) {
            others +=
                html_figure(memory_course_chart(course, static_cast<int>(stage)), "stage " + std::to_string(stage));
        }
    }
    return others.empty() ? out : out + "<details><summary>Other stages</summary>\n" + others + "</details>\n";
}

std::string stages_section(const predict::MemoryCourse& course) {
    std::string out = html_heading("stages", "Stage by stage, at the peak of each");
    out += html_figure(memory_chart(course.memory),
                       "How to read it: a bar is what one tile of that stage holds when it holds most (GB above the "
                       "bar). Red dashes: what a tile has.");
    Rows rows{{{"label"}}};
    for (const schedule::StageMemory& stage : course.memory.by_stage) {
        rows.front().push_back(number("stage " + std::to_string(stage.stage), "GB"));
    }
    const auto add_row = [&](Cell name, auto bytes_of) {
        std::vector<Cell> row{std::move(name)};
        for (std::size_t stage = 0; stage < course.stages.size(); ++stage) {
            row.push_back(number(gigabytes(bytes_of(stage))));
        }
        rows.push_back(std::move(row));
    };
    const auto& labels = course.memory.by_label;
    for (std::size_t label = 0; label < labels.size(); ++label) {
        add_row({labels[label].first, "part", {}, static_cast<int>(label)},
                [&](std::size_t stage) { return course.memory.by_stage[stage].by_label[label].second; });
        if (labels[label].first != to_string(schedule::MemoryLabel::kActivations)) {
            continue;
        }
        for (std::size_t kind = 0; kind < course.stages.front().kept.size(); ++kind) {
            add_row({"· of " + course.stages.front().kept[kind].first},
                    [&](std::size_t stage) { return course.stages[stage].kept[kind].second; });
        }
    }
    add_row({"all", "whole"}, [&](std::size_t stage) { return course.memory.by_stage[stage].peak_bytes; });
    out += html_table(rows,
                      "Activations of norm, attention and expert are what recomputing these modules would make again; "
                      "those of inputs and head stay.");
    Rows peaks{{{"stage"}, number("GB"), {"when"}}};
    for (const schedule::StageMemory& stage : course.memory.by_stage) {
        peaks.push_back({{std::to_string(stage.stage)}, number(gigabytes(stage.peak_bytes)), {stage.peak_operation}});
    }
    return out + html_table(peaks, "When each stage holds most.");
}

}  // namespace

std::string render_memory_html(const MemoryPage& page) {
    return html_document(page.title, {},
                         html_paragraph(page.course.memory.verdict, "summary") + course_section(page.course) +
                             stages_section(page.course) + html_provenance(page.command, page.inputs, page.overrides));
}

void write_memory_page(const MemoryPage& page, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and memory.svg");
    write_report_file(folder / "index.html", render_memory_html(page));
    write_report_file(folder / "memory.svg",
                      standalone_svg(memory_course_chart(page.course, page.course.memory.heaviest_stage)));
}

}  // namespace auspex::report
