/// @file Rows of numbers, and the words around them.
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>

#include "play.hpp"

namespace auspex::simgrid_check {
namespace {

constexpr const char* kCommand = "build/release/tests/simgrid/simgrid_check --out reports/simgrid-check";
constexpr double kMegabyte = 1e6;
/// Cases that differ by more have their note printed.
constexpr double kWorthANote = 0.01;

template <class... Values>
std::string formatted(const char* format, Values... values) {
    std::string text(256, '\0');
    const int length = std::snprintf(text.data(), text.size(), format, values...);
    text.resize(std::min(text.size() - 1, static_cast<std::size_t>(length)));
    return text;
}

std::string milliseconds(double seconds) { return formatted("%.3f", 1e3 * seconds); }
std::string megabytes(double bytes) { return formatted("%.1f", bytes / kMegabyte); }
/// No sign on what rounds to zero.
std::string signed_percent(double fraction) {
    const double percent = std::round(1e4 * fraction) / 1e2;
    return percent == 0 ? "0.00 %" : formatted("%+.2f %%", percent);
}

std::string row_name(const Comparison& comparison, std::size_t collective) {
    const bool has_several = comparison.of.collectives.size() > 1;
    return comparison.of.name + (has_several ? std::string(1, static_cast<char>('a' + collective)) : std::string());
}

/// Calls each(comparison, collective) for the rows of a table.
template <class Each>
void for_each_row(const std::vector<Comparison>& comparisons, Each&& each) {
    for (const Comparison& comparison : comparisons) {
        for (std::size_t c = 0; c < comparison.of.collectives.size(); ++c) {
            each(comparison, c);
        }
    }
}

constexpr const char* kIntroduction = R"(# The network simulation beside SimGrid's

The same links with the same capacities, the same routes and the same messages, played by Auspex's network and by
SimGrid, an independent simulator of distributed systems (H. Casanova, A. Giersch, A. Legrand, M. Quinson, F. Suter,
"Versatile, scalable, and accurate simulation of distributed applications and platforms", Journal of Parallel and
Distributed Computing 74 (10), 2014; <https://simgrid.org>).

)";

constexpr const char* kMethod = R"(
- **Platform.** Every rank is a host; links, capacities and routes are those of Auspex's fabric, given to SimGrid as
  explicit routes: minimal routing on dragonflies, pooled or pinned uplinks on trees and rails. So this checks how
  flows share links and how rounds follow each other, not the choice of routes. Software costs are zero on both sides.
- **Auspex** plays a collective as phases that end with their slowest flow; all sibling groups of a row run at once.
- **SimGrid** plays the messages: an actor for each rank posts the messages of a round and goes on when its own have
  arrived, with no global barrier. A pairwise exchange is played round by round at any size; a double binary tree
  hands on chunks of 2 MiB.
- **In step**: SimGrid again, with a barrier after each round of a collective. Where this agrees and the free run does
  not, the difference is that real ranks drift apart while a phase waits for its slowest flow. (Trees have no common
  rounds: there both columns are the same run.)
- SimGrid's CM02 model without its corrections for TCP (latency-factor 1, bandwidth-factor 1, TCP-gamma 0, weight-S 0,
  crosstraffic 0). It shares a link in inverse proportion to the flows' latencies, as TCP does, where Auspex shares it
  equally; so latencies are not in its links: both ends of a message wait for the latency of its route before they
  meet.
- Rows *a* and *b* of a case begin together and share links; each time is that of the row's last rank.
)";

void print_times(const std::vector<Comparison>& comparisons, std::ostream& out) {
    out << "| case | network | ranks | played | Auspex ms | SimGrid ms | difference | in step ms | difference |\n"
           "|---|---|---:|---|---:|---:|---:|---:|---:|\n";
    for_each_row(comparisons, [&](const Comparison& row, std::size_t c) {
        out << "| " << row_name(row, c) << " | " << row.of.machine.name << ", " << row.of.network << " | "
            << row.of.layout.tiles << " | " << row.of.collectives[c].what << " | " << milliseconds(row.auspex.values[c])
            << " | " << milliseconds(row.simgrid.values[c]) << " | " << signed_percent(row.difference(c)) << " | "
            << milliseconds(row.simgrid_in_step.values[c]) << " | " << signed_percent(row.difference_in_step(c))
            << " |\n";
    });
}

