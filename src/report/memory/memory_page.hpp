#pragma once
/// @file What fills a tile's memory over a step: a page and a picture.
#include <string>
#include <vector>

#include "report/parts/input_file.hpp"
#include "report/parts/picture.hpp"
#include "sim/predict/memory_report.hpp"

namespace auspex::report {

struct MemoryPage {
    std::string title, command;
    std::string workload, machine;  ///< their names
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    predict::MemoryCourse course;
};

/// Live bytes of one stage over the step, by label, one area upon the other, as inline SVG.
[[nodiscard]] std::string memory_course_chart(const predict::MemoryCourse& course, int stage,
                                              double width = kPagePicture);

/// "mula-220b-a10b on 3,072 tiles of aurora fits: the fullest tile holds 16.6 of its 64.0 GB (26 %); 51 % of that is
/// activations".
[[nodiscard]] std::string memory_headline(const MemoryPage& page);
/// The whole page; it loads nothing.
[[nodiscard]] std::string render_memory_html(const MemoryPage& page);
/// Writes DIR/index.html and DIR/memory.svg, which is of the fullest stage (creating DIR). Throws InputError when it
/// cannot.
void write_memory_page(const MemoryPage& page, const std::string& directory);

}  // namespace auspex::report
