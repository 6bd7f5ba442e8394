/// @file The page, section by section.
#include "report/memory/memory_page.hpp"

#include <algorithm>
#include <cmath>

#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"
#include "report/scaling/charts.hpp"

namespace auspex::report {
namespace {

constexpr std::size_t kMostCharts = 8;  // of stages beside the fullest

std::string gigabytes(double bytes) { return significant(bytes / 1e9); }

std::string source_of(const MemoryPage& page) { return source_line(page.command, page.inputs); }

std::string course_figure(const MemoryPage& page, int stage, double wide, const std::string& how_to_read) {
    return html_figure(picture_of([&](double width) { return memory_course_chart(page.course, stage, width); }, wide),
                       {"Memory of stage " + std::to_string(stage) + " over the step", how_to_read, source_of(page)});
}

/// The labels that hold most of the fullest tile, with their bytes at its peak.
std::vector<std::pair<std::string, double>> largest_labels(const predict::MemoryReport& memory) {
    auto labels = memory.by_label;
    std::ranges::stable_sort(labels, [](const auto& a, const auto& b) { return a.second > b.second; });
    return labels;
}

std::vector<Card> cards_of(const MemoryPage& page) {
    const predict::MemoryReport& memory = page.course.memory;
    std::vector<Card> cards{
        {gigabytes(memory.peak_bytes) + " GB",
         "in the fullest tile, at its peak (stage " + std::to_string(memory.heaviest_stage) + ")", !memory.fits},
        {gigabytes(memory.capacity_bytes) + " GB", "that a tile has"},
        {gigabytes(std::abs(memory.capacity_bytes - memory.peak_bytes)) + " GB", memory.fits ? "left" : "too much",
         !memory.fits}};
    for (const auto& [label, bytes] : largest_labels(memory)) {
        if (cards.size() < 6 && bytes > 0) {
            cards.push_back(
                {gigabytes(bytes) + " GB", label + ", " + percent(bytes / memory.peak_bytes, 0) + " of the peak"});
        }
    }
    return cards;
}

/// What areas do not have; nothing where no allocator is played.
std::string reserve_words(const predict::MemoryReport& memory) {
    return memory.reserved_bytes > 0
               ? " Grey dashes: what the allocator reserves for it, with the runtime's own: it decides whether "
                 "the plan fits. What of that is not allocated at the peak is fragments of the bars and the table "
                 "below."
               : "";
}

std::string other_stages(const MemoryPage& page) {
    std::string others;
    for (std::size_t stage = 0; stage < std::min(page.course.stages.size(), kMostCharts); ++stage) {
        if (static_cast<int>(stage) != page.course.memory.heaviest_stage) {
            others += course_figure(page, static_cast<int>(stage), kPagePicture, "");
        }
    }
    return others.empty() ? "" : html_details("Pictures of the other stages", others);
}

/// Labels down, stages across.
std::string label_table(const predict::MemoryCourse& course) {
    TableRows rows{{{"label"}}};
    for (const schedule::StageMemory& stage : course.memory.by_stage) {
        const Cell head = number("stage " + std::to_string(stage.stage), "GB");
        rows.front().push_back(stage.stage == course.memory.heaviest_stage ? main_column(head) : head);
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
    return html_table(rows, "What a tile of each stage holds when it holds most, by label.", {.is_sorted = true}) +
           html_paragraph(
               "Activations of norm, attention and expert are what recomputing these modules would make again; those "
               "of "
               "inputs and head stay.",
               "note");
}

std::string stages_section(const MemoryPage& page) {
    const predict::MemoryCourse& course = page.course;
    const std::string out = html_figure(
        picture_of([&](double width) { return memory_chart(course.memory, width); }),
        {"Memory of each pipeline stage",
         "A bar is what one tile of that stage holds when it holds most (GB above the bar). runtime is what driver and "
         "libraries hold, fragments what the allocator holds beside the tensors. Red dashes: what a tile has.",
         source_of(page)});
    TableRows peaks{{{"stage"}, main_column(number("GB")), {"when"}}};
    for (const schedule::StageMemory& stage : course.memory.by_stage) {
        peaks.push_back({{std::to_string(stage.stage)}, number(gigabytes(stage.peak_bytes)), {stage.peak_operation}});
    }
    return out + label_table(course) + html_table(peaks, "When each stage holds most.");
}

}  // namespace

std::string memory_headline(const MemoryPage& page) {
    const predict::MemoryReport& memory = page.course.memory;
    const double share = memory.peak_bytes / memory.capacity_bytes;
    std::string out = page.workload + " on " + counted(page.course.tiles, "tile") + " of " + page.machine;
    out += memory.fits ? " fits: the fullest tile holds " + gigabytes(memory.peak_bytes) + " of its " +
                             gigabytes(memory.capacity_bytes) + " GB (" + percent(share, 0) + ")"
                       : " does not fit: the fullest tile would need " + gigabytes(memory.peak_bytes) + " GB, " +
                             gigabytes(memory.peak_bytes - memory.capacity_bytes) + " more than it has";
    const auto [label, bytes] = largest_labels(memory).front();
    return out + "; " + percent(bytes / memory.peak_bytes, 0) + " of that is " + label;
}

std::string render_memory_html(const MemoryPage& page) {
    FirstScreen first;
    first.title = page.title;
    first.kind = page.title;
    first.headline = memory_headline(page);
    first.cards = cards_of(page);
    first.figure = course_figure(page, page.course.memory.heaviest_stage, kColumnPicture,
                                 "The height of an area is what is allocated in one tile of the fullest stage of that "
                                 "label: at every point of time the most of the pass that runs then." +
                                     reserve_words(page.course.memory) +
                                     " Red: what a tile has; the axis ends below it where that is more than twice the "
                                     "peak.");
    return html_page(first, {{"stages", "Stage by stage", stages_section(page)},
                             {"others", "Over the step, other stages", other_stages(page)},
                             {"provenance", "Provenance", html_provenance(page.command, page.inputs, page.overrides)}});
}

void write_memory_page(const MemoryPage& page, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html and memory.svg");
    write_report_file(folder / "index.html", render_memory_html(page));
    write_report_file(folder / "memory.svg",
                      standalone_svg(memory_course_chart(page.course, page.course.memory.heaviest_stage),
                                     memory_headline(page), source_of(page)));
}

}  // namespace auspex::report