void print_costs(const std::vector<Comparison>& comparisons, std::ostream& out) {
    out << "| case | ranks | Auspex run s | SimGrid run s | Auspex peak MB | SimGrid peak MB |\n"
           "|---|---:|---:|---:|---:|---:|\n";
    for (const Comparison& row : comparisons) {
        out << "| " << row.of.name << " | " << row.of.layout.tiles << " | " << formatted("%.4f", row.auspex.wall_s)
            << " | " << formatted("%.2f", row.simgrid.wall_s) << " | " << megabytes(row.auspex.peak_bytes) << " | "
            << megabytes(row.simgrid.peak_bytes) << " |\n";
    }
}

void print_verdict(const std::vector<Comparison>& comparisons, std::ostream& out) {
    std::size_t rows = 0, within = 0, within_in_step = 0;
    for_each_row(comparisons, [&](const Comparison& row, std::size_t c) {
        ++rows;
        within += std::abs(row.difference(c)) <= kTolerance ? 1U : 0U;
        within_in_step += std::abs(row.difference_in_step(c)) <= kTolerance ? 1U : 0U;
    });
    out << within << " of " << rows << " rows are within 5 % of SimGrid; " << within_in_step
        << " with its ranks held in step.\n\n";
}

void print_notes(const std::vector<Comparison>& comparisons, std::ostream& out) {
    for (const Comparison& row : comparisons) {
        if (!row.is_within(kWorthANote)) {
            out << "- Case " << row.of.name << ": "
                << (row.of.note.empty() ? std::string("no reason found yet.") : row.of.note) << '\n';
        }
    }
}

}  // namespace

void print_text(const Comparison& row, std::ostream& out) {
    for (std::size_t c = 0; c < row.of.collectives.size(); ++c) {
        out << formatted("%-4s %4d ranks  Auspex %9s ms  SimGrid %9s ms  %9s  in step %9s  run %.4f s, %.2f s   ",
                         row_name(row, c).c_str(), row.of.layout.tiles, milliseconds(row.auspex.values[c]).c_str(),
                         milliseconds(row.simgrid.values[c]).c_str(), signed_percent(row.difference(c)).c_str(),
                         signed_percent(row.difference_in_step(c)).c_str(), row.auspex.wall_s, row.simgrid.wall_s)
            << row.of.machine.name << ", " << row.of.network << ": " << row.of.collectives[c].what << '\n';
    }
    out.flush();
}

void print_csv(const std::vector<Comparison>& comparisons, std::ostream& out) {
    out << "case,machine,network,ranks,played,auspex_s,simgrid_s,difference,simgrid_in_step_s,difference_in_step,"
           "auspex_run_s,simgrid_run_s,auspex_peak_bytes,simgrid_peak_bytes\n";
    for_each_row(comparisons, [&](const Comparison& row, std::size_t c) {
        out << row_name(row, c) << ',' << row.of.machine.name << ",\"" << row.of.network << "\"," << row.of.layout.tiles
            << ",\"" << row.of.collectives[c].what << "\","
            << formatted("%.9g,%.9g,%.6f,%.9g,%.6f,%.6f,%.3f,%.0f,%.0f", row.auspex.values[c], row.simgrid.values[c],
                         row.difference(c), row.simgrid_in_step.values[c], row.difference_in_step(c), row.auspex.wall_s,
                         row.simgrid.wall_s, row.auspex.peak_bytes, row.simgrid.peak_bytes)
            << '\n';
    });
}

void print_markdown(const std::vector<Comparison>& comparisons, std::ostream& out) {
    out << kIntroduction;
    print_verdict(comparisons, out);
    print_times(comparisons, out);
    out << "\nCases that differ by more than 1 %, and why:\n\n";
    print_notes(comparisons, out);
    out << "\n## How it is done\n"
        << kMethod << "\n## What it costs\n\n"
        << "Measured in one run on a shared two-core machine: wall time of one play, from the description of the\n"
           "machine to the result, and peak resident memory of its process, the program itself included.\n\n";
    print_costs(comparisons, out);
    out << "\n## Made by\n\n    " << kCommand << "\n\nAuspex " << AUSPEX_VERSION << ", SimGrid " << simgrid_version()
        << ". `cases.csv` has the same numbers in SI units.\n";
}

}  // namespace auspex::simgrid_check
