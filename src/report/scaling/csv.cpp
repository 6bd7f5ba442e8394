/// @file One row a point in SI units, for other programs.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/scaling/scaling_report.hpp"
#include "report/scaling/story.hpp"

namespace auspex::report {

namespace {

using CsvCell = std::pair<std::string, std::string>;  // column name, value

/// Picoseconds as seconds with twelve decimals: exact, so that the losses of a line still sum to its step.
std::string exact_seconds(Picoseconds time) {
    constexpr Picoseconds kPerSecond = 1'000'000'000'000;
    std::string decimals = std::to_string((time < 0 ? -time : time) % kPerSecond);
    decimals.insert(0, 12 - decimals.size(), '0');
    return (time < 0 ? "-" : "") + std::to_string((time < 0 ? -time : time) / kPerSecond) + "." + decimals;
}

void append_grid(std::vector<CsvCell>& cells, const predict::Prediction& p) {
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, int>>{{"tiles", p.tiles},
                                                            {"nodes", p.nodes},
                                                            {"dp", p.dp},
                                                            {"ep", p.ep},
                                                            {"etp", p.etp},
                                                            {"tp", p.tp},
                                                            {"pp", p.pp},
                                                            {"cp", p.cp},
                                                            {"data_parallel", p.data_parallel},
                                                            {"global_batch_sequences", p.global_batch}}) {
        cells.emplace_back(name, std::to_string(value));
    }
}

void append_numbers(std::vector<CsvCell>& cells, std::initializer_list<std::pair<const char*, double>> numbers) {
    for (const auto& [name, value] : numbers) {
        cells.emplace_back(name, json_number(value));
    }
}

void append_memory(std::vector<CsvCell>& cells, const predict::MemoryReport& memory) {
    cells.emplace_back("memory_peak_bytes", std::to_string(std::llround(memory.peak_bytes)));
    cells.emplace_back("memory_capacity_bytes", std::to_string(std::llround(memory.capacity_bytes)));
    cells.emplace_back("memory_fits", memory.fits ? "true" : "false");
    cells.emplace_back("heaviest_stage", std::to_string(memory.heaviest_stage));
}

std::vector<CsvCell> row_of(const ScalePoint& point) {
    const predict::Prediction& p = point.prediction;
    std::vector<CsvCell> cells;
    append_grid(cells, p);
    cells.emplace_back("tokens_per_step", json_number(p.tokens_per_step));
    cells.emplace_back("step_time_s", exact_seconds(p.step));
    append_numbers(cells, {{"step_time_low_s", p.step_time_interval_s.low},
                           {"step_time_high_s", p.step_time_interval_s.high},
                           {"tokens_per_s", p.tokens_per_s},
                           {"tokens_per_s_per_tile", p.tokens_per_s_per_tile},
                           {"model_flop_per_s_per_tile", p.tflops_per_tile * 1e12},
                           {"mfu", p.mfu},
                           {"hfu", p.hfu},
                           {"peak_flop_per_s", p.peak_flop_per_s},
                           {"efficiency", point.efficiency},
                           {"efficiency_without_detour_delay", point.efficiency_without_detour_delay},
                           {"efficiency_without_background", point.efficiency_without_background},
                           {"efficiency_without_both", point.efficiency_without_both},
                           {"efficiency_without_stragglers", point.efficiency_without_stragglers}});
    for (std::size_t loss = 0; loss < schedule::kLossCount; ++loss) {
        cells.emplace_back(std::string("loss_") + to_string(static_cast<schedule::Loss>(loss)) + "_s",
                           exact_seconds(p.losses[loss]));
    }
    append_numbers(cells, {{"forward_backward_s", p.forward_backward_s}, {"optimizer_s", p.optimizer_s}});
    append_memory(cells, p.memory);
    append_numbers(cells, {{"step_node_hours", p.step_node_hours}});
    if (p.run_tokens > 0) {
        append_numbers(cells,
                       {{"run_tokens", p.run_tokens}, {"node_hours", p.node_hours}, {"run_time_s", p.run_time_s}});
    }
    cells.emplace_back("executor_proven", p.executor_proven ? "true" : "false");
    return cells;
}

template <typename Member>
void append_line(std::string& out, const std::vector<CsvCell>& cells, Member member) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
        out += column == 0 ? "" : ",";
        out += cells[column].*member;
    }
    out += '\n';
}

}  // namespace

std::string render_csv(const ScalingReport& report) {
    require_points(report);
    std::string out;
    append_line(out, row_of(report.points.front()), &CsvCell::first);
    for (const ScalePoint& point : report.points) {
        append_line(out, row_of(point), &CsvCell::second);
    }
    return out;
}

}  // namespace auspex::report
