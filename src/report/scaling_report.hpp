#pragma once
/// @file The scaling report: one self-contained HTML page, a Markdown page and a CSV table.
#include <string>
#include <vector>

#include "sim/prediction.hpp"

namespace auspex {

struct InputFile {
    std::string role;  ///< "machine", "stack", "workload", "plan"
    std::string file;
    std::string sha256;  ///< of the file's bytes
};

struct ScalePoint {
    Prediction prediction;
    double efficiency =
        1;  ///< per-tile throughput over that of the first point (weak); speed-up over ideal speed-up (strong)
    double efficiency_without_routing_bias = 1;  ///< the same with the machine's minimal_bias 0
    double efficiency_without_background = 1;    ///< the same with background_load 0
    double efficiency_without_both = 1;
    double efficiency_without_stragglers = 1;  ///< tiles of equal speed
};

struct ScalingReport {
    std::string title;    ///< "Mula-220B-A10B on Aurora, 384 to 12,288 tiles"
    std::string mode;     ///< "weak" or "strong"
    std::string command;  ///< the command line that makes this report again
    std::string machine, workload, stack, plan;
    std::vector<std::string> layout_lines;  ///< the layout in words
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;  ///< "plan.pp = 4": what the command line changed in the files
    std::vector<Constant> constants;     ///< all of machine and stack
    std::vector<ScalePoint> points;
};

/// Writes DIR/index.html, DIR/report.md, DIR/points.csv and, with two points or more, DIR/efficiency.svg (creating
/// DIR). Throws InputError when the folder cannot be written.
void write_scaling_report(const ScalingReport& report, const std::string& directory);
[[nodiscard]] std::string render_html(const ScalingReport& report);
[[nodiscard]] std::string render_markdown(const ScalingReport& report);
[[nodiscard]] std::string render_csv(const ScalingReport& report);

}  // namespace auspex
