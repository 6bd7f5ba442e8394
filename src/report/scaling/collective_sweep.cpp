/// @file The tables of a sweep.
#include "report/scaling/collective_sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"
#include "base/units.hpp"
#include "report/parts/markdown_parts.hpp"
#include "report/parts/page.hpp"
#include "report/parts/report_files.hpp"
#include "report/parts/text.hpp"

namespace auspex::report {
namespace {

std::string rate_text(double bytes_per_s) { return significant(bytes_per_s / 1e9) + " GB/s"; }

}  // namespace

std::string job_text(const CollectiveSweep& sweep) {
    std::string groups;
    if (sweep.groups > 1) {
        const std::string many = thousands(sweep.groups) + " groups";
        groups = sweep.alone ? " in the first of " + many + " alone," : " in " + many + " at once, each";
    }
    return sweep.kind + groups + " over " + counted(sweep.group_size, "rank") +
           (sweep.stride > 1 ? " " + thousands(sweep.stride) + " apart" : "") +
           (sweep.zipf > 0 ? ", shares of zipf " + significant(sweep.zipf) : "");
}

std::string system_text(const CollectiveSweep& sweep) {
    const std::string transport = sweep.measured_on == "none" ? "no measured transport"
                                  : sweep.measured_on == sweep.machine
                                      ? "transport " + sweep.transport + " of " + sweep.transport_date
                                      : "transport " + sweep.transport + ", measured on " + sweep.measured_on;
    return counted(sweep.nodes, "node") + " of " + sweep.machine +
           (sweep.placement == "contiguous" ? "" : ", placement " + sweep.placement) + ", " + sweep.stack + " (" +
           transport + ")";
}

std::string title_of(const CollectiveSweep& sweep) { return job_text(sweep) + ", " + system_text(sweep); }

std::vector<std::string> slow_rule_notes(const CollectiveSweep& sweep, const std::string& stack_file) {
    std::vector<std::string> notes;
    const auto slowness = [](const network::CollectiveResult& point) {
        return point.time_s / point.alternatives.front().time_s;
    };
    for (std::size_t first = 0; sweep.by_rule && first < sweep.points.size(); ++first) {
        double most = slowness(sweep.points[first]);
        if (most <= kMuchSlower) {
            continue;
        }
        std::size_t last = first;
        while (last + 1 < sweep.points.size() && sweep.points[last + 1].choice == sweep.points[first].choice &&
               slowness(sweep.points[last + 1]) > kMuchSlower) {
            most = std::max(most, slowness(sweep.points[++last]));
        }
        const std::string from = size_text(sweep.points[first].bytes), to = size_text(sweep.points[last].bytes);
        notes.push_back((first == last ? "for " + from : "from " + from + " to " + to) + " the stack's rule (" +
                        choice_text(sweep.points[first].choice) + ") takes " + (first == last ? "" : "up to ") +
                        significant(most, 2) + " times as long as the fastest; the rules, and where they come from, " +
                        "stand in " + stack_file);
        first = last;
    }
    return notes;
}

std::string size_text(double bytes) {
    constexpr std::array kUnits{" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    double value = bytes;
    while (unit + 1 < kUnits.size() && value >= 1024 && std::fmod(value, 1024) == 0) {
        value /= 1024;
        ++unit;
    }
    return value < 1024 && value == std::floor(value) ? fixed(value, 0) + kUnits[unit]
                                                      : format_quantity(bytes, Dimension::kBytes);
}

std::string choice_text(network::AlgorithmChoice choice) {
    return std::string(to_string(choice.algorithm)) + ", " + counted(choice.levels, "level");
}

std::string render_sweep_markdown(const CollectiveSweep& sweep) {
    std::vector<MarkdownRow> rows{{"algorithm", "bound by", "size", "time", "algorithm bandwidth", "bus bandwidth",
                                   "fastest of all", "its time"}};
    for (const network::CollectiveResult& point : sweep.points) {
        const network::CollectiveTime& fastest = point.alternatives.front();
        rows.push_back({choice_text(point.choice), point.bottleneck, size_text(point.bytes), duration(point.time_s),
                        rate_text(point.bytes_per_s), rate_text(point.bus_bytes_per_s), choice_text(fastest.choice),
                        duration(fastest.time_s)});
    }
    std::string out = "# " + markdown_escape(title_of(sweep)) + "\n\n" + markdown_table(rows, 2) +
                      "Bus bandwidth is that of nccl-tests: bytes over time, times 2 (n - 1)/n for an all-reduce, "
                      "(n - 1)/n for reduce-scatter, all-gather and all-to-all, 1 for a broadcast.\n\n![Time and bus "
                      "bandwidth against size](sweep.svg)\n\n";
    if (!sweep.notes.empty()) {
        out += "Notes:\n\n" + markdown_list(sweep.notes);
    }
    if (!sweep.overrides.empty()) {
        out += "Changed on the command line:\n\n" + markdown_list(sweep.overrides);
    }
    return out + "Made by:\n\n" + markdown_code(sweep.command) + markdown_inputs(sweep.inputs);
}

std::string render_sweep_csv(const CollectiveSweep& sweep) {
    std::string out =
        "bytes,algorithm,levels,chosen,time_s,algorithm_bandwidth_bytes_per_s,bus_bandwidth_bytes_per_s\n";
    for (const network::CollectiveResult& point : sweep.points) {
        const double factor = point.bytes_per_s > 0 ? point.bus_bytes_per_s / point.bytes_per_s : 0;
        for (const network::CollectiveTime& time : point.alternatives) {
            const double rate = point.bytes / time.time_s;
            out += json_number(point.bytes) + "," + to_string(time.choice.algorithm) + "," +
                   std::to_string(time.choice.levels) + "," + (time.choice == point.choice ? "true" : "false") + "," +
                   json_number(time.time_s) + "," + json_number(rate) + "," + json_number(rate * factor) + "\n";
        }
    }
    return out;
}

void write_collective_sweep(const CollectiveSweep& sweep, const std::string& directory) {
    const std::filesystem::path folder = make_report_folder(directory, "index.html, sweep.csv, sweep.md and sweep.svg");
    write_report_file(folder / "index.html", render_sweep_html(sweep));
    write_report_file(folder / "sweep.csv", render_sweep_csv(sweep));
    write_report_file(folder / "sweep.md", render_sweep_markdown(sweep));
    write_report_file(folder / "sweep.svg",
                      standalone_svg(sweep_chart(sweep), title_of(sweep), source_line(sweep.command, sweep.inputs)));
}

}  // namespace auspex::report
