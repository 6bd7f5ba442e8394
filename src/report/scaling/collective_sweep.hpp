#pragma once
/// @file A collective over many message sizes: table, Markdown, CSV and curves.
#include <string>
#include <vector>

#include "report/parts/picture.hpp"
#include "report/scaling/scale_points.hpp"
#include "sim/network/collective/collective_run.hpp"

namespace auspex::report {

/// One collective on one machine, timed at several message sizes.
struct CollectiveSweep {
    std::string kind;  ///< "all-reduce"
    int ranks = 1, groups = 1, group_size = 1, stride = 1, nodes = 1;
    bool alone = false;  ///< the first of `groups` acts, not all
    double zipf = 0;
    std::string placement;  ///< "contiguous", "random (seed 1)"
    std::string machine, stack, transport, transport_date;
    std::string measured_on;  ///< the machine of the stack's constants; "none": no transport was measured
    bool by_rule = false;     ///< the stack's rules chose, not the command line
    std::string command;      ///< the command line that makes this report again
    std::vector<InputFile> inputs;
    std::vector<std::string> overrides, notes;
    std::vector<network::CollectiveResult> points;  ///< by rising bytes, at least one
};

/// A choice is called slow where it takes more than this times the fastest.
inline constexpr double kMuchSlower = 1.5;

/// "all-reduce in 12 groups at once, each over 8 ranks 12 apart": what acts.
[[nodiscard]] std::string job_text(const CollectiveSweep& sweep);
/// "8 nodes of aurora, optimus (transport dlcomm-2026 of 2026-04)": where and by what. The date is that of a
/// measurement on this machine; else the machine on which the transport was measured is named, if any.
[[nodiscard]] std::string system_text(const CollectiveSweep& sweep);
/// Both.
[[nodiscard]] std::string title_of(const CollectiveSweep& sweep);
/// A sentence for every run of sizes for which the stack's rule says the same and is slow (kMuchSlower); none where the
/// command line chose. `stack_file` is where the rules stand.
[[nodiscard]] std::vector<std::string> slow_rule_notes(const CollectiveSweep& sweep, const std::string& stack_file);
/// "1 KiB" for whole powers of 1024, else as format_quantity.
[[nodiscard]] std::string size_text(double bytes);
/// "ring, 2 levels".
[[nodiscard]] std::string choice_text(network::AlgorithmChoice choice);

/// A line a size: time, bandwidths, algorithm, what bounds it, and the fastest algorithm where the choice is slow.
[[nodiscard]] std::string render_sweep_text(const CollectiveSweep& sweep);
/// A line a phase, then the times of the algorithms that are not played.
[[nodiscard]] std::string render_phases_text(const network::CollectiveResult& result);
/// The page of a sweep: title, command, inputs, notes and the table of sizes.
[[nodiscard]] std::string render_sweep_markdown(const CollectiveSweep& sweep);
/// A line for every size and algorithm, in SI units; `chosen` marks what the other files show.
[[nodiscard]] std::string render_sweep_csv(const CollectiveSweep& sweep);
/// Time and bus bandwidth against size, all logarithmic: what is chosen, named where it changes, and every algorithm
/// over the number of levels that is fastest at each size. Sizes without bytes cannot be drawn.
[[nodiscard]] std::string sweep_chart(const CollectiveSweep& sweep, double width = kPagePicture);

/// "all-reduce over 98,304 ranks on 8,192 nodes of aurora: up to 12.3 GB/s bus bandwidth (1 GiB in 58.0 ms); …": and
/// how the stack's rules do.
[[nodiscard]] std::string sweep_headline(const CollectiveSweep& sweep);
/// The page that is read in a browser; it loads nothing.
[[nodiscard]] std::string render_sweep_html(const CollectiveSweep& sweep);

/// Writes DIR/index.html, sweep.csv, sweep.md and sweep.svg (creating DIR). Throws InputError when it cannot.
void write_collective_sweep(const CollectiveSweep& sweep, const std::string& directory);

}  // namespace auspex::report
