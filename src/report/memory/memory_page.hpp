#pragma once
/// @file What fills a tile's memory over a step: a page and a picture.
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"
#include "sim/predict/memory_report.hpp"

namespace auspex::report {

struct MemoryPage {
    std::string title, command;
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    predict::MemoryCourse course;
};

/// Live bytes of one stage over the step, by label, one area upon the other, as inline SVG.
[[nodiscard]] std::string memory_course_chart(const predict::MemoryCourse& course, int stage);

/// The whole page; it loads nothing.
[[nodiscard]] std::string render_memory_html(const MemoryPage& page);
/// Writes DIR/index.html and DIR/memory.svg, which is of the fullest stage (creating DIR). Throws InputError when it
/// cannot.
void write_memory_page(const MemoryPage& page, const std::string& directory);

}  // namespace auspex::report
