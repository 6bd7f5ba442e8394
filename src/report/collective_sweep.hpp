#pragma once
/// @file A collective over many message sizes: table, Markdown, CSV and curves.
#include <string>
#include <vector>

#include "report/scaling_report.hpp"
#include "sim/collective_run.hpp"

namespace auspex {

struct CollectiveSweep {
    std::string kind;  ///< "all-reduce"
    int ranks = 1, groups = 1, group_size = 1, nodes = 1;
    std::string machine, stack, transport, transport_date;
    std::string command;  ///< the command line that makes this report again
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides;
    std::vector<CollectiveResult> points;  ///< by rising bytes, at least one
};

/// "all-reduce over 96 ranks on 8 nodes of aurora": what the tables are of.
[[nodiscard]] std::string title_of(const CollectiveSweep& sweep);
/// "1 KiB" for whole powers of 1024, else as format_quantity.
[[nodiscard]] std::string size_text(double bytes);
/// "ring, 2 levels".
[[nodiscard]] std::string choice_text(AlgorithmChoice choice);

/// A line a size: time, bandwidths, algorithm, what bounds it.
[[nodiscard]] std::string render_sweep_text(const CollectiveSweep& sweep);
[[nodiscard]] std::string render_sweep_markdown(const CollectiveSweep& sweep);
/// A row for every size and algorithm, in SI units; `chosen` marks what the other files show.
[[nodiscard]] std::string render_sweep_csv(const CollectiveSweep& sweep);
/// Time and bus bandwidth against size, all logarithmic: what is chosen, and every algorithm over its best number of
/// levels.
[[nodiscard]] std::string sweep_chart(const CollectiveSweep& sweep);

/// Writes DIR/sweep.csv, DIR/sweep.md and DIR/sweep.svg (creating DIR). Throws InputError when it cannot.
void write_collective_sweep(const CollectiveSweep& sweep, const std::string& directory);

}  // namespace auspex
